"""The options of `@job`: what each means, its default, and what is refused when the type is defined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict, TypeVar

from postmill.domain.budget_fields import check_budget_name
from postmill.domain.classify import Classifier
from postmill.domain.curves import PLANNER_CATEGORIES, Curve
from postmill.domain.duration import seconds
from postmill.domain.errors import DefinitionError
from postmill.domain.idempotency import Idempotency, Mode
from postmill.domain.lane import check_rule
from postmill.domain.limit import Limit, Rate
from postmill.domain.outcome import OnExhausted
from postmill.domain.policy import DEFAULT, RetryPolicy, check_policy
from postmill.domain.queue import Queue, check_queue_name
from postmill.domain.suggest import did_you_mean

T = TypeVar("T")

Isolation = Literal["auto", "thread", "process"]
Keep = Literal["all", "failures"]
Secrets = Literal["redact", "refuse"]
ReplayClass = Literal["safe", "ask", "never"]

DEFAULT_QUEUE = "default"
DEFAULT_MAX_ATTEMPTS = 5
DEFAULT_TIMEOUT = 3600.0

_NAME = re.compile(r"[^\W_][\w.:/-]{0,127}")
INT_MAX = 2**31 - 1
LONGEST_ACTION = 2000


class JobTypeOptions(TypedDict, total=False):
    """Options of `@job`. All but the name have defaults that suit most types."""

    name: str
    """The stable name; by default the function's own (never its module: moving code must not orphan jobs)."""
    queue: str | Queue
    """The queue of all jobs of this type: its name, or a `Queue(…)`. Default `default`."""
    retry: RetryPolicy | Curve
    """The wait between attempts: a policy, a seed's curve, or a function. Default 5 s, doubling to 5 min."""
    max_attempts: int
    """Attempts in all, 1 or more. Default 5, or the curve's own number."""
    timeout: float | timedelta | None
    """Seconds (or timedelta) from the start of the handler; None means no limit. Default 3600 s (seed 3)."""
    idempotency: Idempotency | Mode | Literal["active", "queued", "window"] | None
    """How idempotency keys work, and that jobs without a key of their own get one. Default None: no keys."""
    isolation: Isolation
    """`auto`: coroutines on the loop, functions in a thread; `thread`: the same for functions, refused for
    coroutines; `process`: each attempt in a child process. Default `auto`."""
    keep: Keep
    """`all`: every job stays in the history; `failures`: a success leaves only counts. Default `all`."""
    on_exhausted: OnExhausted
    """Where a job ends that is given up: `dead_letter` (default) or `fail`."""
    aliases: Iterable[str]
    """Former names, under which waiting jobs are still understood."""
    worker_limit: int | None
    """How many run at once per `postmill worker` command, over all its processes. Default None: no limit."""
    rate: Rate | None
    """How many may start per time, exactly, over the whole fleet: short for `limits=[Limit(rate=…)]`. Default None: no
    limit."""
    limits: Iterable[Limit]
    """How many run at once, and how often they start, over the whole fleet; per tenant or argument, too. Default: none."""
    lane: str | None
    """`tenant`, `none` or `payload.<field>`; default None: as the queue has it."""
    priority: int | None
    """Priority of its jobs; a lower number is more urgent. Default None: 100."""
    classifier: Classifier | None
    """Rules for which errors are worth another attempt, before the built-in ones."""
    log_fields: Iterable[str]
    """Arguments that are bound into the job's log lines."""
    action: str
    """What whoever is told that a job was given up shall do; part of the message. Default empty."""
    escalation_fields: Iterable[str]
    """Arguments that are shown in that message, such as the address of a screenshot. Secrets are redacted."""
    category: Literal["notifications", "audit", "planning", "exports", "imports", "maintenance"] | None
    """What kind of work it is: gives retry, max_attempts and idempotency where they are not named. Default None."""
    strict_envelope: bool
    """Refuse jobs without tenant, actor_id, request_id, correlation_id (seed 5); a key is made. Default False."""
    secrets: Secrets
    """Arguments that look like secrets are shown as `[redacted]` (`redact`), or refused (`refuse`, the default of a
    strict envelope). Default `redact`."""
    secret_keys: Iterable[str]
    """Names of arguments that are secret besides those that look like it."""
    encrypted: bool
    """Keep payloads encrypted in the database, with the keys of the settings. Default False."""
    budget: str | None
    """Name of a budget that is looked at before each run: at QUEUE it ends as succeeded with nothing done, at HARD_STOP
    it is given up (`budget_exhausted`). Default None."""
    replay_class: ReplayClass
    """Whether an ended job may be replayed: `safe` (default), `ask` (each replay must be confirmed: `--yes`, `confirm`) or
    `never`."""


