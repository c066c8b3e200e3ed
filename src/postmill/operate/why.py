"""Why a job does not run: the reasons, the first one that holds it back first, in words for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.budget import Level
from postmill.domain.errors import NotFound
from postmill.domain.lifecycle import State
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.why import LimitFacts, WhyFacts, read_why
from postmill.store.workflows import StepOf, read_step_of


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that holds a job back, or what became of it.

    Attributes:
        code: stable, in the order in which they are told: expired | queue_paused | type_paused | tenant_suspended |
            tenant_limit | limit | worker_limit | slots_taken | rate | budget | blocked | held | retry_pending | not_due |
            overdue | put_back | no_worker_for_type | worker_too_old | workers_draining | no_worker_for_queue | version |
            definition_inactive | position; or cancel_requested | running; or ended.
        text: the same for people, with the figures.
        seconds: until it is over, or since when, where that is known.
        until: when it is over by itself.
    """

    code: str
    text: str
    seconds: float | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Where a job stands, and why it is not further."""

    id: UUID
    status: State
    reasons: tuple[Reason, ...]


def why(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[Why]:
    """Why a job does not run (yet, or any more).

    Raises:
        NotFound: there is no such job.
    """
    facts: WhyFacts | None = yield read_why(id, schema=schema)
    if facts is None:
        raise NotFound(f"there is no job {id}")
    found = reasons(facts)
    if facts.state is State.BLOCKED:
        step: StepOf | None = yield read_step_of(id, schema=schema)
        if step is not None:
            found = [blocked(step) if reason.code == "blocked" else reason for reason in found]
    return Why(facts.id, facts.state, tuple(found))


def blocked(step: StepOf) -> Reason:
    """What a step of a workflow waits for."""
    if step.state == "held":
        text = (
            f"it is held in workflow {step.workflow}, since {', '.join(step.failed)} did not succeed; run that again:"
            f" postmill workflows retry {step.workflow_id}; or let it go on: postmill workflows release {step.workflow_id}"
        )
        return Reason("held", text)
    text = f"it waits for {_many(step.waits or 0, 'step')} of workflow {step.workflow}"
    if step.role == "compensation":
        text = f"it takes a step of workflow {step.workflow} back, once the one before it is done"
    names = ", ".join(step.pending[:3]) + (" …" if (step.waits or 0) > 3 else "")
    return Reason("blocked", f"{text}: {names}" if step.pending else text)


def reasons(facts: WhyFacts) -> list[Reason]:
    """What the facts say; never empty."""
    if facts.state is State.RUNNING:
        return _running(facts)
    if facts.state not in (State.SCHEDULED, State.QUEUED, State.BLOCKED):
        return [_ended(facts)]
    found = [*_closed(facts), *_limits(facts), *_time(facts), *_workers(facts)]
    if facts.pinned is not None and not facts.pin_workers:
        text = f"it waits for version v{facts.pinned} of {facts.job_type}: no live worker runs it"
        found.append(Reason("version", text))
    if facts.is_active is False:
        # Only new jobs are refused.
        found.append(
            Reason("definition_inactive", f"{facts.job_type} takes no new jobs; those that wait go on")
        )
    if facts.state is State.QUEUED and facts.ready_seconds is not None:
        before = (
            "it is the next one of its lane"
            if not facts.ahead
            else f"{_many(facts.ahead, 'job')} before it in its lane"
        )
        found.append(Reason("position", before, facts.ready_seconds))
    return found


def _closed(facts: WhyFacts) -> list[Reason]:
    found = []
    if facts.expired:
        found.append(Reason("expired", "it was not started by its time, and will end when a worker meets it"))
    if facts.paused:
        text = f"queue {facts.queue} is paused: {facts.pause_reason or 'no reason given'}"
        found.append(Reason("queue_paused", text, until=facts.resume_at))
    if facts.type_paused:
        text = f"job type {facts.job_type} is paused: {facts.type_pause_reason or 'no reason given'}"
        found.append(Reason("type_paused", text, until=facts.type_resume_at))
    if facts.tenant_status == "suspended":
        found.append(Reason("tenant_suspended", "its tenant is suspended"))
    return found


def _limits(facts: WhyFacts) -> list[Reason]:
    found = [reason for one in facts.limits if (reason := _full(one, facts))]
    most = (facts.worker_limit or 0) * facts.type_workers
    if most and facts.type_running is not None and facts.type_running >= most:
        text = (
            f"{facts.job_type} is at its limit: {facts.type_running}/{most} run,"
            f" {facts.worker_limit} on each of {_many(facts.type_workers, 'worker')}"
        )
        if facts.held_by:
            text += f"; held by {', '.join(map(str, facts.held_by))}" + (
                " …" if facts.type_running > 3 else ""
            )
        found.append(Reason("worker_limit", text))
    elif facts.state is State.QUEUED and facts.slots and facts.queue_running >= facts.slots:
        text = (
            f"every slot of queue {facts.queue} is taken: {facts.queue_running}/{facts.slots} run"
            f" on {_many(facts.queue_workers, 'worker')}"
        )
        found.append(Reason("slots_taken", text))
    for one in facts.limits:
        if one.rate_wait:
            whose = facts.job_type if one.name == f"type:{facts.job_type}" else f"limit {one.name}"
            text = (
                f"{whose} is at its rate of {one.rate_count} in {one.rate_seconds:g} s;"
                f" free in {one.rate_wait:.1f} s"
            )
            found.append(Reason("rate", text, one.rate_wait))
    if facts.budget is not None and facts.budget_action in _AT_BUDGET:
        level = tuple(Level)[(facts.budget_level or 1) - 1]
        text = f"budget {facts.budget} is at {level}: {_AT_BUDGET[facts.budget_action]}"
        found.append(Reason("budget", text, until=facts.budget_ends))
    return found


def _full(one: LimitFacts, facts: WhyFacts) -> Reason | None:
    """All seats of a limit are taken. What a suspended tenant may not is told as that."""
    if not one.max_running or one.running < one.max_running:
        return None
    figures = f"{one.running}/{one.max_running} run"
    if one.name.startswith("tenant:") and "/" not in one.name:
        throttled = facts.tenant_status == "throttled"
        return Reason(
            "tenant_limit", f"its tenant is {'throttled' if throttled else 'at its limit'}: {figures}"
        )
    text = f"limit {one.name} is full: {figures}"
    if one.held_by:
        text += f"; held by {', '.join(map(str, one.held_by))}" + (" …" if one.running > 3 else "")
    return Reason("limit", text)


_AT_BUDGET = {
    "defer": "a run would end with nothing done",
    "stop": "a run would be given up as budget_exhausted",
}


def _time(facts: WhyFacts) -> list[Reason]:
    if facts.state is State.BLOCKED:
        return [Reason("blocked", "it waits for other jobs")]
    if facts.due_seconds is not None and facts.due_seconds > 0:
        if facts.attempt > 1:
            text = (
                f"attempt {facts.attempt} of {facts.max_attempts} is due in {facts.due_seconds:.1f} s,"
                f" after {facts.error_class or 'an error'}: {facts.error_message or 'no message'}"
            )
            return [Reason("retry_pending", text, facts.due_seconds)]
        return [Reason("not_due", f"it is due in {facts.due_seconds:.1f} s", facts.due_seconds)]
    if facts.due_seconds is not None or (facts.state is State.QUEUED and facts.ready_seconds is None):
        late = -(facts.due_seconds or 0.0)
        text = f"it has been due for {late:.1f} s, and no worker has moved it to the ready ones"
        return [Reason("overdue", text, late)]
    return []


def _workers(facts: WhyFacts) -> list[Reason]:
    found = [_put_back(facts)] if facts.refused else []
    if facts.type_workers:
        return found
    if facts.queue_workers:
        text = f"{_many(facts.queue_workers, 'live worker')} of queue {facts.queue}, none serves {facts.job_type}"
        found.append(Reason("no_worker_for_type", text))
        if facts.outdated:
            text = (
                f"{facts.outdated} of them began before {facts.job_type} was registered;"
                " restart them with the code that has it"
            )
            found.append(Reason("worker_too_old", text))
        return found
    if facts.draining_workers:
        text = f"the only {_many(facts.draining_workers, 'worker')} of queue {facts.queue} are about to stop"
        return [*found, Reason("workers_draining", text)]
    return [*found, Reason("no_worker_for_queue", f"no live worker serves queue {facts.queue}")]


def _put_back(facts: WhyFacts) -> Reason:
    """Somebody of the same queue had it in hand who does not know its type. Only others claim it from then on."""
    by = f"worker {facts.refused_by}" if facts.refused_by else "a worker"
    text = f"put back by {by}, which does not know {facts.job_type}"
    if facts.type_workers:
        knowing = f"worker {facts.knowing}" if facts.knowing else "another one"
        does = (
            "does, and takes"
            if facts.type_workers == 1
            else f"and {facts.type_workers - 1} more do, and take"
        )
        text += (
            f"; {knowing} {does} it in turn (so that none is put back: restart the first with the code that"
            f" has {facts.job_type}, or give {facts.job_type} a queue of its own)"
        )
    return Reason("put_back", text)


def _running(facts: WhyFacts) -> list[Reason]:
    found = [
        Reason(
            "running",
            f"attempt {facts.attempt} of {facts.max_attempts} runs on {facts.worker_id or 'a worker'}",
        )
    ]
    if facts.cancel_requested:
        found.insert(0, Reason("cancel_requested", "it was asked to stop, and has not answered yet"))
    return found


def _ended(facts: WhyFacts) -> Reason:
    text = f"it is {facts.state}"
    if facts.reason:
        text += f": {facts.reason}"
    if facts.error_class:
        text += f" ({facts.error_class}: {facts.error_message or 'no message'})"
    if facts.replayed_as:
        text += f"; it runs again as {facts.replayed_as}"
    return Reason("ended", text)


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
