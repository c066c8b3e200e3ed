"""What a move would do, and what stands in its way."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from postmill.cells.sides import Side
from postmill.domain.errors import InvalidValue, NotFound
from postmill.domain.lane import DEFAULT_TENANT
from postmill.schema.check import check
from postmill.store.carrying import count_rows, definitions_here, is_marked, mark_database, read_gate
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.cells import Place, read_places
from postmill.store.tenants import TenantView, list_tenants


@dataclass(frozen=True, slots=True)
class Preview:
    """What a move would carry.

    Attributes:
        jobs, running, dead_letters, triggers, keys: how many there are of each.
        definitions: job types that the other cell has not got yet; they are made there as they are here.
        blockers: why it cannot begin; empty: it can.
    """

    tenant_id: UUID
    tenant: str
    from_cell: str
    to_cell: str
    jobs: int
    running: int
    dead_letters: int
    triggers: int
    keys: int
    definitions: list[str]
    blockers: list[str] = field(default_factory=list)


def find_place(directory: Side, name: str | UUID, *, schema: str = DEFAULT_SCHEMA) -> Place:
    """Where a tenant lives, by slug or id; one that is not in the directory, in the directory's own cell.

    Raises NotFound.
    """
    id = _id(name)
    found = directory.run(
        read_places(id=id, schema=schema) if id else read_places(slug=str(name), schema=schema)
    )
    if found:
        return found[0]
    here: list[TenantView] = directory.run(
        list_tenants(id=id, slug=None if id else str(name), most=1, schema=schema)
    )
    if not here:
        raise NotFound(
            f"there is no tenant {str(name)[:80]!r} in the directory, nor in its cell {directory.cell!r}"
        )
    return Place(here[0].id, here[0].slug, directory.cell, here[0].updated_at)


def resident(side: Side, name: str | UUID, *, schema: str = DEFAULT_SCHEMA) -> TenantView:
    """A tenant that lives in this cell, by slug or id. Raises NotFound; InvalidValue for the default one."""
    id = _id(name)
    found = side.run(list_tenants(id=id, slug=None if id else str(name), most=1, schema=schema))
    if found and found[0].id == DEFAULT_TENANT:
        raise InvalidValue("the default tenant is in every cell")
    if not found or side.run(read_gate(found[0].id, schema=schema)).stage in ("arriving", "gone"):
        raise NotFound(f"no tenant {str(name)[:80]!r} lives in cell {side.cell!r}")
    return found[0]


def preview(source: Side, target: Side, place: Place, *, schema: str = DEFAULT_SCHEMA) -> Preview:
    """Looks at both sides.

    Raises:
        InvalidValue: both cells are the same database, or the tenant lives there already.
        NotFound: the directory says that the tenant is in this cell, but it is not.
    """
    if source.cell == target.cell:
        raise InvalidValue(f"tenant {place.slug!r} lives in cell {target.cell!r} already")
    mark = uuid4()
    source.run(mark_database(mark, schema=schema))
    if target.run(is_marked(mark, schema=schema)):
        raise InvalidValue(f"cells {source.cell!r} and {target.cell!r} are the same database")
    load = source.run(count_rows(place.tenant_id, schema=schema))
    if load is None:
        raise NotFound(
            f"the directory says that tenant {place.slug!r} is in cell {source.cell!r}, but it is not"
        )
    there = set(target.run(definitions_here(schema=schema)).values())
    return Preview(
        place.tenant_id,
        load.slug,
        source.cell,
        target.cell,
        load.jobs,
        load.running,
        load.dead_letters,
        load.triggers,
        load.keys,
        sorted(set(source.run(definitions_here(schema=schema)).values()) - there),
        [*_blockers(source, target, place, load.operations, schema)],
    )


def _blockers(source: Side, target: Side, place: Place, operations: int, schema: str) -> list[str]:
    found = []
    if place.tenant_id == DEFAULT_TENANT:
        found.append(
            "the default tenant is in every cell and cannot be moved: make a tenant for what is to move (postmill tenants"
            " create), enqueue for it from now on, and let the jobs of the default tenant end"
        )
    versions = [check(side.conn, schema).version for side in (source, target)]
    if versions[0] != versions[1]:
        found.append(
            f"the schema of cell {source.cell!r} is at version {versions[0]}, that of {target.cell!r} at"
            f" {versions[1]}: run postmill migrate on both"
        )
    if place.move_id is not None:
        found.append(f"a move of it to {place.moving_to!r} goes on: {place.move_id}")
    if operations:
        found.append(f"{operations} bulk operation(s) within the tenant go on: let them end, or stop them")
    gate = target.run(read_gate(place.tenant_id, schema=schema))
    others = target.run(list_tenants(slug=place.slug, most=1, schema=schema))
    same = target.run(list_tenants(id=place.tenant_id, most=1, schema=schema))
    if place.tenant_id != DEFAULT_TENANT and same and gate.stage is None:
        found.append(f"cell {target.cell!r} has a tenant of this id already")
    elif others and others[0].id != place.tenant_id:
        found.append(f"cell {target.cell!r} has another tenant {place.slug!r}")
    return found


def _id(name: str | UUID) -> UUID | None:
    try:
        return name if isinstance(name, UUID) else UUID(name)
    except ValueError:
        return None
