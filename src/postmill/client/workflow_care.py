"""Looking after workflows and batches, once: as flows of steps."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from postmill.client.checks import checked_request
from postmill.domain.errors import InvalidValue, NotFound
from postmill.domain.job_options import ActorType
from postmill.domain.workflow_view import EdgeView, GraphView, StepView, WorkflowView
from postmill.store import workflows as store
from postmill.store.flow import Flow
from postmill.store.workflows import StepRetried, WorkflowCanceled


def workflow(schema: str, id: UUID | str) -> Flow[WorkflowView]:
    """A workflow or batch, and how far it is. Raises NotFound."""
    found: WorkflowView | None = yield store.read_workflow(id_of(id), schema=schema)
    if found is None:
        raise NotFound(f"there is no workflow {id}; it may be past its retention")
    return found


def workflow_graph(schema: str, id: UUID | str) -> Flow[GraphView]:
    """A workflow with all its steps and the lines between them. Raises NotFound."""
    found = yield from workflow(schema, id)
    steps: list[StepView] = []
    while True:
        part: list[StepView] = yield store.read_steps(
            found.id, after=steps[-1].no if steps else 0, schema=schema
        )
        steps += part
        if len(part) < 1000:
            break
    edges: list[EdgeView] = []
    while True:
        after = (edges[-1].parent, edges[-1].child) if edges else (0, 0)
        lines: list[EdgeView] = yield store.read_edges(found.id, after=after, schema=schema)
        edges += lines
        if len(lines) < 10_000:
            break
    return GraphView(found, tuple(steps), tuple(edges))


def workflows(
    schema: str,
    *,
    kind: str | None = None,
    status: str | None = None,
    name: str | None = None,
    before: UUID | str | None = None,
    limit: int = 100,
) -> Flow[list[WorkflowView]]:
    """Workflows and batches, newest first, at most `limit`; `before`: those older than this one."""
    found: list[WorkflowView] = yield store.read_workflows(
        limit,
        before=None if before is None else id_of(before),
        kind=kind,
        status=status,
        name=name,
        schema=schema,
    )
    return found


def cancel_workflow(
    schema: str,
    id: UUID | str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[WorkflowCanceled]:
    """Cancels the whole workflow or batch: what waits is over, what runs is asked to end, nothing starts. Audited.

    Raises:
        NotFound: there is no such workflow. PayloadRefused: the reason or the actor cannot be stored.
    """
    given = checked_request(reason, actor_type, actor_id)
    answer: WorkflowCanceled = yield store.cancel_workflow(id_of(id), schema=schema, **given)
    if answer.status == "unknown":
        raise NotFound(f"there is no workflow {id}; it may be past its retention")
    return answer


def retry_workflow(
    schema: str,
    id: UUID | str,
    *,
    confirm: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[list[StepRetried]]:
    """Runs again what did not succeed, and with it what was canceled for its sake. Audited.

    Returns:
        An answer for each step that was asked; `status` as that of a replay. Empty: there was nothing to retry.

    Raises:
        NotFound: there is no such workflow.
    """
    found = yield from workflow(schema, id)
    given = checked_request(None, actor_type, actor_id)
    del given["reason"]
    answers: list[StepRetried] = yield store.retry_workflow(found.id, confirm=confirm, schema=schema, **given)
    return answers


def release_steps(
    schema: str,
    id: UUID | str,
    steps: Iterable[str] | None = None,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Flow[int]:
    """Lets held steps go on as if what failed had succeeded; None: all of them. Returns how many. Audited.

    Raises:
        NotFound: there is no such workflow.
    """
    given = checked_request(reason, actor_type, actor_id)
    names = None if steps is None else list(steps)
    n: int | None = yield store.release_steps(id_of(id), names, schema=schema, **given)
    if n is None:
        raise NotFound(f"there is no workflow {id}; it may be past its retention")
    return n


def id_of(id: UUID | str) -> UUID:
    """A workflow's id. Raises InvalidValue."""
    if isinstance(id, UUID):
        return id
    try:
        return UUID(id)
    except (ValueError, AttributeError, TypeError):
        raise InvalidValue(f"{id!r} is no id of a workflow: it is a UUID") from None
