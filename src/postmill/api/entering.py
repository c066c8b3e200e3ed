"""How a job comes in by HTTP: checked against its definition, then through the door, in one round trip as a rule."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NoReturn

from postmill.api.asked import Asked
from postmill.api.problems import Problem, not_found
from postmill.domain.encryption import KeyRing
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import (
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
from postmill.domain.job import NewJob
from postmill.store.definitions import enqueue_rules
from postmill.store.doors import Entered
from postmill.store.reads import read_job_type_names

TRIES = 3
"""A definition that changes more often than this within one request is somebody's mistake."""


async def enter(asked: Asked, job: NewJob) -> tuple[str, Entered]:
    """Enqueues one job: created, or the duplicate that its key names; with the key of its definition.

    Raises:
        Problem: 404 for a tenant or project out of scope, 409 for a suspended one.
        EnqueueRefused: every other refusal, in its own words.
    """
    for _ in range(TRIES):
        remembered = asked.backend.rules.get(job.job_type) is not None
        rules = await known(asked, job.job_type)
        try:
            made = (
                job
                if rules is None
                else rules.applied(replace(job, job_type=rules.key), partial(ring_of, asked))
            )
        except PayloadRefused:
            if not remembered:
                raise
            # By rules that may be old: once more, by those of now.
            asked.backend.rules.forget(job.job_type)
            continue
        entered = await asked.enqueue(made, None if rules is None else rules.version)
        if entered.status in ("created", "duplicate"):
            return made.job_type, entered
        if entered.status != "changed":
            await _refuse(asked, made, entered)
        asked.backend.rules.forget(job.job_type)
    raise SerializationConflict("the definition changes all the time")


async def known(asked: Asked, name: str) -> EnqueueRules | None:
    """The rules for a job type, by its key or an alias; None: there is none."""
    rules = asked.backend.rules.get(name)
    if rules is None:
        found = await asked.run(enqueue_rules([name], schema=asked.schema))
        rules = found.get(name)
        if rules is not None:
            asked.backend.rules.put(name, rules)
    return rules


def ring_of(asked: Asked) -> KeyRing:
    """The keys of encrypted payloads. Raises Problem 503 where this server has none."""
    ring = asked.backend.settings.encryption.ring
    if ring is None:
        raise Problem(
            503, "no-encryption-keys", "payloads of this definition are encrypted; this server has no keys"
        )
    return ring


async def _refuse(asked: Asked, job: NewJob, entered: Entered) -> NoReturn:
    match entered.status:
        case "unknown_tenant":
            raise not_found("tenant")
        case "unknown_project":
            raise not_found("project")
        case "suspended":
            raise Problem(409, "tenant-suspended", "this tenant is suspended")
        case "unknown_type":
            raise UnknownJobType(job.job_type, await asked.run(read_job_type_names(schema=asked.schema)))
        case "inactive":
            raise InactiveJobType(job.job_type)
        case "busy":
            raise KeyBusy(job.key)
        case "other_type":
            raise KeyTaken(job.key, entered.detail or "another type")
        case "serialization":
            raise SerializationConflict()
        case "moving":
            raise TenantMoving(entered.detail)
        case "moved":
            raise TenantMoved(entered.detail)
        case "incomplete":
            raise PayloadRefused(
                entered.detail or "envelope", "is missing: the definition has a strict envelope"
            )
        case "secret":
            raise PayloadRefused(
                entered.detail or "args", "looks like a secret, which jobs of this type must not carry"
            )
        case status:
            raise PostmillError(f"the database answered an enqueue with {status!r}: is its schema newer?")
