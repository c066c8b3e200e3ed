"""Triggers and deliveries as the database has them, in the shapes of the API."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from postmill.operate.triggers import Run, Saved
from postmill.shapes.events import EventDelivery, Outcome
from postmill.shapes.triggers import DueMoment, SavedTrigger, Trigger
from postmill.store.events import DeliveryView
from postmill.store.triggers import TriggerView


def listed(view: TriggerView) -> Trigger:
    """A trigger."""
    return Trigger(**_facts(view))


def saved(made: Saved) -> SavedTrigger:
    """What saving answers."""
    return SavedTrigger(**_facts(made.trigger), next_runs=due_moments(made.next_runs), warnings=made.warnings)


def due_moments(runs: Iterable[Run]) -> list[DueMoment]:
    """From what the scheduler's own arithmetic says."""
    return [DueMoment(due=run.due, local=run.local) for run in runs]


def delivery(view: DeliveryView) -> EventDelivery:
    """What came of an event at one trigger."""
    return EventDelivery(
        event_id=view.event_id,
        trigger_id=view.trigger_id,
        label=view.trigger_label,
        outcome=cast("Outcome", view.outcome),
        detail=view.detail,
        job_id=view.job_id,
        decided_at=view.decided_at,
    )


def _facts(view: TriggerView) -> dict[str, Any]:
    fields = {name: getattr(view, name) for name in Trigger.model_fields}
    return fields | {"payload_template": json.loads(view.payload_template)}