def check_name(name: object) -> str:
    """`name` if a job type can have it: 1 to 128 letters, digits and `_ . : / -`, a letter or digit first."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(
            f"{name!r} is no name for a job type; use 1 to 128 letters, digits and _ . : / -, no sign first"
        )
    return name


def check_options(
    job_type: str, options: Mapping[str, object], arguments: Iterable[str] | None
) -> dict[str, Any]:
    """Every option of a type, defaults filled in. DefinitionError names type, option and fault.

    `arguments`: those that there are; None where nobody knows.
    """
    unknown = next((name for name in options if name not in _CHECKS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, ["name", *_CHECKS], noun="options")
        raise DefinitionError(f"job type {job_type!r}: unknown option {unknown!r}{hint}")
    made: dict[str, Any] = {}
    for name, (default, check) in _CHECKS.items():
        try:
            made[name] = check(options[name]) if name in options else default
        except (TypeError, ValueError, DefinitionError) as fault:
            raise DefinitionError(f"job type {job_type!r}, {name}: {fault}") from None
    made["explicit"] = frozenset(options)
    _of_category(made, options)
    if made["strict_envelope"]:
        made["secrets"] = made["secrets"] if "secrets" in options else "refuse"
        made["idempotency"] = made["idempotency"] or Idempotency()
    if made["encrypted"] and made["idempotency"] is not None and made["idempotency"].content:
        raise DefinitionError(
            f"job type {job_type!r}, encrypted: the database cannot read the idempotency content"
        )
    _check_limits(job_type, made, arguments)
    retry = made["retry"]
    if isinstance(retry, Curve):
        made["retry"] = retry.policy
        if "max_attempts" not in options:
            made["max_attempts"] = retry.max_attempts
        made["explicit"] |= {"max_attempts"}
    for name in ("log_fields", "escalation_fields") if arguments is not None else ():
        stray = sorted(set(made[name]) - set(arguments or ()))
        if stray:
            hint = did_you_mean(stray[0], arguments or (), noun="arguments")
            raise DefinitionError(f"job type {job_type!r}, {name}: {stray[0]!r} is no argument{hint}")
    return made


def _of_category(made: dict[str, Any], options: Mapping[str, object]) -> None:
    """What seed 5 gives the category, where the type does not say it itself."""
    if made["category"] is None:
        return
    curve = PLANNER_CATEGORIES[made["category"]]
    derived = {"retry": curve.policy, "max_attempts": curve.max_attempts}
    if isinstance(options.get("retry"), Curve):
        derived = {}
    for name, value in derived.items():
        if name not in options:
            made[name] = value
            made["explicit"] |= {name}
    if "idempotency" not in options:
        made["idempotency"] = Idempotency.for_category(made["category"])


def _queue(value: object) -> str:
    if isinstance(value, Queue):
        return value.name
    if not isinstance(value, str):
        raise TypeError(f"must be the name of a queue, or a Queue, not {value!r}")
    return check_queue_name(value)


def _retry(value: object) -> RetryPolicy | Curve:
    return value if isinstance(value, Curve) else check_policy(value)


def _integer(least: int, optional: bool) -> Callable[[object], int | None]:
    def check(value: object) -> int | None:
        if value is None and optional:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"must be a whole number, not {value!r}")
        if not least <= value <= INT_MAX:
            raise ValueError(f"must be from {least} to {INT_MAX}")
        return value

    return check


def _timeout(value: object) -> float | None:
    return None if value is None else seconds(value, "it", zero=False)


def _idempotency(value: object) -> Idempotency | None:
    if value is None or isinstance(value, Idempotency):
        return value
    if isinstance(value, str):
        return Idempotency(Mode(value)) if value in tuple(Mode) else Idempotency(value)  # type: ignore[arg-type]
    raise TypeError(f"must be Idempotency(…) or one of its modes, not {value!r}")


def _one_of(*allowed: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of: {', '.join(allowed)}")
        return str(value)

    return check


def _optional(check: Callable[[object], T]) -> Callable[[object], T | None]:
    return lambda value: None if value is None else check(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"must be true or false, not {value!r}")
    return value


def _instance(kind: type[T]) -> Callable[[object], T | None]:
    def check(value: object) -> T | None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"must be {kind.__name__}(…), not {value!r}")
        return value

    return check


def _limits(value: object) -> tuple[Limit, ...]:
    if isinstance(value, Limit) or not isinstance(value, Iterable):
        raise TypeError(f"must be a list of Limit(…), not {value!r}")
    found = tuple(value)
    for one in found:
        if not isinstance(one, Limit):
            raise TypeError(f"must be a list of Limit(…), not of {one!r}")
    if len({one.per for one in found}) < len(found):
        raise ValueError("two of them count the same; put max_running and rate into one Limit(…)")
    return found


def _check_limits(job_type: str, made: dict[str, Any], arguments: Iterable[str] | None) -> None:
    """What they count can be read; `rate` is one of them."""
    rate, together = made["rate"], [one for one in made["limits"] if not one.per]
    if rate is not None and together and together[0].rate is not None:
        raise DefinitionError(f"job type {job_type!r}, limits: it has a rate twice; leave out rate=…")
    fields = [part for one in made["limits"] for part in one.per if part != "tenant"]
    if fields and made["encrypted"]:
        raise DefinitionError(f"job type {job_type!r}, encrypted: the database cannot read {fields[0]}")
    for part in fields if arguments is not None else ():
        name = part.split(".")[1]
        if name not in (arguments or ()):
            hint = did_you_mean(name, arguments or (), noun="arguments")
            raise DefinitionError(f"job type {job_type!r}, limits: {name!r} is no argument{hint}")


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"must be a list of names, not {value!r}")
    names = tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"must be a list of names, not of {name!r}")
    return names


def _action(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be text, not {value!r}")
    if len(value) > LONGEST_ACTION:
        raise ValueError(f"must be at most {LONGEST_ACTION} characters")
    return value


def _aliases(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check_name(name) for name in _names(value)))


def _lane(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"must be text, not {value!r}")
    return check_rule(value)


_CHECKS: dict[str, tuple[object, Callable[[Any], object]]] = {
    "queue": (DEFAULT_QUEUE, _queue),
    "retry": (DEFAULT, _retry),
    "max_attempts": (DEFAULT_MAX_ATTEMPTS, _integer(1, optional=False)),
    "timeout": (DEFAULT_TIMEOUT, _timeout),
    "idempotency": (None, _idempotency),
    "isolation": ("auto", _one_of("auto", "thread", "process")),
    "keep": ("all", _one_of("all", "failures")),
    "on_exhausted": ("dead_letter", _one_of("dead_letter", "fail")),
    "aliases": ((), _aliases),
    "worker_limit": (None, _integer(1, optional=True)),
    "rate": (None, _instance(Rate)),
    "limits": ((), _limits),
    "lane": (None, _lane),
    "priority": (None, _integer(-INT_MAX - 1, optional=True)),
    "classifier": (None, _instance(Classifier)),
    "log_fields": ((), _names),
    "action": ("", _action),
    "escalation_fields": ((), _names),
    "category": (None, _optional(_one_of(*PLANNER_CATEGORIES))),
    "strict_envelope": (False, _flag),
    "secrets": ("redact", _one_of("redact", "refuse")),
    "secret_keys": ((), _names),
    "encrypted": (False, _flag),
    "budget": (None, _optional(check_budget_name)),
    "replay_class": ("safe", _one_of("safe", "ask", "never")),
}
