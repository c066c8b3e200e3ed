"""Bulk acts on all jobs that a query finds: what they would meet, and how they begin; `operations` steers them.

Each is a flow, to be run as those of `commands` are. All acts are audited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from postmill.domain.access import Action
from postmill.domain.errors import InvalidValue
from postmill.domain.job_options import ActorType
from postmill.domain.pace import Kind, Pace
from postmill.domain.queue import match_queue
from postmill.operate import finding
from postmill.store import operations as store
from postmill.store import queues
from postmill.store.bulk_preview import BulkPreview, read_operation_preview
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.operations import Started

MOST_IDS = 10_000

NEEDS: Mapping[Kind, Action] = MappingProxyType({
    "replay": Action.DEAD_REPLAY, "retry": Action.JOBS_RETRY, "cancel": Action.JOBS_CANCEL, "discard": Action.DEAD_DISCARD,
    "priority": Action.JOBS_PRIORITY, "run_at": Action.JOBS_PRIORITY, "move": Action.QUEUES_WRITE,
    "tag": Action.JOBS_TAG,
})  # fmt: skip
"""What a role must be allowed for each kind of act."""


@dataclass(frozen=True, slots=True)
class Meant:
    """Which jobs are meant.

    Attributes:
        chosen: as it was said: `{"query": …}` or `{"ids": […]}`.
        matching: as the database is asked it.
    """

    chosen: dict[str, Any]
    matching: dict[str, Any]


def by_query(text: str, *, payloads: bool = False, schema: str = DEFAULT_SCHEMA) -> Flow[Meant]:
    """The jobs that a query finds within the scope.

    Args:
        payloads: whether who asks may find by arguments.

    Raises:
        QueryError: with the position of what is wrong.
        InvalidValue: an empty query, which would be every job there is.
    """
    found: finding.Wanted = yield from finding.wanted(text, payloads=payloads, schema=schema)
    if not found.query.terms:
        raise InvalidValue("an empty query is every job there is; say which, as in state:dead_letter type:…")
    return Meant({"query": str(found.query)}, found.filter)


def by_ids(ids: Sequence[UUID]) -> Meant:
    """These jobs, at most 10,000 of them.

    Raises:
        InvalidValue: none, or more.
    """
    some = sorted({str(id) for id in ids})
    if not 1 <= len(some) <= MOST_IDS:
        raise InvalidValue(f"ids: expected 1 to {MOST_IDS:,} of them, got {len(some):,}")
    return Meant(
        {"ids": some}, {"terms": [{"field": "id", "not": False, "ranges": [[id, id] for id in some]}]}
    )


def impact(
    kind: Kind,
    what: Meant,
    *,
    cut_off: UUID | None = None,
    most: int = 100_000,
    sample: int = 10_000,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BulkPreview]:
    """What a bulk act on these jobs would meet; nothing is done.

    Args:
        cut_off: only jobs enqueued before; None: until now.
        most: so many are counted.
        sample: of so many, the newest, the details are told.
    """
    found: BulkPreview = yield read_operation_preview(
        kind, what.matching, cut_off=cut_off, most=most, sample=sample, schema=schema
    )
    return found


def start(
    kind: Kind,
    what: Meant,
    pace: Pace | None = None,
    *,
    cut_off: UUID | None = None,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Started]:
    """Begins an act on the jobs that match now: each once, whatever happens meanwhile.

    Some thousand jobs are selected at once, more of them by workers, who then carry it out. `status` none: nothing matches;
    proposed: somebody else has to approve it.

    Args:
        pace: rate, canary and what else; None: as fast as a worker gets it done.
        cut_off: only jobs enqueued before; None: until now.
        reason: stands in the audit log; of a cancel or discard it is that of the jobs, too.

    Raises:
        InvalidValue: what does not go with this kind of act, or is missing.
        UnknownQueue: with what exists and what was probably meant.
    """
    pace = pace or Pace()
    pace.check(kind)
    if pace.queue is not None:
        pace = replace(pace, queue=match_queue(pace.queue, (yield queues.read_queue_names(schema=schema))))
    begun: Started = yield store.door_start_operation(
        kind,
        what.chosen,
        pace,
        matching=what.matching,
        cut_off=cut_off,
        reason=reason,
        actor_type=actor_type,
        actor_id=actor_id,
        schema=schema,
    )
    return begun
