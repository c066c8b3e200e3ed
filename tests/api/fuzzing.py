"""Fuzzes every operation of the document over a socket: schemathesis, aimed at things that are there."""

from __future__ import annotations

import asyncio
import re
import threading
from base64 import b64encode
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import httpx
import schemathesis
import uvicorn
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from postmill.api import create_app
from postmill.bind import drive
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.operate.keys import create_key
from tests.access.doors import PARAMETERS, SHARED
from tests.access.world import build
from tests.support.databases import Database
from tests.support.ports import unused_port
from tests.support.reference.http import document

# What the document's examples name; and requests revoke keys, among them those that they come with: these hold on.
SETTING = """
select * from postmill.register_job_types('[{"key": "recompute-trained-tags"}, {"key": "sync-dropbox"},
    {"key": "make-thumbnail", "kind": "http", "queue": "media"}, {"key": "other", "queue": "q:mail"}]');
create function keep() returns trigger language plpgsql as $$ begin new.revoked_at := null; return new; end $$;
create trigger keep before update on postmill.api_key for each row when (old.name = 'fuzz') execute function keep();
delete from postmill.job_kept; -- bodies of jobs that stand nowhere
delete from postmill.artifact; -- they have no files
"""

JOBS = ("queued", "scheduled", "running", "dead", "failed", "succeeded", "retried")


