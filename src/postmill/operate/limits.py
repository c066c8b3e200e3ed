"""Limits over the whole fleet, as people handle them. Flows; what changes one is audited, and in force at once."""

from __future__ import annotations

from postmill.domain.errors import InvalidValue, NotFound, UnknownJobType, UnknownQueue
from postmill.domain.limit import LimitName, Rate, check_max_running
from postmill.domain.suggest import did_you_mean
from postmill.store import limits as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.limits import LimitKey, LimitView
from postmill.store.queues import read_queue_names
from postmill.store.reads import read_job_type_names


def limits(*, after: str = "", most: int = 1000, schema: str = DEFAULT_SCHEMA) -> Flow[list[LimitView]]:
    """Limits in scope by name, with what is used of them now; `after` is the last page's last name."""
    found: list[LimitView] = yield store.read_limits(after=after, most=most, schema=schema)
    return found


def limit(name: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[LimitView]:
    """One limit.

    Raises:
        InvalidValue: no limit can have this name.
        NotFound: there is none of this name in scope, with what was probably meant.
    """
    known = _name(name)
    found: list[LimitView] = yield store.read_limits(str(known), schema=schema)
    if not found:
        there = yield store.read_limits(schema=schema)
        raise NotFound(
            f"there is no limit {name[:200]!r}{did_you_mean(name, [one.name for one in there], noun='limits')}"
        )
    return found[0]


def limit_keys(name: str, *, most: int = 20, schema: str = DEFAULT_SCHEMA) -> Flow[list[LimitKey]]:
    """What a limit counts now, each for itself, the fullest first."""
    found: list[LimitKey] = yield store.read_limit_keys(str(_name(name)), most=most, schema=schema)
    return found


def set_limit(
    name: str,
    *,
    max_running: int | None = None,
    rate: Rate | None = None,
    reason: str | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[LimitView]:
    """From now on this limit is so, whatever code and settings declare, until it is cleared. Running jobs go on.

    Workers go by it from their next claim on; jobs that wait in a lane with others are moved to one of their own as they are
    met.

    Args:
        name: type:NAME, queue:NAME, tenant:SLUG or all; `/tenant` and `/payload.<field>` behind count each for itself.
        max_running: jobs at once; None: any number.
        rate: starts per time; None: any. Without both a declared limit is lifted.
        reason: for the audit log.

    Raises:
        InvalidValue: name or number is none, or the fields are in payloads that are encrypted.
        UnknownJobType, UnknownQueue, NotFound: there is nothing of that name, with what was probably meant.
    """
    known = _name(name)
    try:
        check_max_running(max_running)
    except ValueError as fault:
        raise InvalidValue(str(fault)) from None
    if known.scope == "tenant" and not known.per and max_running is None and rate is None:
        raise InvalidValue(f"{name}: what a tenant may have is not declared anywhere, so clear it instead")
    status = yield store.set_limit(known, max_running, rate, reason=reason, actor_id=actor, schema=schema)
    if status == "unknown_queue":
        raise UnknownQueue(known.target or "", (yield read_queue_names(schema=schema)))
    if status == "unknown_type":
        raise UnknownJobType(known.target or "", (yield read_job_type_names(schema=schema)))
    if status in ("unknown_tenant", "out_of_scope"):
        raise NotFound(f"there is no {known.scope} {known.target or ''} that may be limited from here")
    if status == "encrypted":
        raise InvalidValue(f"{name}: payloads of its jobs are encrypted, and their fields cannot be counted")
    found: LimitView = yield from limit(str(known), schema=schema)
    return found


def clear_limit(
    name: str, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[str]:
    """Takes back what an operator said: `cleared`, or `declared`, where what code or settings say is in force again.

    Raises:
        InvalidValue: no limit can have this name.
        NotFound: there is none of this name.
    """
    known = _name(name)
    status: str = yield store.clear_limit(str(known), reason=reason, actor_id=actor, schema=schema)
    if status == "unknown":
        yield from limit(name, schema=schema)
        raise NotFound(f"there is no limit {name[:200]!r} that may be cleared from here")
    return status


def _name(name: str) -> LimitName:
    try:
        return LimitName.parse(name)
    except ValueError as fault:
        raise InvalidValue(str(fault)) from None
