"""Statuses of an enqueue as typed exceptions, raised after the statement: the transaction stays usable."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.domain.errors import (
    EnqueueRefused,
    InactiveJobType,
    KeyBusy,
    KeyTaken,
    PayloadRefused,
    PostmillError,
    SerializationConflict,
    UnknownJobType,
)
from postmill.domain.job import Enqueued, NewJob
from postmill.store.enqueue import Answer


class SomeRefused(EnqueueRefused):
    """Some jobs of one call were refused; the others are enqueued, if the transaction will be committed.

    `answers` holds one element per job, in order: Enqueued, or the error that refused it.
    """

    def __init__(self, answers: Sequence[Enqueued | EnqueueRefused]) -> None:
        self.answers = tuple(answers)
        super().__init__(self.answers)

    @property
    def refused(self) -> dict[int, EnqueueRefused]:
        """The errors by the position of their jobs."""
        return {n: found for n, found in enumerate(self.answers) if isinstance(found, EnqueueRefused)}

    def __str__(self) -> str:
        position, first = next(iter(self.refused.items()))
        return f"{len(self.refused)} of {len(self.answers)} jobs were refused; job {position}: {first}"


def enqueued(job: NewJob, answer: Answer, known: Sequence[str]) -> Enqueued | EnqueueRefused:
    """What an answer means. `known` are the names of the job types, for the message about an unknown one."""
    if answer.id is not None and answer.status in ("created", "duplicate"):
        return Enqueued(answer.id, answer.status == "created")
    match answer.status:
        case "unknown_type":
            return UnknownJobType(job.job_type, known)
        case "inactive":
            return InactiveJobType(job.job_type)
        case "busy":
            return KeyBusy(job.key)
        case "other_type":
            return KeyTaken(job.key, answer.detail or "another type")
        case "serialization":
            return SerializationConflict()
        case "bad_payload":
            return PayloadRefused("args", answer.detail or "the database refused it")
        case status:
            raise PostmillError(
                f"the database answered an enqueue with {status!r}: is its schema newer than this?"
            )
