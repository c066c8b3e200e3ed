"""Payloads as people may read them: opened where they are encrypted, and without their secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from postmill.domain.encryption import MARK, KeyMissing, KeyRing, NotOpened, is_sealed, sealed_part
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import NotFound
from postmill.domain.job import JobView
from postmill.domain.payload import decode
from postmill.domain.redaction import redacted
from postmill.store import envelope as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.definitions import enqueue_rules
from postmill.store.flow import Flow


def shown(job: JobView, ring: KeyRing | None, *, schema: str = DEFAULT_SCHEMA) -> Flow[JobView]:
    """The job with payload and result as they may be shown to somebody who may see payloads.

    Args:
        job: as it was read.
        ring: keys that open encrypted payloads; without the right one the payload is the name of its key.
        schema: where Postmill's tables are.
    """
    names = yield from secret_names(job.job_type, schema)
    payload = readable(job.payload, job.tenant_id, job.job_type, ring)
    return replace(job, payload=redacted(payload, names), result=redacted(job.result, names))


def envelope(id: UUID, ring: KeyRing | None, *, schema: str = DEFAULT_SCHEMA) -> Flow[dict[str, Any]]:
    """A job as the contract of seed 5 has it (see `domain.envelope`), its payload as `shown` gives it.

    Raises:
        NotFound: there is no such job.
    """
    found: dict[str, Any] | None = yield store.read_envelope(id, schema=schema)
    if found is None:
        raise NotFound(f"there is no job {id}")
    names = yield from secret_names(found["job_type"], schema)
    payload = readable(found["payload"], UUID(found["org_id"]), found["job_type"], ring)
    return found | {"payload": redacted(payload, names)}


def readable(payload: Any, tenant: UUID, job_type: str, ring: KeyRing | None) -> Any:
    """A payload in clear. What cannot be opened here is shown as `{"$encrypted": {"key": name}}`, without its data."""
    if not (isinstance(payload, dict) and payload.keys() == {MARK}):
        return payload
    raw = orjson.dumps(payload)
    try:
        if ring is not None and is_sealed(raw):
            return decode(ring.open(raw, tenant, job_type))
    except (KeyMissing, NotOpened):
        pass  # the name of the key says what is missing
    part = sealed_part(raw) or {}
    return {MARK: {"key": part.get("key")}}


def opened(text: str, tenant: UUID, job_type: str, ring: KeyRing | None) -> str:
    """The JSON text of a payload in clear, digit for digit as it is stored; as `readable` where it cannot be opened."""
    if not text.startswith('{"' + MARK):
        return text
    payload = decode(text)
    if not (isinstance(payload, dict) and payload.keys() == {MARK}):
        return text
    raw = orjson.dumps(payload)
    try:
        if ring is not None and is_sealed(raw):
            return ring.open(raw, tenant, job_type).decode()
    except (KeyMissing, NotOpened):
        pass
    return orjson.dumps(readable(payload, tenant, job_type, None)).decode()


def secret_names(job_type: str, schema: str) -> Flow[tuple[str, ...]]:
    rules: dict[str, EnqueueRules] = yield enqueue_rules([job_type], schema=schema)
    return rules[job_type].secret_keys if job_type in rules else ()
