"""Any order of reserve, settle, release, expiry, retries and changes of limit and month: the books are right."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)  # fmt: skip
from psycopg import Connection

from postmill.bind import drive
from postmill.operate import budgets
from postmill.store.spending import Spender
from tests.budgets.support import (
    EVERYTHING_RUNS,
    drop,
    end,
    expire,
    hold,
    ledger_agrees,
    make,
    reserve,
    shift,
    standing,
)  # fmt: skip

AMOUNTS = st.decimals("0", "2.5", places=3)


class Books(RuleBasedStateMachine):
    """The model: per month what is spent and what is held; states of reservations."""

    pg: Connection[Any]
    attempts = Bundle("attempts")
    reservations = Bundle("reservations")

    def __init__(self) -> None:
        super().__init__()
        self.pg.execute(
            "truncate postmill.budget, postmill.budget_period, postmill.budget_balance, postmill.budget_line,"
            " postmill.budget_reservation, postmill.budget_alert, postmill.running"
        )
        self.months = 0.0
        shift(self.pg, 0)
        self.limit = Decimal(5)
        make(self.pg, limit=5, levels=EVERYTHING_RUNS)
        self.alive: set[UUID] = set()
        self.held: dict[UUID, tuple[Decimal, bool, int]] = {}  # amount, started, month
        self.state: dict[UUID, str] = {}
        self.amounts: dict[UUID, tuple[Decimal, int]] = {}
        self.spent: dict[int, Decimal] = {}

    def used(self, month: int) -> Decimal:
        return self.spent.get(month, Decimal(0)) + sum(
            (amount for amount, _, at in self.held.values() if at == month), Decimal(0)
        )

    @property
    def month(self) -> int:
        return int(self.months)

    @initialize(target=attempts)
    def first(self) -> Spender:
        return self.begin()

    @initialize(target=reservations)
    def first_spent_and_held(self) -> MultipleResults[tuple[Spender, UUID]]:
        """Each run begins with something spent and something held, which counts as much."""
        me = self.begin()
        first = self.reserve(spender=me, cost=Decimal(1), started=True, answers=1)
        self.end(one=first, cost=Decimal(1), verbs=["settle"])
        return multiple(first, self.reserve(spender=me, cost=Decimal(1), started=True, answers=1))

    @rule(target=reservations, over=st.sampled_from(["0", "0.001"]))
    def reserve_all_that_is_left(self, over: str) -> tuple[Spender, UUID]:
        """The very limit still fits, and a thousandth more does not, whatever is held and whatever is spent."""
        left = max(self.limit - self.used(self.month), Decimal(0))
        return self.reserve(spender=self.begin(), cost=left + Decimal(over), started=True, answers=1)

    @rule(target=attempts)
    def another(self) -> Spender:
        return self.begin()

    def begin(self) -> Spender:
        spender = hold(self.pg)
        self.alive.add(spender.job_id)
        return spender

    @rule(
        target=reservations, spender=attempts, cost=AMOUNTS, started=st.booleans(), answers=st.integers(1, 2)
    )
    def reserve(self, spender: Spender, cost: Decimal, started: bool, answers: int) -> tuple[Spender, UUID]:
        id, answer = reserve(self.pg, spender, str(cost), started=started)
        used = self.used(self.month)
        if spender.job_id not in self.alive:
            assert answer.status == "lost"
        elif used >= self.limit or cost > self.limit:
            assert answer.status == "stopped"
        elif used + cost > self.limit:
            assert answer.status == "deferred"
        else:
            assert answer.status == "granted"
            self.held[id], self.state[id] = (cost, started, self.month), "held"
            self.amounts[id] = cost, self.month
        for _ in range(answers - 1):  # the answer got lost
            reserve(self.pg, spender, str(cost), id, started=started)
        return spender, id

    @rule(target=reservations, spender=attempts, costs=st.lists(AMOUNTS, min_size=2, max_size=4))
    def reserve_several(
        self, spender: Spender, costs: list[Decimal]
    ) -> MultipleResults[tuple[Spender, UUID]]:
        return multiple(
            *[self.reserve(spender=spender, cost=cost, started=True, answers=1) for cost in costs]
        )

    @rule(
        one=reservations,
        cost=AMOUNTS,
        verbs=st.lists(st.sampled_from(["settle", "release", "estimate"]), min_size=1, max_size=3),
    )
    def end(self, one: tuple[Spender, UUID], cost: Decimal, verbs: list[Any]) -> None:
        """Once or more often, each time by whoever believes it is open: the worker, and the round that finds it left."""
        spender, id = one
        for verb in verbs:
            booked = end(self.pg, spender, id, verb, str(cost)).booked
            assert booked == self.books(id, cost, verb)

    def books(self, id: UUID, cost: Decimal, verb: str) -> Decimal:
        before = self.state.get(id)
        if before is None or before == "spent":
            return Decimal(0)
        if (before, verb) in (("estimated", "estimate"), ("released", "release"), ("released", "estimate")):
            return Decimal(0)
        amount, month = self.amounts[id]
        worth = {"settle": cost, "release": Decimal(0), "estimate": amount}[verb]
        booked = worth - (amount if before == "estimated" else 0)
        self.held.pop(id, None)
        self.spent[month] = self.spent.get(month, Decimal(0)) + booked
        self.state[id] = {"settle": "spent", "release": "released", "estimate": "estimated"}[verb]
        return booked

    @rule(spender=attempts)
    def die(self, spender: Spender) -> None:
        """The attempt is over; what it held is looked at."""
        drop(self.pg, spender)
        self.alive.discard(spender.job_id)
        expire(self.pg)
        rows = self.pg.execute("select id from postmill.running").fetchall()
        assert {row[0] for row in rows} == self.alive
        jobs = dict(self.pg.execute("select id, job_id from postmill.budget_reservation").fetchall())
        for id, (_, started, _) in list(self.held.items()):
            if jobs[id] not in self.alive:
                self.books(id, Decimal(0), "estimate" if started else "release")

    @rule(what=st.sampled_from(["limit", "correct", "month"]), value=st.decimals("0.5", "6", places=2))
    def operate(self, what: str, value: Decimal) -> None:
        """A limit, up or down; a correction, up or down; another month."""
        if what == "limit":
            drive(self.pg, budgets.set_budget("ai", limit=value))
            self.limit = value
        elif what == "correct":
            cost = value - 3
            if self.spent.get(self.month, Decimal(0)) + cost >= 0:
                drive(self.pg, budgets.correct("ai", cost, reason="found out"))
                self.spent[self.month] = self.spent.get(self.month, Decimal(0)) + cost
        elif self.months < 3:
            self.months += 1
            start = standing(self.pg).ends_at
            now = self.pg.execute("select clock_timestamp()").fetchone()
            assert now is not None
            shift(self.pg, (start - now[0]).total_seconds() / 86400 + 5)

    @invariant()
    def books_are_right(self) -> None:
        found = standing(self.pg)
        assert found.spent == self.spent.get(self.month, 0)
        assert found.used == self.used(self.month)
        assert found.limit == self.limit
        ledger_agrees(self.pg)


@pytest.fixture
def machine(pg: Connection[Any]) -> type[Books]:
    return type("OfThisTest", (Books,), {"pg": pg})


def run(machine: type[Books], examples: int, steps: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_books(machine: type[Books]) -> None:
    run(machine, 25, 30)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_books_for_long(machine: type[Books]) -> None:
    run(machine, 300, 60)
