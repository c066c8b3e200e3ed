"""What a worker's upkeep knows of dead letters: thresholds of the alert, and recovery rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from postmill.domain.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterCare:
    """How dead letters are watched.

    Attributes:
        above: an incident is raised when more are open in a queue; None: never.
        queues: thresholds of single queues, by name in lower case; None in it: never.
        job_types: thresholds of single job types, by name; only these are watched.
        rules: recovery rules by name, as `RecoverySettings.facts`.
    """

    above: int | None = 10
    queues: Mapping[str, int | None] = field(default_factory=dict)
    job_types: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> LetterCare:
        """What the settings say."""
        above = settings.dead_letters.alert_above
        return cls(
            above=None if above == "off" else above,
            queues={
                name.lower(): None if queue.dead_letters_above == "off" else queue.dead_letters_above
                for name, queue in settings.queues.items()
                if queue.dead_letters_above is not None
            },
            job_types={
                name: job_type.dead_letters_above
                for name, job_type in settings.job_types.items()
                if job_type.dead_letters_above is not None
            },
            rules={name: rule.facts for name, rule in settings.recovery.items()},
        )
