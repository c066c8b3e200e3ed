"""Bulk acts as durable operations: begun here (on dead letters) or in `bulk` (on any jobs), carried out by any worker,
watched and steered from anywhere.

Each is a flow, to be run as those of `commands` are. All acts are audited.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal
from uuid import UUID

from postmill.domain.errors import InvalidValue, NotFound
from postmill.domain.job_options import ActorType
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import LETTER_KINDS, Kind, Pace
from postmill.domain.queue import match_queue
from postmill.store import operations as store
from postmill.store import queues
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.dead_statistics import (
    DeadPreview,
    DeadStatistics,
    read_dead_preview,
    read_dead_statistics,
)
from postmill.store.flow import Flow
from postmill.store.operations import ChangedOperation, Operation, OperationItem, Started
from postmill.store.recovery import RecoveryRuleView, read_recovery_rules

Verb = Literal["pause", "resume", "approve", "abort"]


def statistics(*, tenant: UUID | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[DeadStatistics]:
    """How many open dead letters there are, of what causes, since when, and how fast they grow.

    Source: seed 4, section 5, "Root Cause Analysis".
    """
    found: DeadStatistics = yield read_dead_statistics(tenant=tenant, schema=schema)
    return found


def preview(chosen: LetterFilter, *, sample: int = 5, schema: str = DEFAULT_SCHEMA) -> Flow[DeadPreview]:
    """What a bulk act on these letters would meet: how many, of what causes, some of them.

    Raises:
        UnknownQueue: with what exists and what was probably meant.
    """
    exact = yield from _exact(chosen, schema)
    found: DeadPreview = yield read_dead_preview(exact, sample=sample, schema=schema)
    return found


def start(
    kind: Kind,
    chosen: LetterFilter,
    pace: Pace | None = None,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Started]:
    """Begins to replay or discard the letters that match now: exactly these, each once, whatever happens meanwhile.

    Workers carry it out, within some seconds where one is up. `status` none: no letter matches, nothing was begun;
    proposed: somebody else has to approve it.

    Args:
        kind: replay or discard.
        pace: rate, canary and what else; None: as fast as a worker gets it done.
        reason: of a discard it replaces that of the letters; of both it stands in the audit log.

    Raises:
        InvalidValue: a discard with what goes with a replay only.
        UnknownQueue: with what exists and what was probably meant.
    """
    pace = pace or Pace()
    if kind not in LETTER_KINDS:
        raise InvalidValue(f"dead letters are replayed or discarded; for {kind} give a query or ids")
    pace.check(kind)
    exact = yield from _exact(chosen, schema)
    begun: Started = yield store.door_start_operation(
        kind, exact.json, pace, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
    )
    return begun


def change(
    id: UUID,
    verb: Verb,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[ChangedOperation]:
    """Pauses, resumes, approves or aborts an operation. What it has done stays done.

    One that its canary has paused goes on with the rest when it is resumed. `status`: paused, resumed, approved, aborted,
    unchanged (it was so already), ended, proposed (it has to be approved first), or same_person (who began it does not
    approve it).

    Raises:
        NotFound: there is no such operation.
    """
    answer: ChangedOperation = yield store.door_change_operation(
        id, verb, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
    )
    if answer.status == "unknown":
        raise NotFound(f"there is no operation {id}")
    return answer


def operations(
    *, before: UUID | None = None, most: int = 50, open: bool = False, schema: str = DEFAULT_SCHEMA
) -> Flow[list[Operation]]:
    """Operations, the newest first; `open`: only those that have not ended. `before`: the last one read."""
    found: list[Operation] = yield store.read_operations(before=before, most=most, open=open, schema=schema)
    return found


def operation(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[Operation]:
    """One operation as it stands.

    Raises:
        NotFound: there is none.
    """
    found: list[Operation] = yield store.read_operations(id=id, schema=schema)
    if not found:
        raise NotFound(f"there is no operation {id}")
    return found[0]


def items(
    id: UUID, *, status: str | None = None, after: int = 0, most: int = 100, schema: str = DEFAULT_SCHEMA
) -> Flow[list[OperationItem]]:
    """What became of the jobs of an operation, in their order, behind number `after`."""
    found: list[OperationItem] = yield store.read_operation_items(
        id, status=status, after=after, most=most, schema=schema
    )
    return found


def results(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[dict[str, int]]:
    """How the replays of an operation stand now, by state; of the last 10,000."""
    found: dict[str, int] = yield store.read_operation_results(id, schema=schema)
    return found


def recovery_rules(*, schema: str = DEFAULT_SCHEMA) -> Flow[list[RecoveryRuleView]]:
    """The recovery rules that workers have run, and what came of them."""
    found: list[RecoveryRuleView] = yield read_recovery_rules(schema=schema)
    return found


def _exact(chosen: LetterFilter, schema: str) -> Flow[LetterFilter]:
    if chosen.queue is None:
        return chosen
    known: list[str] = yield queues.read_letter_queue_names(schema=schema)
    return replace(chosen, queue=match_queue(chosen.queue, known))
