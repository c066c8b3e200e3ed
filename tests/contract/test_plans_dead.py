"""EXPLAIN guards on many dead letters: what is counted is never read, a list reads a page, a step reads its own letters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection, Rollback

from postmill.local.server import LocalServer
from tests.support.databases import fresh_database
from tests.support.letters import seed_letters
from tests.support.plans import Plans, traced

SIZES = [pytest.param(12_000, id="12k"), pytest.param(100_000, id="100k", marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=SIZES)
def many(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        seed_letters(conn, request.param)
        conn.execute("select postmill.fold_dead_tally(1)")
        conn.execute("analyze postmill.dead_tally")
        yield conn


BEGIN = "select postmill.begin_request(%s, %s, 'api', 'user', 'ann', 'viewer', null)"
SCOPES = {
    "platform": BEGIN % ("null", "true"),
    "tenant": BEGIN % ("'00000001-0000-0000-0000-000000000000'", "false"),
}


def trace(conn: Connection[Any], text: str, *args: Any, begin: str | None = None) -> Plans:
    made: list[Plans] = []
    with conn.transaction():
        with traced(conn) as plans:
            if begin is not None:
                conn.execute(begin.encode())
            assert conn.execute(text.encode(), args).fetchall()
            conn.execute("reset role")
        made.append(plans)
        raise Rollback
    return made[0]


@pytest.mark.parametrize("scope", SCOPES)
def test_statistics_read_counts_and_the_ends_of_groups(many: Connection[Any], scope: str) -> None:
    plans = trace(many, "select postmill.read_dead_statistics()", begin=SCOPES[scope])
    assert "dead_letter" not in plans.sequential(), plans
    assert plans.rows("dead_letter") <= 2 * 12 + 1
    assert plans.rows("job") == 0
    assert plans.rows("dead_tally") <= 8000
    assert plans.buffers < 1500


@pytest.mark.parametrize("scope", SCOPES)
def test_a_page_of_one_group_reads_a_page(many: Connection[Any], scope: str) -> None:
    row = many.execute(
        "select error_group from postmill.dead_letter where error_status = 429 limit 1"
    ).fetchone()
    assert row is not None
    text = "select * from postmill.read_dead_letters(p_error_group => %s, p_look => 100, p_most => 50)"
    plans = trace(many, text, row[0], begin=SCOPES[scope])
    assert "dead_letter" not in plans.sequential(), plans
    assert plans.rows("dead_letter") <= 110
    assert plans.rows("job") == 0


def test_a_step_of_an_operation_reads_its_own_letters(many: Connection[Any]) -> None:
    """The first look for later jobs reads all there are, once; the steps after it read what is theirs."""
    row = many.execute(
        "select id from postmill.door_start_operation('replay', '{\"error_status\": 429}', '{}')"
    ).fetchone()
    assert row is not None
    many.execute("select count(*) from postmill.next_items(%s, 20)", row)
    many.execute("analyze postmill.operation_item")
    plans = trace(many, "select * from postmill.next_items(%s, 20)", *row)
    assert "operation_item" not in plans.sequential(), plans
    assert plans.rows("operation_item") <= 20
    assert plans.rows("job") <= 20
    step = trace(
        many,
        "select * from postmill.step_operation(%s, array(select n from postmill.operation_item"
        " where operation_id = %s order by n limit 20), '{}')",
        *row,
        *row,
    )
    read = {name: n for name, n in step.sequential().items() if n > 1000}
    assert not read, f"{read}\n{step}"
    assert step.rows("dead_letter") <= 20 * 6
    assert trace(many, "select * from postmill.running_operations(500)").buffers < 200


def test_a_round_of_a_rule_goes_on_where_it_was(many: Connection[Any]) -> None:
    rule = '{"none": {"message": "nobody says so", "older_than": 0, "times": 1, "most": 9}}'
    many.execute("select * from postmill.recover(%s)", [rule])
    plans = trace(many, "select * from postmill.recover(%s)", rule)
    assert "dead_letter" not in plans.sequential(), plans
    assert plans.rows("dead_letter") <= 2000
