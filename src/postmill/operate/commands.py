"""What an operator may do to jobs and queues, whatever face he uses. Each is a flow: run it with
`postmill.bind.drive(conn, flow)` or `await adrive(conn, flow)`, in a transaction of yours or in autocommit.

All of it is audited. `actor_type` and `actor_id` say who acts where neither a request nor `set_actor` does.

Nothing here raises for a job that is in another state than hoped for: the answers tell, one for each id
(once, however often it was named), so that one of many does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.errors import UnknownJobType, UnknownQueue
from postmill.domain.job_options import ActorType
from postmill.domain.job_type import JobType
from postmill.domain.payload import check_text
from postmill.domain.queue import Queue, match_queue
from postmill.domain.tags import check_changes
from postmill.store import audit, doors, moving, placing, queues, reads, registration, tags
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.doors import Prioritized
from postmill.store.flow import Flow
from postmill.store.jobs import Canceled, Discarded, Rerun
from postmill.store.placing import Placed
from postmill.store.tags import Tagged

MOST_AT_ONCE = 1000
"""Ids in one statement: its locks are held until the transaction ends."""


def cancel(
    ids: Iterable[UUID],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Canceled]]:
    """Ends jobs that wait, and asks those that run to end."""
    answers: list[Canceled] = []
    for some in _parts(ids):
        answers += yield doors.door_cancel_jobs(
            some, actor_type=actor_type, actor_id=actor_id, reason=reason, schema=schema
        )
    return answers


def retry(
    ids: Iterable[UUID],
    *,
    confirm: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Rerun]]:
    """Makes jobs due that wait for their next attempt; replays those that ended without success.

    A replay of those whose definition says `replay_class = ask` is refused (`unconfirmed`) without `confirm`, and of those with
    `never` in any case.
    """
    answers: list[Rerun] = []
    for some in _parts(ids):
        answers += yield doors.door_retry_jobs(
            some, confirm=confirm, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def replay(
    ids: Iterable[UUID],
    *,
    payload: bytes | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    original_version: bool = False,
    changes: Sequence[Mapping[str, Any]] | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Rerun]]:
    """Runs jobs that ended without success again, as new ones with lineage; with `payload` (JSON) if given.

    Those that were replayed already are refused (`already_replayed`, or `live`), unless the replay has ended and
    `again` is true. Those whose definition says `replay_class = ask` are refused (`unconfirmed`) without `confirm`.
    Those of which a later job with the same key, or the same type and payload, has succeeded, are refused
    (`succeeded_since`) without `despite_success`; and all (`old_version`) while the definition has not come to `version`.
    `original_version`: each runs under the version of its definition that it was made under: only workers that run this
    version take it. One of a version that nobody can run any more is refused (`version_gone`).
    `changes`: what the payload changed, for the audit log (see `operate.editing`).

    Raises:
        PayloadRefused: the payload cannot be stored.
    """
    payload = None if payload is None else check_text(payload)
    answers: list[Rerun] = []
    for some in _parts(ids):
        answers += yield doors.door_replay_jobs(
            some,
            payload=payload,
            again=again,
            confirm=confirm,
            despite_success=despite_success,
            version=version,
            original_version=original_version,
            changes=changes,
            actor_type=actor_type,
            actor_id=actor_id,
            schema=schema,
        )
    return answers


def discard(
    ids: Iterable[UUID],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Discarded]]:
    """Closes dead letters as failed; `reason` replaces theirs."""
    answers: list[Discarded] = []
    for some in _parts(ids):
        answers += yield doors.door_discard_jobs(
            some, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def replay_into(
    ids: Iterable[UUID],
    queue: str,
    *,
    confirm: bool = False,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Rerun]]:
    """Runs dead letters again as `replay` does, from a queue that their type does not belong to. In one transaction, so
    that no worker takes them from their own queue before.

    Raises:
        UnknownQueue: says what exists and what was probably meant.
    """
    name = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    answers = yield from replay(ids, confirm=confirm, actor_type=actor_type, actor_id=actor_id, schema=schema)
    made = [one.new_id for one in answers if one.status == "replayed" and one.new_id is not None]
    for some in _parts(made):
        yield doors.door_move_waiting(
            some, name, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def prioritize(
    ids: Iterable[UUID],
    priority: int,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Prioritized]]:
    """Gives jobs that wait another priority (lower is sooner); each goes to the end of its new place."""
    answers: list[Prioritized] = []
    for some in _parts(ids):
        answers += yield doors.door_prioritize_jobs(
            some, priority, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def move_some(
    ids: Iterable[UUID],
    queue: str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Placed]]:
    """Takes jobs that wait into another queue; those of a whole type are moved by `move`. The platform's to do.

    Raises:
        UnknownQueue: says what exists and what was probably meant.
    """
    name = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    answers: list[Placed] = []
    for some in _parts(ids):
        answers += yield placing.door_move_jobs(
            some, name, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def schedule(
    ids: Iterable[UUID],
    run_at: datetime,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Placed]]:
    """Makes jobs that wait due at a moment; one that has passed is now.

    Raises:
        ValueError: `run_at` has no time zone.
    """
    if run_at.utcoffset() is None:
        raise ValueError("run_at is a datetime without a time zone; give it one")
    answers: list[Placed] = []
    for some in _parts(ids):
        answers += yield placing.door_schedule_jobs(
            some, run_at, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def tag(
    ids: Iterable[UUID],
    words: Iterable[str],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Tagged]]:
    """Gives jobs tags, and takes away those with a minus before them (`["vip", "-old"]`), whatever state they are in.

    Raises:
        InvalidValue: no words, or one that is no tag.
    """
    given = list(words)
    check_changes(given)
    add, remove = [one for one in given if one[:1] != "-"], [one[1:] for one in given if one[:1] == "-"]
    answers: list[Tagged] = []
    for some in _parts(ids):
        answers += yield tags.door_tag_jobs(
            some, add, remove, reason=reason, actor_type=actor_type, actor_id=actor_id, schema=schema
        )
    return answers


def pause(
    queue: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[str]:
    """Stops claims from a queue until it is resumed, or until `resume_at`. Answers the queue's exact name.

    The name may differ in case where only one queue fits. What runs goes on.

    Raises:
        UnknownQueue: says what exists and what was probably meant.
        ValueError: `resume_at` has no time zone.
    """
    if resume_at is not None and resume_at.utcoffset() is None:
        raise ValueError("resume_at is a datetime without a time zone; give it one")
    name = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    paused: bool = yield doors.door_pause_queue(
        name, reason=reason, resume_at=resume_at, actor_id=actor, schema=schema
    )
    return _touched(name, paused)


def resume(queue: str, *, actor: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[str]:
    """Opens a queue again, and wakes a worker. Answers the queue's exact name.

    Raises:
        UnknownQueue: says what exists and what was probably meant.
    """
    name = match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    resumed: bool = yield doors.door_resume_queue(name, actor_id=actor, schema=schema)
    return _touched(name, resumed)


@dataclass(frozen=True, slots=True)
class Moved:
    """How many waiting jobs of a type were taken into a queue; `home` is the one that the type belongs to."""

    job_type: str
    queue: str
    home: str
    moved: int


def move(
    job_type: str,
    queue: str | None = None,
    *,
    batch: int = MOST_AT_ONCE,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Moved]:
    """Takes the waiting jobs of a type into a queue, wherever they wait; None: into the one it belongs to.

    Job type and queue may be given by an alias, or in another case. What runs goes on, and comes back into its
    old queue if it is tried again. In autocommit mode each batch commits by itself: a move that was cut short
    goes on when it is called again. The new jobs of a type always go to its own queue.

    Args:
        job_type: name or alias, active or not.
        queue: where to.
        batch: tickets of each state that one statement looks at, and may lock; each has its row in the audit log.
        actor: who acts, as in `pause`.
        schema: where Postmill's tables are.

    Raises:
        UnknownJobType, UnknownQueue: with what exists and what was probably meant.
    """
    home: moving.Home | None = yield moving.home_of(job_type, schema=schema)
    if home is None:
        raise UnknownJobType(job_type, (yield reads.read_job_type_names(schema=schema)))
    name = home.queue if queue is None else match_queue(queue, (yield queues.read_queue_names(schema=schema)))
    moved, after = 0, None
    while True:
        done: moving.Batch = yield moving.move_jobs(
            home.job_type, name, after=after, most=batch, actor_id=actor, schema=schema
        )
        moved += done.moved
        if done.looked_at is None:
            return Moved(home.job_type, name, home.queue, moved)
        after = done.looked_at


def register(
    job_types: Iterable[JobType[..., ..., Any]],
    *,
    queues_declared: Iterable[Queue] = (),
    schema: str = DEFAULT_SCHEMA,
) -> Flow[dict[str, str]]:
    """Puts job types on the allow-list, with their queues, and who answers for these. What an operator edited stays.

    Answer per name: created | changed | unchanged | kept (some fields are the operator's).
    """
    answer: dict[str, str] = yield registration.register_job_types(job_types, schema=schema)
    declared = list(queues_declared)
    if declared:
        yield queues.register_queues(declared, schema=schema)
    changed = {key: status for key, status in sorted(answer.items()) if status in ("created", "changed")}
    if changed:
        yield audit.record("definitions.register", "definition", None, after=changed, schema=schema)
    return answer


def _touched(queue: str, done: bool) -> str:
    if not done:
        raise UnknownQueue(queue)
    return queue


def _parts(ids: Iterable[UUID]) -> list[Sequence[UUID]]:
    # In order, over all parts: two operators with the same jobs lock them in the same order.
    asked = sorted(set(ids))
    return [asked[start : start + MOST_AT_ONCE] for start in range(0, len(asked), MOST_AT_ONCE)]
