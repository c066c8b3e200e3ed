"""What the platform's people do about a cause of failures, whatever face they use. Each is a flow; acts are audited."""

from __future__ import annotations

from datetime import datetime

from postmill.domain.errors import InvalidValue, NotFound, NotPermitted
from postmill.store import error_groups as groups
from postmill.store import error_marks as marks
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.error_groups import ErrorGroupView
from postmill.store.error_marks import Note, ToTell
from postmill.store.flow import Flow

LONGEST_NOTE = 4000


def ignore(
    id: str,
    until: datetime,
    *,
    reason: str | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[ErrorGroupView]:
    """Nobody needs to look at it before `until`: it is `ignored` so long, and then what it was.

    Raises:
        NotFound: there is no such group.
        NotPermitted: within a tenant: its state is the platform's.
        InvalidValue: `until` has no time zone.
    """
    if until.utcoffset() is None:
        raise InvalidValue("until is a datetime without a time zone; give it one")
    status = yield marks.door_mark_error(
        id, "ignore", until=until, reason=reason, actor_id=actor, schema=schema
    )
    return (yield from _answered(id, status, schema))


def resolve(
    id: str,
    *,
    version: int | None = None,
    build: str | None = None,
    reason: str | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[ErrorGroupView]:
    """It is over with this version of its definition (default: the present one). A failure of that version or of a later
    one makes it `regressed`; those of older ones, whose workers are still being replaced, do not.

    A repair of code alone makes no new version: `build` names the build of the application that carries it. Then failures of
    builds that first ran before that one do not count either, and none does while it has not run.

    Raises:
        NotFound, NotPermitted: as `ignore`.
        InvalidValue: no version has this number, or no build is called so.
    """
    if version is not None and not 1 <= version <= 2**31 - 1:
        raise InvalidValue(f"version: expected a number of 1 or more, got {version}")
    if build is not None and not 1 <= len(build) <= 100:
        raise InvalidValue(f"build: expected a name of 1 to 100 characters, got {len(build)}")
    status = yield marks.door_mark_error(
        id, "resolve", version=version, build=build, reason=reason, actor_id=actor, schema=schema
    )
    return (yield from _answered(id, status, schema))


def reopen(
    id: str, *, reason: str | None = None, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[ErrorGroupView]:
    """Takes back what was said of it. Raises as `ignore`."""
    status = yield marks.door_mark_error(id, "reopen", reason=reason, actor_id=actor, schema=schema)
    return (yield from _answered(id, status, schema))


def note(
    id: str, text: str, *, actor: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[ErrorGroupView]:
    """Writes on it, for the platform's people.

    Raises:
        NotFound, NotPermitted: as `ignore`.
        InvalidValue: an empty text, or one of more than 4,000 characters.
    """
    text = text.strip()
    if not 1 <= len(text) <= LONGEST_NOTE:
        raise InvalidValue(f"text: expected 1 to {LONGEST_NOTE:,} characters, got {len(text):,}")
    status = yield marks.door_note_error(id, text, actor_id=actor, schema=schema)
    return (yield from _answered(id, status, schema))


def notes(id: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[Note]]:
    """What was written on it, the latest first."""
    found: list[Note] = yield marks.read_error_notes(id, schema=schema)
    return found


def to_tell(id: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[ToTell]]:
    """All tenants that it affects, the most affected first. Noted in the audit log, for whoever reads it takes it away."""
    found: list[ToTell] = yield marks.door_export_tenants(id, schema=schema)
    return found


def _answered(id: str, status: str, schema: str) -> Flow[ErrorGroupView]:
    if status == "unknown":
        raise NotFound(f"there is no error group {id}")
    if status == "out_of_scope":
        raise NotPermitted("what an error group is said to be is the platform's to say")
    found: list[ErrorGroupView] = yield groups.read_error_groups(id=id, most=1, schema=schema)
    return found[0]
