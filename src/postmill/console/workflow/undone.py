"""What was taken back of a workflow, in words: of steps, and of the jobs that take them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from postmill.console.frame.words import _
from postmill.domain.workflow_view import StepView


def undone(steps: Sequence[StepView], names: Mapping[int, str]) -> dict[int, str]:
    """By number what there is to say: of a step whether it was, is being or could not be taken back, and of a compensation
    which step it takes back. Steps of which there is nothing to say are left out.
    """
    by = {step.compensates: step for step in steps if step.compensates is not None}
    said = {}
    for step in steps:
        if step.compensates is not None:
            said[step.no] = _("takes back %s") % names.get(step.compensates, step.compensates)
        elif step.no in by:
            said[step.no] = _of(by[step.no].state)
        elif step.has_compensation and step.state == "succeeded":
            said[step.no] = _("can be taken back")
    return said


def taken_back(steps: Sequence[StepView]) -> frozenset[int]:
    """Numbers of the steps that were taken back."""
    return frozenset(
        step.compensates for step in steps if step.compensates is not None and step.state == "succeeded"
    )


def _of(state: str) -> str:
    if state == "succeeded":
        return _("taken back")
    if state in ("failed", "dead_letter", "canceled"):
        return _("could not be taken back")
    return _("is being taken back")
