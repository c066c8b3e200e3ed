"""Who may do what: one table of roles and actions, closed by default, and who is asking.

The database sees to it that a role stays within its tenant; here stands only what it may do there.
Source: seed 3, "Security / Safety", and the design of the control plane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal
from uuid import UUID

from postmill.domain.job_options import ActorType

Via = Literal["api", "console", "cli"]


class Role(StrEnum):
    """What somebody may do; the first three are always bound to a tenant."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    TENANT_ADMIN = "tenant_admin"
    PLATFORM_VIEWER = "platform_viewer"
    PLATFORM_OPERATOR = "platform_operator"
    SUPER_ADMIN = "super_admin"
    AUDITOR = "auditor"
    WORKER = "worker"


TENANT_ROLES = frozenset({Role.VIEWER, Role.OPERATOR, Role.TENANT_ADMIN})
"""Roles that cannot be given without a tenant."""

PLATFORM_ROLES = frozenset({Role.PLATFORM_VIEWER, Role.PLATFORM_OPERATOR, Role.SUPER_ADMIN})
"""Roles that cannot be given within a tenant. Auditors and workers may be of either kind."""


class Action(StrEnum):
    """Everything that a request may ask for, as `<what>.<verb>`."""

    JOBS_READ = "jobs.read"
    PAYLOADS_READ = "payloads.read"
    JOBS_ENQUEUE = "jobs.enqueue"
    JOBS_CANCEL = "jobs.cancel"
    JOBS_RETRY = "jobs.retry"
    JOBS_PRIORITY = "jobs.priority"
    JOBS_TAG = "jobs.tag"
    EVENTS_READ = "events.read"
    EVENTS_PUBLISH = "events.publish"
    TRIGGERS_READ = "triggers.read"
    TRIGGERS_RUN = "triggers.run"
    TRIGGERS_WRITE = "triggers.write"
    DEAD_READ = "dead.read"
    DEAD_REPLAY = "dead.replay"
    DEAD_DISCARD = "dead.discard"
    ERRORS_WRITE = "errors.write"
    DEFINITIONS_READ = "definitions.read"
    DEFINITIONS_WRITE = "definitions.write"
    INCIDENTS_READ = "incidents.read"
    INCIDENTS_ACT = "incidents.act"
    QUEUES_READ = "queues.read"
    QUEUES_WRITE = "queues.write"
    WORKERS_READ = "workers.read"
    WORKERS_WRITE = "workers.write"
    ARTIFACTS_READ = "artifacts.read"
    ARTIFACTS_DELETE = "artifacts.delete"
    BUDGETS_READ = "budgets.read"
    BUDGETS_REQUEST = "budgets.request"
    BUDGETS_WRITE = "budgets.write"
    KEYS_READ = "keys.read"
    KEYS_WRITE = "keys.write"
    TENANTS_READ = "tenants.read"
    TENANTS_WRITE = "tenants.write"
    AUDIT_READ = "audit.read"
    METRICS_READ = "metrics.read"
    DOCTOR_READ = "doctor.read"
    RETENTION_READ = "retention.read"
    RETENTION_WRITE = "retention.write"
    ARCHIVE_READ = "archive.read"
    WORK = "work"


_VIEWER = frozenset({
    Action.JOBS_READ, Action.EVENTS_READ, Action.TRIGGERS_READ, Action.DEAD_READ, Action.DEFINITIONS_READ,
    Action.QUEUES_READ, Action.INCIDENTS_READ, Action.BUDGETS_READ,
})  # fmt: skip
_OPERATOR = _VIEWER | {
    Action.PAYLOADS_READ, Action.JOBS_ENQUEUE, Action.JOBS_CANCEL, Action.JOBS_RETRY, Action.JOBS_PRIORITY,
    Action.JOBS_TAG, Action.EVENTS_PUBLISH, Action.TRIGGERS_RUN, Action.DEAD_REPLAY, Action.ARTIFACTS_READ, Action.INCIDENTS_ACT,
    Action.ARCHIVE_READ,
}  # fmt: skip
_TENANT_ADMIN = _OPERATOR | {
    Action.TRIGGERS_WRITE, Action.DEAD_DISCARD, Action.ARTIFACTS_DELETE, Action.KEYS_READ, Action.KEYS_WRITE,
    Action.AUDIT_READ, Action.RETENTION_READ, Action.BUDGETS_REQUEST,
}  # fmt: skip
_PLATFORM_VIEWER = _VIEWER | {
    Action.WORKERS_READ, Action.TENANTS_READ, Action.METRICS_READ, Action.DOCTOR_READ, Action.RETENTION_READ,
}  # fmt: skip
_PLATFORM_OPERATOR = (
    _PLATFORM_VIEWER
    | _OPERATOR
    | {
        Action.QUEUES_WRITE,
        Action.WORKERS_WRITE,
        Action.DEAD_DISCARD,
        Action.ERRORS_WRITE,
        Action.ARTIFACTS_DELETE,
    }
)

PERMISSIONS: dict[Role, frozenset[Action]] = {
    Role.VIEWER: _VIEWER,
    Role.OPERATOR: _OPERATOR,
    Role.TENANT_ADMIN: _TENANT_ADMIN,
    Role.PLATFORM_VIEWER: _PLATFORM_VIEWER,
    Role.PLATFORM_OPERATOR: _PLATFORM_OPERATOR,
    Role.SUPER_ADMIN: frozenset(set(Action) - {Action.WORK}),
    Role.AUDITOR: frozenset(
        {Action.AUDIT_READ, Action.JOBS_READ, Action.DEFINITIONS_READ, Action.TRIGGERS_READ}
    ),
    Role.WORKER: frozenset({Action.WORK}),
}
"""What each role may do. What is not here is denied."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, and within which scope.

    Attributes:
        actor_type, actor_id: whom the audit log names.
        role: what may be done.
        tenant_id: the tenant whose things are seen; None with a role of the platform is all of them.
        via: the face that he uses.
        address: where the request came from, as the server saw it.
    """

    actor_type: ActorType
    actor_id: str
    role: Role
    tenant_id: UUID | None = None
    via: Via = "api"
    address: str | None = field(default=None, compare=False)

    @property
    def platform(self) -> bool:
        """Whether things of every tenant are in scope."""
        return self.tenant_id is None and self.role not in TENANT_ROLES

    def may(self, action: Action) -> bool:
        """Whether the role is allowed it."""
        return action in PERMISSIONS[self.role]

    def may_hand_out(self, role: Role, tenant_id: UUID | None) -> bool:
        """Whether this principal may give somebody that role, in that tenant (None: the platform's).

        Never one that may more than its own, never in a tenant that is not its own. Only a super admin makes workers.
        """
        if (tenant_id is None and role in TENANT_ROLES) or (tenant_id is not None and role in PLATFORM_ROLES):
            return False
        if not self.platform and tenant_id != self.tenant_id:
            return False
        return self.role is Role.SUPER_ADMIN or PERMISSIONS[role] <= PERMISSIONS[self.role]
