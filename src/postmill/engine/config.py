"""How a worker works: everything that is not about one queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from postmill.domain.encryption import KeyRing
from postmill.domain.letter_care import LetterCare
from postmill.domain.settings_archive import ArchiveSettings
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.engine.upkeep.retention import RetentionConfig
from postmill.engine.work import QueueSlots

if TYPE_CHECKING:
    from postmill.engine.upkeep.round import MakeRound


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """Seconds where nothing else is said.

    Attributes:
        lease: how long a session's right to its jobs lasts without renewal; renewed every third of it.
        grace: how long a drain waits for running jobs before it puts them back.
        notify: ring and be rung by LISTEN/NOTIFY; without it polling only.
        listen_dsn: where to LISTEN, if not at the database itself (behind pgbouncer); None: the same.
        poll_interval: default time between two looks of a sleeping worker that nobody rings.
        prefetch: most tickets held in memory ahead of free slots; None adapts it to a quarter of a second's work.
        threads: threads for plain functions; None: as many as there are slots.
        max_jobs: drain after so many jobs, for a supervisor to put a fresh process in the place; None: never.
        prepared: prepare statements on the server; off behind a pooler that does not bear it (pgbouncer before 1.21).
        upkeep: run the rounds of upkeep (promoter, rescuer, pruner, sweeper, monitor) in this process.
        build: what the application calls the code that runs here, such as a release or a commit; None says nothing.
        work: claim and run jobs; without it only upkeep is done.
        statistics: count what became of jobs, for rollups and error groups, and sum it up.
        modules: what a child process imports to find its handler: dotted names or paths of files.
        memory_limit: bytes of address space of a job's own child process; None for no limit.
        max_lost: deaths of a job's own child process before it is buried.
        probe_every: seconds between two round trips of the listener to itself.
        retention: how long what is kept, and how much time one partition holds.
        worker_limits: this process's shares of limits per worker command, by job type; default: the type's own.
        archive: where what is past its retention goes; without one it is dropped.
        artifacts: where files go that jobs make, and how long they stay.
        keys: keys that open encrypted payloads; None: there are none.
        rounds: more rounds of upkeep, by the role of their connection.
        budgets: those that the settings declare, as `declared_budgets` gives them.
        letters: when dead letters raise an incident, and which are replayed by themselves.
        adopt: gives the slots of a queue of stored commands that is not served yet, None to leave it to others; None:
            only the queues that were given are served.
    """

    lease: float = 30.0
    grace: float = 30.0
    notify: bool = True
    listen_dsn: str | None = None
    poll_interval: float = 10.0
    prefetch: int | None = None
    threads: int | None = None
    max_jobs: int | None = None
    prepared: bool = True
    upkeep: bool = True
    build: str | None = None
    work: bool = True
    statistics: bool = True
    modules: tuple[str, ...] = ()
    memory_limit: int | None = None
    max_lost: int = 3
    probe_every: float = 10.0
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    worker_limits: dict[str, int] = field(default_factory=dict)
    artifacts: ArtifactSettings = field(default_factory=ArtifactSettings)
    keys: KeyRing | None = None
    rounds: Mapping[str, MakeRound] = field(default_factory=dict)
    budgets: tuple[dict[str, Any], ...] = ()
    letters: LetterCare = field(default_factory=LetterCare)
    adopt: Callable[[str], QueueSlots | None] | None = None
