"""What stands between a claimed job and the handler of a guarded type: its organization, and the seal of its payload.

Types that are neither strict nor encrypted have no guard; the hot path asks for one attribute.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.encryption import KeyRing, is_sealed
from postmill.domain.errors import ScopeViolation, SettingsError
from postmill.domain.payload import decode
from postmill.engine.work import PAYLOAD, PROJECT, TENANT, Work

CheckOrg = Callable[[UUID, UUID | None], Awaitable[tuple[bool, bool]]]
"""Does the organization exist, and is the project one of its own?"""


@dataclass(frozen=True, slots=True)
class Guard:
    """Admits one job type's jobs.

    Attributes:
        job_type: the name that payloads of this type are sealed for.
        strict: check `org_id` again before each execution (seed 5, ownership and security).
        ring: keys to open payloads; None: this worker has none.
        check_org: asks the database.
    """

    job_type: str
    strict: bool
    ring: KeyRing | None
    check_org: CheckOrg

    async def admit(self, work: Work) -> bytes:
        """The payload in clear.

        Raises:
            ScopeViolation: the organization is not what it must be.
            KeyMissing, NotOpened: the payload cannot be opened here, or at all.
        """
        payload = self.opened(work)
        if self.strict:
            await self._check(work, payload)
        return payload

    def opened(self, work: Work) -> bytes:
        """The payload in clear, without another check."""
        payload: bytes = work.row[PAYLOAD][1:]
        if not is_sealed(payload):
            return payload
        if self.ring is None:
            raise SettingsError("the payload is encrypted, and encryption.keys of this worker is empty")
        return self.ring.open(payload, UUID(bytes=work.row[TENANT]), self.job_type)

    async def _check(self, work: Work, payload: bytes) -> None:
        tenant = UUID(bytes=work.row[TENANT])
        project = UUID(bytes=work.row[PROJECT]) if work.row[PROJECT] else None
        exists, owns = await self.check_org(tenant, project)
        if not exists:
            raise ScopeViolation(f"org_id {tenant} does not exist (any more)")
        if not owns:
            raise ScopeViolation(f"project_id {project} belongs to another organization than {tenant}")
        inside: Any = decode(payload)
        for name, own in (("org_id", tenant), ("project_id", project)):
            told = inside.get(name) if isinstance(inside, dict) else None
            if told is not None and own is not None and str(told).lower() != str(own):
                raise ScopeViolation(f"the payload names another {name} than the job's own, {own}")
