"""What becomes of lists: taken away as a file, and kept under a name."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from postmill.domain.errors import AlreadyThere, InvalidValue, NotFound
from postmill.operate.finding import Wanted
from postmill.store import finding, views
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.finding import FoundJob, FoundPage, Paths
from postmill.store.flow import Flow
from postmill.store.jobs import NEWEST
from postmill.store.views import KeptView

MOST_EXPORTED = 10_000
"""Lines of one file; whoever wants more narrows the query, or asks the database."""

_LOOK = 5_000
_ROUNDS = 100

COLUMNS = (
    "id", "tenant", "job_type", "queue", "state", "source", "source_ref", "trigger_label", "priority", "attempt",
    "max_attempts", "key", "created_at", "due_at", "started_at", "finished_at", "waited", "ran", "worker_id", "reason",
    "error_class", "error_message", "error_group", "actor_type", "actor_id", "correlation_id", "replayed_from", "tags",
)  # fmt: skip
"""What a line has, in this order; arguments that were chosen come behind."""


def exported(
    what: Wanted, *, paths: Paths = (), schema: str = DEFAULT_SCHEMA
) -> Flow[tuple[list[FoundJob], bool]]:
    """The jobs of a query, the newest first, at most 10,000 of at most 500,000 that are looked at; and whether these are all."""
    found: list[FoundJob] = []
    before: UUID | None = NEWEST
    for _round in range(_ROUNDS):
        page: FoundPage = yield finding.read_matching(
            what.filter,
            before=before or NEWEST,
            most=min(1000, MOST_EXPORTED - len(found)),
            look=_LOOK,
            paths=paths,
            schema=schema,
        )
        found += page.jobs
        before = page.before
        if before is None or len(found) >= MOST_EXPORTED:
            break
    return found, before is None


def values(job: FoundJob) -> Iterator[object]:
    """One line, in the order of `COLUMNS`."""
    for name in COLUMNS:
        if name == "state":
            yield job.shown_state
        else:
            yield " ".join(job.tags) if name == "tags" else getattr(job, name)


def save_view(
    page: str, name: str, query: str, *, shared: bool = False, schema: str = DEFAULT_SCHEMA
) -> Flow[KeptView]:
    """Keeps the list of a page under a name, for oneself or for everybody in the scope; audited.

    Args:
        query: the query string of its address.

    Raises:
        InvalidValue: no name, or one of more than 80 characters; an address of more than 2,000.
        AlreadyThere: there are 100 of one's own on this page.
    """
    name = name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidValue(f"a view's name has 1 to 80 printable characters, not {len(name)}")
    if len(query) > 2000:
        raise InvalidValue("the address of this list is too long to be kept")
    kept: KeptView = yield views.door_save_view(page, name, query, shared=shared, schema=schema)
    if kept.status == "full":
        raise AlreadyThere("you have 100 views of this page; delete one first")
    return kept


def delete_view(id: UUID, *, any: bool = False, schema: str = DEFAULT_SCHEMA) -> Flow[None]:
    """Deletes a view of one's own; `any`: or one that somebody else shares.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    if (yield views.door_delete_view(id, any=any, schema=schema)) != "deleted":
        raise NotFound("there is no such view of yours")
