"""What a worker needs to escalate, from the settings: the job type, its queue and the round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from postmill.alerts.escalator import Escalator
from postmill.alerts.notify import QUEUE, notifying
from postmill.alerts.opening import open_channel
from postmill.domain.registry import Registry
from postmill.domain.settings import Settings
from postmill.engine.upkeep.round import MakeRound
from postmill.engine.work import QueueSlots


@dataclass(frozen=True, slots=True)
class Equipment:
    """What is added to a worker.

    Attributes:
        registry: the job type that notifies, and what holds the channels.
        slots: of its queue in each process: one for each channel, so that a slow one delays none.
        rounds: of upkeep.
    """

    registry: Registry
    slots: int
    rounds: dict[str, MakeRound]

    def queues(self) -> dict[str, QueueSlots]:
        """The queue that one process serves besides its own."""
        return {QUEUE: QueueSlots(QUEUE, self.slots, priority=0)}


def equipment(settings: Settings, schema: str) -> Equipment | None:
    """None: the settings have no channel, so nobody is told.

    Raises:
        SettingsError: a channel cannot be opened.
    """
    escalation = settings.escalation
    channels = {name: open_channel(name, settings) for name in escalation.all_channels}
    if not channels:
        return None
    registry = notifying(escalation, channels, schema)
    escalator = partial(Escalator, plan=escalation.plan, registry=registry)
    return Equipment(registry, len(channels), {Escalator.name: escalator})