class Served:
    """The application on a port, in a thread with a loop of its own, keys for it, and things to ask for."""

    def __init__(self, database: Database, files: Path) -> None:
        self.port = unused_port()
        with database.connect() as conn:
            tenants = build(conn, "ada", "bob", "cleo")
            conn.execute(SETTING)
            self.key = drive(conn, create_key("fuzz", Role.SUPER_ADMIN)).key
            self.worker_key = drive(conn, create_key("fuzz", Role.WORKER)).key
        self.there = {
            name: [str(one.ids[kind]) for one in tenants]
            for name, kind in PARAMETERS.items()
            if kind in tenants[0].ids and name not in SHARED
        }
        self.there["job_id"] = [str(one.ids[name]) for one in tenants for name in JOBS]
        made = {
            "database_url": database.dsn,
            "server": {"connections": 4, "rate_per_key": 1e6},
            "artifacts": {"url": files.as_uri()},
            "encryption": {"keys": ["k1:" + b64encode(b"k" * 32).decode()]},
        }
        config = uvicorn.Config(
            create_app(Settings.model_validate(made)), port=self.port, log_config=None, access_log=False
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=lambda: asyncio.run(self.server.serve()))

    def __enter__(self) -> Served:
        self.thread.start()
        with httpx.Client() as client:
            for _ in range(200):
                try:
                    client.get(f"http://127.0.0.1:{self.port}/healthz", timeout=1)
                    return self
                except httpx.TransportError:
                    threading.Event().wait(0.05)
        raise AssertionError("the server did not come up")

    def __exit__(self, *error: object) -> None:
        self.server.should_exit = True
        self.thread.join()

    def fuzz(
        self, *phases: str, mode: str = "all", examples: int = 1, seed: int | None = None, every: int = 1
    ) -> Fuzzed:
        """Runs these phases over the whole document.

        Args:
            mode: with data that fits (`positive`), that does not (`negative`), or both.
            examples: how many for each operation, where a phase has no number of its own.
            seed: for a run that is always the same.
            every: of so many requests only one is made.
        """
        found = Fuzzed()
        for key, which in (
            (self.key, {"exclude-tag": "worker"}),
            (self.worker_key, {"include-tag": "worker"}),
        ):
            config = {
                "base-url": f"http://127.0.0.1:{self.port}",
                "auth": {"openapi": {"bearer": {"bearer": key}}},
                "operations": [
                    {"enabled": False, **{OTHER[name]: tag for name, tag in which.items()}},
                    {"include-path": OTHERWISE, "checks": {"unsupported_method": {"enabled": False}}},
                ],
                "phases": {name: {"enabled": name in phases} for name in PHASES},
                "generation": {"mode": mode, "max-examples": examples, "deterministic": seed is not None},
                "checks": CHECKS,
                "continue-on-failure": True,
                "output": {"sanitization": {"enabled": False}},
                "request-timeout": 60,
                "suppress-health-check": ["all"],
                **({} if seed is None else {"seed": seed}),
            }
            schema = schemathesis.openapi.from_dict(document(), config=SchemathesisConfig.from_dict(config))
            numbers = count()
            schema.hook("filter_case")(lambda context, case: next(numbers) % every == 0)  # noqa: B023
            schema.hook("map_case")(lambda context, case: self._aimed(case))
            for event in from_schema(schema).execute():
                found.add(event)
        return found

    def _aimed(self, case: Any) -> Any:
        """Every second id that somebody made up becomes one of something that is there."""
        for name, value in (case.path_parameters or {}).items():
            number = crc32(
                f"{case.operation.label} {value} {case.query} {case.body}".encode(errors="replace")
            )
            if name in self.there and number % 2 and re.fullmatch("[0-9a-f-]{36}", str(value)):
                case.path_parameters[name] = self.there[name][number // 2 % len(self.there[name])]
        return case


PHASES = ("examples", "coverage", "fuzzing", "stateful")
OTHERWISE = [
    *("/healthz", "/readyz", "/login", "/api/v1/session", "/api/v1/webhooks/{webhook_id}"),
    *("/api/v1/queues/{queue}/pause", "/api/v1/queues/{queue}/resume"),
]
"""Where another method is no 405: it needs credentials, or asks for a queue of such a name."""
OTHER = {"exclude-tag": "include-tag", "include-tag": "exclude-tag"}

# A cursor, a schedule or a job type that fits the document may still be none: that is refused with 422, too.
CHECKS: dict[str, Any] = {
    "positive_data_acceptance": {"expected-statuses": ["2xx", "3xx", "401", "403", "404", "409", "422"]},
    "negative_data_rejection": {
        "expected-statuses": ["400", "401", "403", "404", "405", "409", "413", "422"]
    },
}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """The same key for different requests would be refused, and so nothing else be seen of them."""
    headers = case.headers or {}
    if re.fullmatch("[ -~]{1,255}", str(headers.get("Idempotency-Key", ""))):
        headers["Idempotency-Key"] = str(uuid4())


SHAPES = ("invalid-request", "invalid-json", "unknown-parameter")


@schemathesis.check
def what_fits_is_understood(ctx: Any, response: Any, case: Any) -> None:
    """Of a request that fits the document no part is refused for its shape."""
    if (
        case.meta is None
        or not case.meta.generation.mode.is_positive
        or response.status_code not in (400, 422)
    ):
        return
    refused = response.json()
    kind = refused["type"].rpartition(":")[2]
    # That moments end somewhere is said in words; a JSON Schema has none for it.
    assert kind not in SHAPES or "must be from the year 1970" in refused["detail"], response.text


class Fuzzed:
    """What came out: findings, each once, and how often each operation answered with which status."""

    def __init__(self) -> None:
        self.findings: dict[str, str] = {}
        self.statuses: Counter[tuple[str, int]] = Counter()

    def add(self, event: Any) -> None:
        if isinstance(event, events.NonFatalError | events.FatalError):
            self.findings[repr(event)[:200]] = str(getattr(event, "value", event))
        if not isinstance(event, events.ScenarioFinished):
            return
        recorder = event.recorder
        for id, node in recorder.cases.items():
            seen = recorder.interactions.get(id)
            if seen is not None and seen.response is not None:
                self.statuses[node.value.operation.label, seen.response.status_code] += 1
        for id, nodes in recorder.checks.items():
            for node in nodes:
                if node.failure_info is not None:
                    failure = node.failure_info.failure
                    label = f"{event.phase.value}: {failure.operation}: {node.name}: {failure.title}"
                    seen = recorder.interactions[id].response
                    said = "" if seen is None else f"{seen.status_code} {seen.text[:1000]}"
                    self.findings.setdefault(
                        label, f"{failure.message}\n{node.failure_info.code_sample}\n{said}"
                    )

    def check(self, *, least: int) -> None:
        """No findings, in so many requests at least."""
        assert not self.findings, "\n\n".join(f"{label}\n{text}" for label, text in self.findings.items())
        assert sum(self.statuses.values()) >= least
