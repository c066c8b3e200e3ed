"""What a stored definition asks of a job that names its type only: checked before anything is sent.

A job made by `.new(…)` was checked by its own types; here are the others, from the API, the command line, `NewJob.of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from postmill.domain import argv
from postmill.domain.arg_schema import faults
from postmill.domain.argv_render import render
from postmill.domain.encryption import MARK, KeyMissing, KeyRing, NotOpened, is_sealed
from postmill.domain.errors import PayloadRefused
from postmill.domain.idempotency import default_key
from postmill.domain.job import NewJob
from postmill.domain.payload import decode
from postmill.domain.secrets_policy import refuse_secrets

ANYTHING = "{}"
"""The JSON Schema that every payload fits."""


@dataclass(frozen=True, slots=True)
class EnqueueRules:
    """The part of a definition that an enqueue needs.

    Attributes:
        key: the job type's own name, where it was asked for by an alias.
        arg_schema, argv_template: as JSON text; no template for what is no command.
        asks_key: jobs without an idempotency key get the default one.
        version: the definition's, by which who keeps these rules sees that they are old.
        queue: where its jobs go.
    """

    key: str
    kind: str
    arg_schema: str
    argv_template: str | None
    asks_key: bool
    secrets: str
    secret_keys: tuple[str, ...]
    encrypted: bool
    version: int
    queue: str

    def applied(self, job: NewJob, ring: Callable[[], KeyRing]) -> NewJob:
        """The job as it may be stored: checked, with a key where one is asked for, sealed where that is asked for.

        Raises:
            PayloadRefused: names the JSON pointer of the fault.
            SettingsError: it is to be sealed, and there are no keys.
        """
        if is_sealed(job.payload):
            raise PayloadRefused(f"#/{MARK}", "is a name that Postmill keeps for itself")
        self._check(job)
        if self.asks_key and job.key is None:
            job = replace(job, key=default_key(self.key, job.tenant_id, job.project_id, job.payload))
        return sealed(job, self.key, ring()) if self.encrypted else job

    def check_stored(self, job: NewJob, ring: KeyRing | None) -> None:
        """Checks the payload of a job that is stored already. One that cannot be opened with these keys is not judged.

        Raises:
            PayloadRefused: names the JSON pointer of the fault.
        """
        if is_sealed(job.payload):
            if ring is None:
                return
            try:
                job = replace(job, payload=ring.open(job.payload, job.tenant_id, self.key))
            except (KeyMissing, NotOpened):
                return
        self._check(job)

    def _check(self, job: NewJob) -> None:
        if self.secrets == "refuse":
            refuse_secrets(job.payload, self.secret_keys)
        if self.arg_schema == ANYTHING and self.argv_template is None:
            return  # Reading a payload is a fifth of what a job in bulk costs its client.
        payload = decode(job.payload)
        found = faults(self.arg_schema, payload, formats=self.kind != "function")
        if found:
            raise PayloadRefused(found[0].path, found[0].why, found[1:])
        if self.argv_template is not None and isinstance(payload, Mapping):
            # Once with the facts that are known by now: what the command cannot be given is refused here, too.
            render(argv.stored(self.argv_template), self.arg_schema, payload, facts_of(job))


def sealed(job: NewJob, job_type: str, ring: KeyRing) -> NewJob:
    """The job with its payload encrypted for its tenant and type."""
    if is_sealed(job.payload):
        return job
    return replace(job, payload=ring.seal(job.payload, job.tenant_id, job_type))


def facts_of(job: NewJob) -> dict[str, str | None]:
    """What a template may name, of a job that has no id yet."""
    return {
        "tenant_id": str(job.tenant_id),
        "project_id": str(job.project_id) if job.project_id else None,
        "job_id": str(job.tenant_id),
        "attempt": "1",
        "actor_id": job.actor_id,
        "request_id": job.request_id,
        "correlation_id": job.correlation_id,
        "idempotency_key": job.key,
    }
