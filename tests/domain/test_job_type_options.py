from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from postmill.domain import curves
from postmill.domain.classify import Classifier
from postmill.domain.context import HandlerContext
from postmill.domain.errors import DefinitionError, PayloadRefused
from postmill.domain.idempotency import Idempotency, Mode
from postmill.domain.job_type import job
from postmill.domain.limit import Rate
from postmill.domain.retry import Constant, Exponential

TENANT = UUID(int=7)


class Context(HandlerContext):
    """Stands for the engine's."""


class Point(BaseModel):
    x: float
    at: datetime | None = None


@job
async def send_email(to: str) -> None:
    """Sends one e-mail."""


def test_every_option() -> None:
    classifier = Classifier().permanent(410)

    @job(
        "report",
        queue="q:exports",
        retry=Constant(5),
        max_attempts=2,
        timeout=timedelta(minutes=1),
        idempotency=Mode.QUEUED,
        isolation="process",
        keep="failures",
        on_exhausted="fail",
        aliases=["old-report", "old-report"],
        worker_limit=3,
        rate=Rate(10, 60),
        lane="payload.customer",
        priority=7,
        classifier=classifier,
        log_fields=["customer"],
        category="exports",
        secret_keys=["customer"],
        encrypted=True,
        replay_class="ask",
        budget="reports",
        action="look at the export",
        escalation_fields=["customer"],
    )
    def report(customer: str) -> None: ...

    assert report.classifier is classifier
    assert report.definition() == {
        "name": "report", "aliases": ["old-report"], "description": "", "queue": "q:exports",
        "arg_schema": report.json_schema(), "timeout_seconds": 60.0, "max_attempts": 2,
        "retry": {"kind": "constant", "delay": 5.0, "jitter": [1.0, 1.0]},
        "idempotency_mode": "queued", "idempotency_window_seconds": None, "idempotency_content": None, "keep": "failures",
        "on_exhausted": "fail", "isolation": "process", "worker_limit": 3,
        "rate": {"count": 10, "per": 60.0, "burst": 10}, "lane": "payload.customer", "priority": 7,
        "log_fields": ["customer"], "category": "exports", "strict_envelope": False, "secrets": "redact",
        "secret_keys": ["customer"], "encrypted": True, "replay_class": "ask", "budget": "reports",
        "action": "look at the export", "escalation_fields": ["customer"],
        "limits": [{"per": [], "max_running": None, "rate": {"count": 10, "seconds": 60.0, "burst": 10}}],
    }  # fmt: skip


def test_a_category_brings_what_seed_5_says_of_it() -> None:
    """Unless the type says it itself."""

    @job(category="planning")
    def plan() -> None: ...

    @job(category="maintenance", max_attempts=1, idempotency=None)
    def sweep() -> None: ...

    assert (plan.max_attempts, plan.retry) == (3, curves.PLANNER_PLANNING.policy)
    assert plan.idempotency == Idempotency(Mode.TTL, timedelta(days=30))
    assert (sweep.max_attempts, sweep.idempotency) == (1, None)


def test_a_strict_envelope_brings_keys_and_refuses_secrets() -> None:
    @job(strict_envelope=True)
    def notify(to: str, token: str | None = None) -> None: ...

    assert notify.idempotency == Idempotency()
    assert notify.new("ann").key is not None
    with pytest.raises(PayloadRefused, match=r"args\.token: looks like a secret"):
        notify.new("ann", "t0ken")


