"""What a person may ask of workers, and what is known of one. Flows, to be run as those of `commands` are; all acts are
audited.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.domain.errors import NotFound, PostmillError
from postmill.domain.suggest import did_you_mean
from postmill.store import workers as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.workers import Asked, HeldJob, RescuedJob, WorkerView

DAY = 86400.0


class WorkerRefused(PostmillError):
    """A worker is not asked, or its jobs are not taken back: it has ended, or it lives, or its program is not ours."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """What came of a rescue: the worker, and the jobs that were taken back (at most 1,000 at once)."""

    worker: WorkerView
    jobs: list[RescuedJob]


def worker(name: str | UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[WorkerView]:
    """One worker session: by its id, by the worker's id (its latest session), or by the only one that ends or begins so.

    Raises:
        NotFound: there is none, or several begin or end so.
    """
    if isinstance(name, UUID) or (id := _id(name)) is not None:
        only = name if isinstance(name, UUID) else id
        by_id: list[WorkerView] = yield store.read_workers(only=only, most=1, schema=schema)
        if by_id:
            return by_id[0]
    text = str(name)
    known: list[WorkerView] = yield store.read_workers(seen_within=30 * DAY, most=10_000, schema=schema)
    found = [one for one in known if one.worker_id == text]
    if not found and len(text) >= 4:
        found = [one for one in known if one.worker_id.startswith(text) or one.worker_id.endswith(text)]
    if len({one.worker_id for one in found}) > 1:
        raise NotFound(f"{len(found)} workers are called like {text[:80]!r}; give the whole id")
    if not found:
        live = [one.worker_id for one in known if one.stopped_at is None]
        raise NotFound(f"there is no worker {text[:80]!r}{did_you_mean(text[:80], live, noun='workers')}")
    return found[0]


def ask(
    name: str | UUID,
    asked: Asked,
    *,
    reason: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[WorkerView]:
    """Asks a worker: `drain` to claim nothing more, `resume` to claim again, `stop` to end once nothing runs.

    It hears of it at once where notifications arrive, and otherwise at its next sign of life (a third of its lease).
    Jobs that it holds and has not begun are given back; those that run are finished. A process that ended so has the exit
    code 0: whatever supervises it may start another one.

    Raises:
        NotFound: there is no such worker, or it is not yours to ask.
        WorkerRefused: its session has ended, or it works over HTTP and its program is not ours.
    """
    found = yield from worker(name, schema=schema)
    status: str = yield store.ask_worker(found.holder, asked, reason=reason, actor_id=actor_id, schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no worker {str(name)[:80]!r} that may be asked from here")
    if status == "over":
        raise WorkerRefused(f"worker {found.worker_id} does not live any more: {_how(found)}")
    if status == "http":
        raise WorkerRefused(f"worker {found.worker_id} works over HTTP; its own program decides when it ends")
    again: WorkerView = yield from worker(found.holder, schema=schema)
    return again


def held(name: str | UUID, *, most: int = 100, schema: str = DEFAULT_SCHEMA) -> Flow[list[HeldJob]]:
    """What a worker holds, the oldest first: what runs, and what it has ready.

    Raises:
        NotFound: there is no such worker.
    """
    found = yield from worker(name, schema=schema)
    jobs: list[HeldJob] = yield store.held_jobs(found.holder, most, schema=schema)
    return jobs


def rescue(
    name: str | UUID,
    *,
    reason: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Rescued]:
    """Takes back what a worker held whose lease has ended, at once: each job uses up an attempt and runs again, or is given
    up where that was the last one. Other workers do the same within seconds where one lives; this is for when none does.

    Raises:
        NotFound: there is no such worker, or it is not yours to ask.
        WorkerRefused: its lease holds. What it holds would run twice.
    """
    found = yield from worker(name, schema=schema)
    status, jobs = yield store.rescue_worker(found.holder, reason=reason, actor_id=actor_id, schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no worker {str(name)[:80]!r} that may be asked from here")
    if status == "alive":
        raise WorkerRefused(
            f"worker {found.worker_id} lives: its jobs would run twice; ask it to stop instead"
        )
    return Rescued(found, jobs)


def _how(worker: WorkerView) -> str:
    return "it stopped cleanly" if worker.clean else "its lease ended"


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
