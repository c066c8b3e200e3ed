"""The five flows that the homepage's design wants to see, as they are here."""

from __future__ import annotations

from tests.support.reference.sequence import Flow, Frame, Note, Says

_TRACING = "src/postmill/telemetry/tracing.py"
_CALLER, _SQL, _WORKER, _HANDLER = "application", "PostgreSQL", "worker", "handler"

ENQUEUE = Flow(
    "A job is enqueued",
    (_CALLER, _SQL, _WORKER),
    (
        Says(_CALLER, _SQL, "begin; its own rows", "examples/homepage/admin/jobs.py"),
        Says(_CALLER, _SQL, "enqueue RSS_FEED_REFRESH, payload", "src/postmill/bind/psycopg.py"),
        Says(
            _SQL,
            _SQL,
            "type known and active? payload fits? insert job and ticket",
            "src/postmill/sql/jobs/enqueue_one.sql",
        ),
        Says(_SQL, _CALLER, "id of the job", answer=True),
        Note((_CALLER, _SQL), "until the commit nobody sees the job; a rollback leaves nothing"),
        Says(_CALLER, _SQL, "commit"),
        Frame(
            "if a worker of the queue sleeps",
            (
                Says(
                    _SQL, _WORKER, "NOTIFY: lane, priority, queue; no data", "src/postmill/engine/listener.py"
                ),
            ),
        ),
        Frame(
            "else, or where the notification is lost",
            (
                Says(
                    _WORKER,
                    _SQL,
                    "looks by itself, every 10 s for DEFAULT",
                    "src/postmill/engine/doorbell.py",
                ),
            ),
        ),
    ),
)

CLAIM = Flow(
    "Workers poll and lock",
    ("worker A", _SQL, "worker B"),
    (
        Says("worker A", _SQL, "opens a session with a lease", "src/postmill/sql/leases/open_session.sql"),
        Says("worker A", _SQL, "which lanes have work?", "src/postmill/sql/claim/discover_lanes.sql"),
        Says(
            "worker A",
            _SQL,
            "claim as many as slots are free, in turns of the lanes, by priority",
            "src/postmill/sql/claim/claim_jobs.sql",
        ),
        Says(
            _SQL,
            _SQL,
            "FOR UPDATE SKIP LOCKED; tickets move from ready to running, with session and number of the claim",
        ),
        Says("worker B", _SQL, "claim, at the same moment", "src/postmill/sql/claim/claim_jobs.sql"),
        Says(_SQL, "worker B", "other jobs: locked tickets are passed over", answer=True),
        Says(_SQL, "worker A", "its jobs with payload and envelope", answer=True),
        Says("worker A", _SQL, "renews the lease, every third of it", "src/postmill/sql/leases/renew.sql"),
        Says(
            "worker A",
            _SQL,
            "complete: only what this session and claim still hold",
            "src/postmill/sql/report/complete.sql",
        ),
        Frame(
            "if worker A dies: its lease ends",
            (
                Says(
                    "worker B",
                    _SQL,
                    "rescue: tickets of dead sessions back to scheduled",
                    "src/postmill/sql/upkeep/rescue.sql",
                ),
                Says("worker A", _SQL, "a late report changes nothing"),
            ),
        ),
    ),
)

RETRY = Flow(
    "An attempt fails and is tried again",
    (_HANDLER, _WORKER, _SQL, "escalation"),
    (
        Says(_HANDLER, _WORKER, "raises", "examples/homepage/jobs/"),
        Says(
            _WORKER,
            _WORKER,
            "retry? delay = base-delay · 2^(attempt − 1) · jitter 0.75 to 1.25",
            "src/postmill/domain/retry.py",
        ),
        Frame(
            "attempts are left, and the error may pass",
            (
                Says(
                    _WORKER,
                    _SQL,
                    "attempt and error kept; ticket to scheduled, due then",
                    "src/postmill/sql/report/finish.sql",
                ),
                Note((_WORKER, _SQL), "30, 60, 120, 240 s; Retry-After of a server wins over them"),
                Says(
                    _WORKER,
                    _SQL,
                    "when due: ticket to ready, and whoever sleeps is rung",
                    "src/postmill/sql/upkeep/promote.sql",
                ),
            ),
        ),
        Frame(
            "the fifth attempt, or an error that stays",
            (
                Says(_WORKER, _SQL, "a dead letter, with its reason", "src/postmill/sql/report/bury.sql"),
                Says(_SQL, "escalation", "an incident; people are told", "src/postmill/alerts/sender.py"),
                Note(
                    (_SQL, "escalation"), "PagerDuty, Slack or the daily digest, as the queue's policy says"
                ),
            ),
        ),
    ),
)

SCREENSHOTS = Flow(
    "P12: three screenshots at once",
    ("worker", "semaphore (3)", "Chromium", _SQL),
    (
        Says("worker", _SQL, "claim from SCREENSHOT, 3 slots", "src/postmill/engine/claimer.py"),
        Says(_SQL, "worker", "SCREENSHOT_CAPTURE jobs", answer=True),
        Says("worker", "semaphore (3)", "is a permit free?", "src/postmill/engine/executor.py"),
        Frame(
            "yes",
            (
                Says("semaphore (3)", "worker", "a permit, before the handler begins", answer=True),
                Says("worker", "Chromium", "opens the page, takes the picture"),
                Says("Chromium", "worker", "the picture", answer=True),
                Says("worker", _SQL, "complete", "src/postmill/sql/report/complete.sql"),
                Says("worker", "semaphore (3)", "gives the permit back, however the attempt ended"),
            ),
        ),
        Frame(
            "no",
            (
                Says(
                    "worker",
                    "worker",
                    "the job is parked, and starts with the next free permit",
                    "src/postmill/engine/executor.py",
                ),
                Says(
                    "worker",
                    _SQL,
                    "parked for too long: put back for others, due in 1 to 5 s",
                    "src/postmill/sql/report/put_back.sql",
                ),
            ),
        ),
        Note(
            ("worker", "Chromium"),
            "screenshot_concurrency_utilization on /metrics tells how many permits are in use",
        ),
    ),
)

TRACE = Flow(
    "A job is traced and measured",
    (_CALLER, _SQL, _WORKER, _HANDLER, "collector"),
    (
        Says(
            _CALLER, _SQL, "enqueue, with the request's traceparent", "src/postmill/sql/jobs/enqueue_one.sql"
        ),
        Says(_SQL, _WORKER, "claimed, the traceparent with it", answer=True),
        Says(
            _WORKER,
            _WORKER,
            "a span in the request's trace, with job.id, .type, .queue, .attempt, .handler",
            _TRACING,
        ),
        Says(_WORKER, _HANDLER, "calls; the span is the current one"),
        Says(_HANDLER, _HANDLER, "span events, as fetch.started", "examples/homepage/rss/refresh.py"),
        Says(_HANDLER, _WORKER, "returns, raises, or is interrupted", answer=True),
        Says(
            _WORKER,
            _WORKER,
            "job.completed; job.failed, then job.retry_scheduled or job.exhausted; job.interrupted",
            _TRACING,
        ),
        Says(_WORKER, "collector", "the span, by OpenTelemetry"),
        Says(
            "collector",
            _WORKER,
            "scrapes /metrics: job_execution_duration_seconds, job_retry_total, …",
            "src/postmill/telemetry/families_seeds.py",
        ),
    ),
)

FLOWS = {"enqueue": ENQUEUE, "claim": CLAIM, "retry": RETRY, "screenshots": SCREENSHOTS, "trace": TRACE}
"""By the name of their drawing, docs/assets/flow-NAME.svg."""