def test_a_seeds_curve_brings_its_attempts() -> None:
    @job(retry=curves.PLANNER_NOTIFICATIONS)
    def notify() -> None: ...

    @job(retry=curves.PLANNER_NOTIFICATIONS, max_attempts=2)
    def notify_twice() -> None: ...

    assert (notify.max_attempts, notify.retry) == (10, curves.PLANNER_NOTIFICATIONS.policy)
    assert notify_twice.max_attempts == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"timeout": 0}, "timeout: it must be more than 0"),
        ({"timeout": -1}, "timeout: it must be more than 0"),
        ({"timeout": float("nan")}, "timeout: it must be a number of seconds, not NaN"),
        ({"timeout": "60"}, "timeout: it must be seconds"),
        ({"max_attempts": 0}, "max_attempts: must be from 1"),
        ({"max_attempts": None}, "max_attempts: must be a whole number"),
        ({"max_attempts": 2.0}, "max_attempts: must be a whole number"),
        ({"worker_limit": 0}, "worker_limit: must be from 1"),
        ({"priority": "high"}, "priority: must be a whole number"),
        ({"queue": "a b"}, "queue: queue name 'a b'"),
        ({"queue": None}, "queue: must be the name"),
        ({"retry": 5}, "retry: a retry policy is"),
        ({"retry": Exponential}, "retry: a retry policy is"),
        ({"idempotency": "sometimes"}, "idempotency: idempotency mode 'sometimes'"),
        ({"idempotency": "ttl"}, "idempotency: idempotency mode 'ttl' needs window"),
        ({"idempotency": True}, r"idempotency: must be Idempotency\(…\)"),
        ({"isolation": "fork"}, "isolation: 'fork' is none of: auto, thread, process"),
        ({"keep": "none"}, "keep: 'none' is none of"),
        ({"on_exhausted": "retry"}, "on_exhausted: 'retry' is none of"),
        ({"aliases": "old"}, "aliases: must be a list"),
        ({"aliases": ["bad name"]}, "aliases: 'bad name' is no name"),
        ({"aliases": ["handler"]}, "aliases: its own name"),
        ({"rate": 10}, "rate: must be Rate"),
        ({"lane": "customer"}, "lane: lane 'customer' is none of"),
        ({"classifier": dict}, "classifier: must be Classifier"),
        ({"log_fields": ["wdith"]}, "log_fields: 'wdith' is no argument; did you mean 'width'"),
        ({"max_attemps": 3}, "unknown option 'max_attemps'; did you mean 'max_attempts'"),
    ],
)
def test_a_wrong_option_is_refused_at_the_definition(options: Any, why: str) -> None:
    def handler(width: int) -> None: ...

    with pytest.raises(DefinitionError, match=f"job type 'handler'.*{why}"):
        job(**options)(handler)


@pytest.mark.parametrize("name", ["", "a b", "a\0", "-a", "a" * 129, 5, "a\n"])
def test_wrong_names(name: Any) -> None:
    with pytest.raises(DefinitionError, match="is no name for a job type"):
        job(name=name)(lambda: None)


@pytest.mark.parametrize("name", ["RSS_FEED_REFRESH", "generate-embedding", "photos:sync/v2", "größe", "7z"])
def test_good_names(name: str) -> None:
    assert job(name)(lambda: None).name == name


def test_wrong_uses_of_the_decorator() -> None:
    with pytest.raises(DefinitionError, match="'<lambda>' is no name"):
        job(lambda: None)
    with pytest.raises(DefinitionError, match="given twice"):
        job("a", name="b")
    with pytest.raises(DefinitionError, match="goes on a function"):
        job("a")(Point)
    with pytest.raises(DefinitionError, match="goes on a function"):
        job(send_email)
    with pytest.raises(DefinitionError, match="isolation: a coroutine runs on the loop"):
        job("a", isolation="thread")(send_email.fn)


def test_generators_are_no_handlers() -> None:
    def one_by_one() -> Any:
        yield 1

    async def slowly() -> Any:
        yield 1

    for handler in (one_by_one, slowly):
        with pytest.raises(DefinitionError, match="a handler cannot yield"):
            job(handler)


def test_a_definition_that_no_database_can_hold_names_the_place() -> None:
    @job
    def described(size: Annotated[int, Field(description="a\0b")]) -> None: ...

    @job
    def documented() -> None:
        """Does\0 it."""

    @job
    def chosen(size: Literal["\0"]) -> None: ...

    @job
    def called(size: Callable[[], int]) -> None: ...

    for job_type, why in (
        (described, "'described', parameter size.description: holds a NUL"),
        (documented, "'documented', description: holds a NUL"),
        (chosen, "'chosen', parameter size.const: holds a NUL"),
        (called, "'called': its arguments have no JSON Schema"),
    ):
        with pytest.raises(DefinitionError, match=f"job type {why}"):
            job_type.definition()
