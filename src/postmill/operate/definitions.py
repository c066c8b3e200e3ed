"""Job definitions as people read and write them, once for every face. Each is a flow, to be run as those of `commands`.

Whoever writes is audited: say who it is by `set_actor` (or in the scope of a request) in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from postmill.domain.definition import OF_THE_CODE, check_changes, check_new
from postmill.domain.errors import DefinitionConflict, DefinitionError, NotFound, NotPermitted
from postmill.store import definitions as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.definition_rows import DefinitionVersion, DefinitionView
from postmill.store.definitions import Written
from postmill.store.flow import Flow


def definitions(
    *,
    kind: str | None = None,
    queue: str | None = None,
    active: bool | None = None,
    after: str | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[DefinitionView]]:
    """Definitions in the order of their keys, those after the key `after`."""
    found: list[DefinitionView] = yield store.list_definitions(
        kind=kind, queue=queue, active=active, after=after, most=most, schema=schema
    )
    return found


def definition(id: UUID | str, *, schema: str = DEFAULT_SCHEMA) -> Flow[DefinitionView]:
    """One definition, by its id or its key.

    Raises:
        NotFound: there is no such definition.
    """
    named = {"id": id} if isinstance(id, UUID) else {"key": id}
    found: list[DefinitionView] = yield store.list_definitions(**named, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no job definition {str(id)!r}")
    return found[0]


def versions(
    id: UUID, *, before: int | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Flow[list[DefinitionVersion]]:
    """The versions of a definition, the newest first, those before the version `before`.

    Raises:
        NotFound: there is no such definition.
    """
    yield from definition(id, schema=schema)
    found: list[DefinitionVersion] = yield store.definition_versions(
        id, before=before, most=most, schema=schema
    )
    return found


def create(
    fields: Mapping[str, object],
    *,
    default_argv: Collection[str] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[DefinitionView]:
    """Makes a definition.

    Args:
        fields: see `domain.definition.FIELDS`; only `key` is required.
        default_argv: the setting `commands.argv_template`.

    Raises:
        DefinitionError: a field is unknown or wrong; names it.
        DefinitionConflict: its key or alias is taken, or its queue serves another kind.
        NotPermitted: whoever asks is no super_admin of the platform.
    """
    row = check_new(fields, default_argv=default_argv)
    # What was written down for a type that code will register stays as it was written.
    edited = sorted((fields.keys() & row.keys()) - OF_THE_CODE - {"key"}) if row["kind"] == "function" else []
    written: Written = yield store.create_definition(row, edited=edited, schema=schema)
    _refuse(written, row["key"], row["queue"])
    assert written.id is not None
    return (yield from definition(written.id, schema=schema))


def edit(
    id: UUID,
    changes: Mapping[str, object],
    *,
    release: Collection[str] = (),
    version: int | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[DefinitionView]:
    """Changes fields of a definition; of a type that code registers they are the operator's from then on.

    Args:
        id: of the definition.
        changes: fields with their new values; None puts a field back to its default.
        release: fields that are the code's again, from its next registration on.
        version: refuse if the definition has another one by now; None: whatever it is.

    Raises:
        NotFound: there is no such definition.
        DefinitionError: a field is unknown or wrong, or belongs to the code; names it.
        DefinitionConflict: an alias is taken, its queue serves another kind, or the version is another one.
        NotPermitted: whoever asks is no super_admin of the platform.
    """
    current = yield from definition(id, schema=schema)
    stray = sorted(set(release) - set(current.edited))
    if stray:
        raise DefinitionError(
            f"release: {stray[0]!r} is not among the edited fields ({', '.join(current.edited)})"
        )
    row = check_changes(current.as_written(), changes)
    edited = sorted(row) if current.kind == "function" else []
    written: Written = yield store.edit_definition(
        id,
        row,
        edited=edited,
        release=release,
        version=version or current.version,
        schema=schema,
    )
    _refuse(written, current.key, str(row.get("queue", current.queue)))
    return (yield from definition(id, schema=schema))


def _refuse(written: Written, key: str, queue: str) -> None:
    match written.status:
        case "exists":
            raise DefinitionConflict(
                f"the name {written.detail!r} is the key or an alias of another definition"
            )
        case "other_queue":
            raise DefinitionConflict(
                f"queue {queue!r} serves {written.detail!r}, which is of another kind: a queue serves either http "
                "definitions or the others; choose another queue"
            )
        case "stale":
            raise DefinitionConflict(
                f"definition {key!r} has version {written.detail} by now; look at it again, and repeat the change"
            )
        case "unknown":
            raise NotFound(f"there is no job definition {key!r}")
        case "forbidden":
            raise NotPermitted("only the platform's super_admin writes definitions")
