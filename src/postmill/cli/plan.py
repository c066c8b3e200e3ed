"""What a worker command is to do, from its options and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from postmill.alerts.equipment import Equipment
from postmill.cli.errors import CliError
from postmill.cli.modules import load_registry
from postmill.cli.queues_arg import match_queues, parse_queues
from postmill.cli.shares import Share, divide, shares
from postmill.domain.errors import SettingsError
from postmill.domain.job_type_options import DEFAULT_QUEUE
from postmill.domain.letter_care import LetterCare
from postmill.domain.registry import Registry
from postmill.domain.settings import Settings
from postmill.domain.settings_budgets import declared_budgets
from postmill.domain.slot_range import Slots, least_of, most_of, slots_between
from postmill.engine.config import WorkerConfig
from postmill.engine.upkeep.retention import RetentionConfig
from postmill.engine.work import QueueSlots

MIB = 2**20

UPKEEP_PROCESSES = 2
"""So many processes of one command run the rounds of upkeep in a cell: one more than needed, in case that one hangs."""


@dataclass(frozen=True)
class Plan:
    """Job types, and for each process its share of slots and limits.

    `adopts`: nobody named the queues, so those of stored commands are served, too, as they come. `equipment`: what
    escalation adds to each process.
    """

    registry: Registry
    shares: list[Share]
    settings: Settings
    modules: tuple[str, ...]
    adopts: bool
    equipment: Equipment | None = None
    cells: int = 1

    @property
    def slots(self) -> dict[str, Slots]:
        """Slots by queue over all processes."""
        least: dict[str, int] = {}
        most: dict[str, int] = {}
        for share in self.shares:
            for queue, count in share.slots.items():
                least[queue] = least.get(queue, 0) + least_of(count)
                most[queue] = most.get(queue, 0) + most_of(count)
        return {queue: slots_between(least[queue], most[queue]) for queue in most}

    def queues(self, index: int) -> dict[str, QueueSlots]:
        """The queues of one process."""
        made = {}
        for name, count in self.shares[index].slots.items():
            known = self.settings.queue(name)
            priority = self.registry.priority_of(name)
            made[name] = QueueSlots(name, count, priority=priority, poll_interval=known.poll_interval)
        return made if self.equipment is None else made | self.equipment.queues()

    @property
    def served(self) -> Registry:
        """The job types, with the one that notifies."""
        return self.registry if self.equipment is None else self.registry.joined(self.equipment.registry)

    def adopted(self, index: int, name: str) -> QueueSlots | None:
        """One process's share of a queue of stored commands; None: it has no slot of it."""
        known = self.settings.queue(name)
        count = divide(most_of(known.slots), len(self.shares))[index]
        if not count:
            return None
        least = max(1, divide(least_of(known.slots), len(self.shares))[index])
        slots = slots_between(least, count)
        priority = self.registry.priority_of(name) if known.priority is None else known.priority
        return QueueSlots(name, slots, priority=priority, poll_interval=known.poll_interval)

    def config(self, index: int) -> WorkerConfig:
        """How one process works."""
        return replace(
            base_config(self.settings),
            upkeep=index // self.cells < UPKEEP_PROCESSES,
            modules=self.modules,
            worker_limits=self.shares[index].limits,
            adopt=partial(self.adopted, index) if self.adopts else None,
            rounds={} if self.equipment is None else self.equipment.rounds,
        )


def base_config(settings: Settings) -> WorkerConfig:
    """How every process of ours works, by the settings."""
    worker = settings.worker
    return WorkerConfig(
        build=settings.build,
        lease=worker.lease,
        grace=worker.grace,
        notify=settings.notify,
        listen_dsn=settings.listen_dsn,
        prefetch=worker.prefetch,
        threads=worker.thread_slots,
        max_jobs=worker.max_jobs_per_process,
        memory_limit=None if worker.child_memory is None else worker.child_memory * MIB,
        max_lost=settings.retry.max_lost,
        prepared=settings.prepared_statements,
        retention=RetentionConfig(
            settings.retention.seconds, settings.partition_width, settings.retention.keep_reasons
        ),
        archive=settings.archive,
        artifacts=settings.artifacts,
        keys=settings.encryption.ring,
        budgets=tuple(declared_budgets(settings.budgets)),
        letters=LetterCare.of(settings),
    )


def make_plan(
    modules: Sequence[str],
    queues: Sequence[str],
    processes: int | None,
    settings: Settings,
    stored: Callable[[], Mapping[str, bool]] = dict,
) -> Plan:
    """The plan of `postmill worker MODULE… --queues … --processes N`.

    Without --queues every queue that the job types belong to is served, with the slots that the settings give it, and
    those of stored commands. `stored` tells the database's queues, and whether commands belong to them; it is asked
    where a queue is named that the modules do not know.
    Raises CliError, SettingsError, UnknownQueue, DefinitionError.
    """
    registry = load_registry(modules, settings)
    of_commands: Mapping[str, bool] = {}
    if queues:
        asked = parse_queues(queues)
        own = {name.casefold() for name in registry.queues}
        if not own.issuperset(name.casefold() for name in asked):
            of_commands = stored()
        slots = match_queues(asked, [*registry.queues, *settings.queues, *of_commands])
    elif not modules:
        slots = {DEFAULT_QUEUE: settings.queue(DEFAULT_QUEUE).slots or 1}
    else:
        slots = {name: settings.queue(name).slots for name in registry.queues}
        slots = {name: count for name, count in slots.items() if count}
        if not slots:
            raise SettingsError(
                "every queue of these job types has 0 slots in the settings: nothing to serve"
            )
    idle = [name for name in slots if not registry.of_queue(name) and not of_commands.get(name)]
    if idle and modules:
        held = ", ".join(registry.queues)
        raise CliError(
            f"no job type of {', '.join(modules)} and no stored command belongs to queue {', '.join(idle)}",
            f"leave it out, or name the module that has its job types (these have: {held})",
        )
    found = shares(slots, _limits(registry, settings), registry, processes or settings.worker.processes)
    return Plan(registry, found, settings, tuple(modules), adopts=not queues)


def _limits(registry: Registry, settings: Settings) -> dict[str, int]:
    """Limits per worker command by job type: the settings' win over those in the code."""
    found = {
        job_type.name: settings.job_type(job_type.name).worker_limit or job_type.worker_limit
        for job_type in registry
    }
    return {name: limit for name, limit in found.items() if limit is not None}
