"""Fix-forward: a payload that is edited before its job runs again, checked as the definition wants it now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.edits import changes, merged
from postmill.domain.encryption import MARK, KeyRing
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import PayloadRefused
from postmill.domain.job import NewJob
from postmill.operate.payloads import readable
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.definitions import enqueue_rules
from postmill.store.flow import Flow


@dataclass(frozen=True, slots=True)
class Edited:
    """A payload for a replay.

    Attributes:
        payload: as it is stored: sealed where the definition wants that.
        changes: what is other than before, as `domain.edits.changes` has it: without secrets, and without any value
            where payloads are encrypted.
        version: of the definition that it was checked against; None: there is none.
    """

    payload: bytes
    changes: list[dict[str, Any]]
    version: int | None


def edited(
    job_type: str,
    tenant: UUID,
    stored: Any,
    *,
    payload: Mapping[str, Any] | None = None,
    patch: Mapping[str, Any] | None = None,
    ring: Callable[[], KeyRing],
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Edited]:
    """Another payload for a job that runs again: `payload` whole, or `stored` after a merge patch (RFC 7396).

    Args:
        stored: the payload that the job has, as it was read.
        ring: gives the keys of encrypted payloads; called only where one is.

    Raises:
        PayloadRefused: it does not fit the definition as it is now; names the JSON pointer of the fault. Or the old
            one cannot be opened with these keys, and so not patched.
        SettingsError: it is to be encrypted, and there are no keys.
    """
    sealed = isinstance(stored, dict) and stored.keys() == {MARK}
    old = readable(stored, tenant, job_type, ring()) if sealed else stored
    opened = not (isinstance(old, dict) and old.keys() == {MARK})
    if patch is not None and not opened:
        raise PayloadRefused("#", "the payload cannot be opened with these keys; give a whole new one")
    new = merged(old, patch) if patch is not None else dict(payload or {})
    rules: dict[str, EnqueueRules] = yield enqueue_rules([job_type], schema=schema)
    own = rules.get(job_type)
    job = NewJob.of(job_type, new, tenant_id=tenant)
    made = job.payload if own is None else own.applied(job, ring).payload
    names = () if own is None else own.secret_keys
    hide = sealed or (own is not None and own.encrypted)
    told = changes(old if opened else {}, new, names, hide=hide)
    return Edited(made, told, None if own is None else own.version)
