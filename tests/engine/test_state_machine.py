"""Whatever happens to jobs, in whatever order, the database does what a few lines of Python say.

Two tenants, two worker sessions that die by their leases, keys in all modes, a caller who keeps a transaction open.
After every step each ticket, outcome, attempt, request and key is compared with the model, and the checker of
invariants (`postmill doctor`'s) must find nothing.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine.life import machine
from tests.engine.limited_life import limited_machine
from tests.support.databases import Database

COMMON = settings(
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    print_blob=True,
    database=None,
)


WALKS = 30


@pytest.mark.timeout(600)
def test_verbs_in_any_order(database: Database) -> None:
    # The same walks each time: a change is judged by them, and the long form looks for new ones.
    short = settings(COMMON, max_examples=WALKS, stateful_step_count=50, derandomize=True)
    with database.connect() as conn, database.connect() as caller:
        run_state_machine_as_test(machine(conn, caller), settings=short)


@pytest.mark.long
@pytest.mark.timeout(5400)
def test_verbs_in_any_order_for_long(database: Database) -> None:
    with database.connect() as conn, database.connect() as caller:
        run_state_machine_as_test(
            machine(conn, caller), settings=settings(COMMON, max_examples=1500, stateful_step_count=80)
        )


def test_verbs_under_limits(database: Database) -> None:
    short = settings(COMMON, max_examples=6, stateful_step_count=50, derandomize=True)
    with database.connect() as conn, database.connect() as caller:
        run_state_machine_as_test(limited_machine(conn, caller), settings=short)


@pytest.mark.long
@pytest.mark.timeout(5400)
def test_verbs_under_limits_for_long(database: Database) -> None:
    with database.connect() as conn, database.connect() as caller:
        run_state_machine_as_test(
            limited_machine(conn, caller), settings=settings(COMMON, max_examples=500, stateful_step_count=80)
        )
