"""Everything that Postmill raises at its callers, with what went wrong and what to do in the message.

A refused enqueue is raised *after* the statement that was refused, so the caller's transaction stays usable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from postmill.domain.suggest import did_you_mean, suggest

if TYPE_CHECKING:
    from postmill.domain.job import Enqueued


class PostmillError(Exception):
    """Base of every error that Postmill raises on purpose."""


class DefinitionError(PostmillError):
    """A job type, policy or registry is written wrongly; raised where it is defined, never at run time."""


class DefinitionConflict(PostmillError):
    """A stored definition cannot be written as asked for, because of others or of a change that came before."""


class EnqueueRefused(PostmillError):
    """Base of the reasons for which an enqueue created no job. The transaction is still usable."""


class UnknownJobType(EnqueueRefused):
    """No job type of this name (or alias) is registered.

    Attributes:
        name: the name that was asked for.
        known: the names and aliases of the active job types.
        may_register: whether the database role that asked may register job types; None where it only looked.
    """

    def __init__(self, name: str, known: Iterable[str] = (), may_register: bool | None = None) -> None:
        self.name = name
        self.known = tuple(known)
        self.may_register = may_register
        super().__init__(name, self.known, may_register)

    def __str__(self) -> str:
        hint = did_you_mean(self.name, self.known, noun="job types")
        said = f"unknown job type {self.name!r}{hint or ': no job type is registered yet'}"
        if self.may_register is None:
            return said
        case = "if it is a new one, " if suggest(self.name, self.known) else ""
        if self.may_register:
            case = case if self.known else "wait for a worker that has it to start, or "
            return f"{said}; {case}register it: postmill jobs register MODULE"
        return (
            f"{said}; {case}it must be registered, which this database role may not: start a worker with its"
            " module, or let the schema's owner run: postmill jobs register MODULE"
        )


class InactiveJobType(EnqueueRefused):
    """The job type exists, but an operator has switched it off."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def __str__(self) -> str:
        return f"job type {self.name!r} is inactive: an operator switched it off"


class KeyBusy(EnqueueRefused):
    """Another open transaction holds this idempotency key, and the allowed wait is over. Try again."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        super().__init__(key)

    def __str__(self) -> str:
        return f"idempotency key {self.key!r} is held by a transaction that is still open; try again"


class KeyTaken(EnqueueRefused):
    """The idempotency key belongs to a job of another type."""

    def __init__(self, key: str | None, other_type: str) -> None:
        self.key = key
        self.other_type = other_type
        super().__init__(key, other_type)

    def __str__(self) -> str:
        return f"idempotency key {self.key!r} is taken by a job of type {self.other_type!r}"


class SerializationConflict(EnqueueRefused):
    """Two transactions that touch the same rows collided (SQLSTATE 40001 or 40P01). Retry the transaction."""

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__(detail)

    def __str__(self) -> str:
        return "this collided with another transaction; retry yours" + (
            f" ({self.detail})" if self.detail else ""
        )


class TenantAway(EnqueueRefused):
    """The job's tenant is not in this database: it moves, or has moved.

    Attributes:
        cell: where it comes from or goes to, or where it lives now.
    """

    def __init__(self, cell: str | None = None) -> None:
        self.cell = cell
        super().__init__(cell)


class TenantMoving(TenantAway):
    """The job's tenant is just being carried to another cell. Try again in a second."""

    def __str__(self) -> str:
        return "this tenant is being moved to another cell; try again in a second"


class TenantMoved(TenantAway):
    """The job's tenant lives in another cell, `cell`: ask there."""

    def __str__(self) -> str:
        return f"this tenant lives in cell {self.cell!r}: connect there, or let postmill.Cells find the way"


class PayloadRefused(EnqueueRefused):
    """The payload or an option cannot be stored as it is. `path` says where, as in `args.a[0]`."""

    def __init__(self, path: str, why: str, more: Sequence[Fault] = ()) -> None:
        self.path = path
        self.why = why
        self.more = tuple(more)
        super().__init__(path, why, self.more)

    def __str__(self) -> str:
        return "; ".join([f"{self.path}: {self.why}", *map(str, self.more)])


class WorkflowRefused(EnqueueRefused):
    """A workflow or a batch cannot be as it is written; nothing of it was made."""


class EnvelopeIncomplete(EnqueueRefused):
    """The definition has a strict envelope (seed 5), and the job lacks a required field of it."""

    def __init__(self, job_type: str, field: str) -> None:
        self.job_type = job_type
        self.field = field
        super().__init__(job_type, field)

    def __str__(self) -> str:
        how = {
            "org_id": "name a tenant that exists (the default tenant does not count)",
            "idempotency_key": "give it a key",
        }
        hint = how.get(self.field, f"give it {self.field}=…")
        return f"a job of type {self.job_type!r} needs {self.field}: its definition has a strict envelope; {hint}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a value: where, and why."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


