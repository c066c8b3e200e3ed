"""The first page of a tenant: how its work goes, and whose it is if it does not."""

from __future__ import annotations

from starlette.responses import Response

from postmill.console.bulk.words import LABELS
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import minutes, states
from postmill.domain.access import Action
from postmill.domain.projection import projected
from postmill.operate import now as model
from postmill.operate import operations
from postmill.operate.overview import blame, worst
from postmill.store.budgets import BudgetView, read_budgets
from postmill.store.error_groups import ErrorGroupView, read_error_groups
from postmill.store.reads import read_summary
from postmill.store.standing import (
    SharedOperation,
    read_attainment,
    read_last_missed,
    read_next_runs,
    shared_operations,
)

router = Pages()

DAY = 86400.0
"""Attainment is of the last day."""


@router.page("", Action.JOBS_READ, ops=False)
async def overview(visit: Visit) -> Response:
    """Counts, promises, failures, what comes next, money; each part stands for itself where another takes too long."""
    schema = visit.schema
    counted = hour = attained = standing = None
    if visit.wants("states", "blame"):
        counted = await visit.attempt(_("counts by state"), read_summary(schema=schema))
    if visit.wants("states", "strip", "blame"):
        hour = await visit.attempt(_("the last hour minute by minute"), model.minutes(schema=schema))
    if visit.wants("attained", "blame"):
        attained = await visit.attempt(_("attainment"), read_attainment(DAY, schema=schema))
    assert visit.scope.tenant is not None
    if visit.wants("blame"):
        standing = await visit.attempt(
            _("the state of the platform"),
            blame(visit.scope.tenant.status, attained or [], hour or [], schema=schema),
        )
    causes: list[ErrorGroupView] | None = None
    if visit.wants("causes") and visit.may(Action.DEAD_READ):
        causes = await visit.attempt(_("error groups"), read_error_groups(most=50, schema=schema))
    runs, missed = None, None
    if visit.wants("runs") and visit.may(Action.TRIGGERS_READ):
        runs = await visit.attempt(_("the next runs"), read_next_runs(5, schema=schema))
        missed = await visit.attempt(_("the last missed run"), read_last_missed(schema=schema))
    budgets: list[BudgetView] | None = None
    if visit.wants("budgets") and visit.may(Action.BUDGETS_READ):
        budgets = await visit.attempt(_("budgets"), read_budgets(most=6, schema=schema))
    bulk = None
    if visit.wants("bulk") and visit.may(Action.DEAD_READ):
        bulk = await visit.attempt(_("bulk operations"), operations.operations(most=5, schema=schema))
    shared: list[SharedOperation] | None = None
    if visit.wants("bulk") and visit.may(Action.DEAD_READ):
        shared = await visit.attempt(
            _("bulk operations of the platform"), shared_operations(DAY, schema=schema)
        )
    return visit.page(
        "overview.html",
        states=None if counted is None else states.cards(counted, hour or []),
        oldest=states.oldest(counted or []),
        strip=None if hour is None else minutes.strip(visit, hour, [], width=1000),
        attained=attained,
        standing=standing,
        causes=None if causes is None else worst(causes),
        runs=runs,
        missed=missed,
        budgets=None if budgets is None else [(one, _projected(visit, one)) for one in budgets],
        bulk=bulk,
        shared=shared,
        acts=LABELS,
    )


def _projected(visit: Visit, budget: BudgetView) -> object:
    assert visit.now is not None
    where = budget.standing
    return projected(where.spent, where.limit, where.starts_at, where.ends_at, visit.now)
