"""Jobs as their stored definitions want them: checked, keyed, sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from postmill.domain.encryption import KeyRing
from postmill.domain.enqueue_rules import EnqueueRules, sealed
from postmill.domain.idempotency import default_key
from postmill.domain.job import NewJob
from postmill.store.definitions import enqueue_rules
from postmill.store.enqueue import Answer
from postmill.store.flow import Flow


@lru_cache(maxsize=1)
def key_ring() -> KeyRing:
    """The keys of the settings and the environment of this process, read once.

    Raises:
        SettingsError: there are none, or they cannot be read.
    """
    from postmill.domain.settings_load import load  # most programs never ask for a key

    return KeyRing.of(load().encryption.written_keys)


def ruled(schema: str, jobs: Sequence[NewJob]) -> Flow[list[NewJob]]:
    """The jobs, ready to be sent. Those that name their type only cost one look at the definitions, all together.

    Raises:
        PayloadRefused: a payload does not fit its definition; names the JSON pointer.
        SettingsError: a payload is to be encrypted, and there are no keys.
    """
    names = sorted({job.job_type for job in jobs if job.definition is None})
    if not names:
        return [of_code(job) for job in jobs]
    rules: dict[str, EnqueueRules] = yield enqueue_rules(names, schema=schema)
    return [
        of_code(job)
        if job.definition is not None
        else rules[job.job_type].applied(job, key_ring)
        if job.job_type in rules
        else job  # the enqueue itself will say that it is unknown
        for job in jobs
    ]


def amended(job: NewJob, answer: Answer) -> NewJob | None:
    """What to send in place of a job that its stored definition refused, where the code knew less; None: nothing helps.

    An operator may ask for a strict envelope or encryption that the code of the caller does not know of.
    """
    if answer.status == "unencrypted":
        name = job.definition.name if job.definition is not None else job.job_type
        return sealed(job, name, key_ring())
    if answer.status == "incomplete" and answer.detail == "idempotency_key" and job.key is None:
        return replace(job, key=default_key(job.job_type, job.tenant_id, job.project_id, job.payload))
    return None


def of_code(job: NewJob) -> NewJob:
    """A job that the code knows all about: sealed where its type is encrypted."""
    definition = job.definition
    if definition is None or not definition.encrypted:
        return job
    return sealed(job, definition.name, key_ring())
