"""Statuses of an enqueue as typed exceptions, raised after the statement: the transaction stays usable."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.domain.errors import (
    EnqueueRefused,
    EnvelopeIncomplete,
    InactiveJobType,
    KeyBusy,
    KeyTaken,
    PayloadRefused,
    PostmillError,
    SerializationConflict,
    TenantMoved,
    TenantMoving,
    UnknownJobType,
)
from postmill.domain.job import Enqueued, NewJob
from postmill.store.enqueue import Answer

MAY_REGISTER = "may_register"
"""The detail of `unknown_type` where the caller's role may register job types."""


def enqueued(job: NewJob, answer: Answer, known: Sequence[str]) -> Enqueued | EnqueueRefused:
    """What an answer means. `known` are the names of the job types, for the message about an unknown one."""
    if answer.id is not None and answer.status in ("created", "duplicate"):
        return Enqueued(answer.id, answer.status == "created")
    match answer.status:
        case "unknown_type":
            return UnknownJobType(job.job_type, known, answer.detail == MAY_REGISTER)
        case "inactive":
            return InactiveJobType(job.job_type)
        case "busy":
            return KeyBusy(job.key)
        case "other_type":
            return KeyTaken(job.key, answer.detail or "another type")
        case "serialization":
            return SerializationConflict()
        case "moving":
            return TenantMoving(answer.detail)
        case "moved":
            return TenantMoved(answer.detail)
        case "incomplete":
            return EnvelopeIncomplete(job.job_type, answer.detail or "a field")
        case "secret":
            return PayloadRefused(
                answer.detail or "args",
                "looks like a secret, which jobs of this type must not carry; pass a reference to it",
            )
        case "unencrypted":
            return PayloadRefused("args", "must be encrypted, for its definition asks for that")
        case "bad_payload":
            return PayloadRefused("args", answer.detail or "the database refused it")
        case "invalid":
            path, _, why = (answer.detail or "job: is invalid").partition(": ")
            return PayloadRefused(path, why)
        case status:
            raise PostmillError(
                f"the database answered an enqueue with {status!r}: is its schema newer than this?"
            )