class SomeRefused(EnqueueRefused):
    """Some jobs of one call were refused; the others are enqueued, if the caller's transaction commits.

    `Client.enqueue_many` has a transaction of its own, and then none is enqueued.

    Attributes:
        answers: one element per job, in order: Enqueued, or the error that refused it.
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


class Undecodable(PostmillError):
    """A stored payload does not fit the handler's arguments; the job is buried as `undecodable`."""

    def __init__(self, job_type: str, faults: Sequence[Fault]) -> None:
        self.job_type = job_type
        self.faults = tuple(faults)
        super().__init__(job_type, self.faults)

    def __str__(self) -> str:
        return f"payload does not fit {self.job_type!r}: " + "; ".join(map(str, self.faults))


class NotFound(PostmillError):
    """No such job, queue, worker or other thing, or none that this caller may see."""


class AlreadyThere(PostmillError):
    """Something of this name exists already."""


class InvalidValue(PostmillError, ValueError):
    """A value is none of those that are possible there; says what was expected."""


class NotPermitted(PostmillError):
    """Whoever asks may not do this: it is above his role, or outside of his tenant."""


class UnknownQueue(PostmillError):
    """No queue of this name, or several that differ in case only."""

    def __init__(self, name: str, known: Iterable[str] = (), ambiguous: Iterable[str] = ()) -> None:
        self.name = name
        self.known = tuple(known)
        self.ambiguous = tuple(ambiguous)
        super().__init__(name, self.known, self.ambiguous)

    def __str__(self) -> str:
        if self.ambiguous:
            return f"queue {self.name!r} could be any of: {', '.join(self.ambiguous)}; spell it exactly"
        return f"unknown queue {self.name!r}{did_you_mean(self.name, self.known, noun='queues')}"


class UnknownBudget(PostmillError):
    """There is no budget of this name that the job's tenant may spend from; another attempt would find none either.

    Attributes:
        name: what was asked for.
        known: the names of the budgets there are.
    """

    retryable = False

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(name, self.known)

    def __str__(self) -> str:
        hint = did_you_mean(self.name, self.known, noun="budgets")
        return f"there is no budget {self.name[:80]!r}{hint or '; make one: postmill budget set NAME --limit 500'}"


class JobDidNotSucceed(PostmillError):
    """A job that was waited for ended in another way than success; `job` is its last known view."""

    def __init__(self, job: object) -> None:
        self.job = job
        super().__init__(job)

    def __str__(self) -> str:
        number, job_type, status, message = (
            getattr(self.job, name, None) for name in ("id", "job_type", "status", "error_message")
        )
        return f"job {number} ({job_type}) ended {status}" + (f": {message}" if message else "")


class WaitTimeout(PostmillError, TimeoutError):
    """The job did not end within the time that the caller was willing to wait. It goes on regardless."""


class TimedOut(PostmillError, TimeoutError):
    """An attempt ran longer than its timeout, counted from the start of the handler."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(seconds)

    def __str__(self) -> str:
        return f"the attempt ran longer than its timeout of {self.seconds:g} s"


class ScopeViolation(PostmillError):
    """A job's organization or project is not what it must be; it was not executed, and is not tried again."""

    retryable = False


class LeaseLost(PostmillError):
    """This worker session no longer holds the job; whatever it reports changes nothing."""


class ResourceFailed(PostmillError):
    """A `@resource` could not be opened, or is not open in this process; the message names it, and says why."""


class SettingsError(PostmillError):
    """A setting is unknown, has a wrong value or is missing; the message names key and file."""


class ArtifactRefused(PostmillError, ValueError):
    """An artifact cannot be as it was asked for (name, media type, size, checksum, number); nothing was kept of it."""

    retryable = False


class ArtifactTooLarge(ArtifactRefused):
    """An artifact is larger than the setting `artifacts.max_bytes` allows; nothing was kept of it."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(most)

    def __str__(self) -> str:
        return f"an artifact may have at most {self.most} bytes (artifacts.max_bytes), and this one has more"


class ArtifactGone(NotFound):
    """The artifact was there, and has expired."""

    retryable = False


class ArtifactDamaged(PostmillError):
    """What the store has is not what was put there: another size or checksum, or no file at all."""

    retryable = False


class ArtifactStoreFailed(PostmillError):
    """The store of artifacts could not do what was asked of it; a job that meets this is tried again."""

    retryable = True


class ArtifactStoreMissing(SettingsError):
    """No store of artifacts is configured here, or what it needs is not installed."""


class ArchiveDamaged(PostmillError):
    """What the cold archive has is not what was written there: a file or a manifest is missing, cut short or changed."""

    retryable = False


class ArchiveFailed(PostmillError):
    """The cold archive's store could not do what was asked of it; nothing is dropped that is not safely there."""

    retryable = True


class ArchiveMissing(SettingsError):
    """No cold archive is configured here, or what it needs is not installed."""


class DatabaseMissing(PostmillError):
    """No database was configured, or the configured one cannot be reached."""


class SchemaMissing(PostmillError):
    """The database has no Postmill schema yet; run `postmill migrate`."""


class SchemaTooOld(PostmillError):
    """The database's schema is older than this version of Postmill needs; run `postmill migrate`."""


class SchemaTooNew(PostmillError):
    """The database's schema has breaking changes that this version of Postmill does not know; upgrade it."""
