"""EXPLAIN guards on the console's queries of jobs: whatever is asked for, one index is walked, and so far and no further."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from postmill.domain.query import parse
from postmill.domain.query_filter import job_filter
from postmill.local.server import LocalServer
from tests.contract.big import Big, lean
from tests.support.databases import fresh_database

SIZES = [pytest.param(60_000, id="60k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]
HOG = UUID("00000001-0000-0000-0000-000000000000")
SMALL = UUID("00000032-0000-0000-0000-000000000000")
TRIGGER = UUID(int=77)
NAMES = {
    ("type", "plain"): ["plain"],
    ("type", "rare"): ["rare"],
    ("queue", "default"): ["default"],
    ("queue", "other"): ["other"],
    ("error", "abc"): ["abc0000000000000"],
    ("trigger", "nightly"): [str(TRIGGER)],
    ("worker", "w1"): ["w1"],
    ("build", "shop-42"): ["shop-42"],
    ("op", "12345678"): [str(UUID(int=78))],
    ("tenant", "hog"): [str(HOG)],
    ("tenant", "small"): [str(SMALL)],
}
QUERIES = (
    "", "type:rare", "queue:other", "queue:default attempt:>3", "error:abc", "-error:abc", "trigger:nightly", "worker:w1",
    "build:shop-42",
    "op:12345678", "tag:vip", "tag:all", "-tag:all state:queued",
    "key:33", "key:nope", "source:event", "correlation:x", "ran:>3s", "since:2h", "until:10d", "age:>300d",
    "id:ffffffff", "type:plain args.a:1", "tenant:hog,small type:rare",
    "state:queued", "state:queued queue:other", "state:queued type:rare", "state:retrying", "state:scheduled -state:retrying",
    "state:running type:rare", "state:failed", "state:failed type:rare", "state:dead_letter", "state:succeeded type:rare",
    "-state:succeeded", "state:retrying,failed,dead_letter attempt:>1", "state:blocked,canceled",
)  # fmt: skip
SCOPES = {"platform": None, "hog": HOG, "small": SMALL}
LOOK = 2000


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Big]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        made = Big(conn, request.param)
        # Many failures of one cause, of many tenants, and what a trigger made.
        conn.execute("update postmill.attempt set error_group = 'abc0000000000000'")
        conn.execute(
            "update postmill.job set source = 'schedule', source_ref = %s where id in (select id from postmill.job limit 5000)",
            [str(TRIGGER)],
        )
        # A tag that all jobs of the hog have, and one of few.
        conn.execute(
            "insert into postmill.job_tag select id, 'all', tenant_id from postmill.job where tenant_id = %s",
            [HOG],
        )
        conn.execute("insert into postmill.job_tag select id, 'vip', tenant_id from postmill.job limit 100")
        conn.execute("analyze postmill.attempt, postmill.job, postmill.job_tag")
        yield made


def asked(big: Big, text: str, scope: UUID | None, function: str) -> Any:
    """What a function answers to a request for this query."""
    begin = "select postmill.begin_request(%s, %s, 'console', 'user', 'ann', 'viewer', null)"
    big.conn.execute(begin, [scope, scope is None])
    row = big.conn.execute(
        f"select * from postmill.{function}(%s)".encode(), [json.dumps(job_filter(parse(text), NAMES))]
    ).fetchall()
    big.conn.execute("reset role")
    return row


@pytest.mark.matrix
@pytest.mark.parametrize("scope", SCOPES)
def test_a_page_walks_one_index(big: Big, scope: str) -> None:
    for text in QUERIES:
        [plans] = big.trace(lambda text=text: asked(big, text, SCOPES[scope], "read_matching"), calls=1)
        lean(plans)
        # Each of two walks looks at so many, some of them in several tables, and asks again where it ended.
        assert plans.rows("job") <= 6 * LOOK, (text, plans.rows("job"))
        assert plans.rows("outcome") <= 8 * LOOK, (text, plans.rows("outcome"))
        assert plans.rows("attempt") <= 6 * LOOK, (text, plans.rows("attempt"))
        assert plans.rows("ready") + plans.rows("scheduled") <= 10 * LOOK, text
        assert plans.buffers < 200_000, (text, plans.buffers)


@pytest.mark.parametrize("scope", SCOPES)
def test_counts_and_bars_are_bounded(big: Big, scope: str) -> None:
    for text in ("", "type:rare", "error:abc", "state:queued", "tenant:small", "queue:other state:failed"):
        for function, most in {"read_matching_counts": 40 * LOOK, "read_matching_bars": 60_000}.items():
            [plans] = big.trace(
                lambda text=text, function=function: asked(big, text, SCOPES[scope], function), calls=1
            )
            lean(plans)
            assert plans.rows("job") <= most, (text, function, plans.rows("job"))
            assert plans.rows("outcome") <= most, (text, function, plans.rows("outcome"))


def test_lines_are_found_by_their_ids(big: Big) -> None:
    ids = big.ids("select id from postmill.job order by md5(id::text) limit 50")
    [plans] = big.trace(
        lambda: big.conn.execute("select * from postmill.read_job_lines(%s)", [ids]).fetchall(), calls=1
    )
    lean(plans)
    partitions = len(big.ids("select name from postmill.partition where parent = 'job'")) + 1
    assert plans.probes("job") <= 50 * partitions
    assert plans.rows("job") == 50
    assert plans.buffers < 50 * 250


def test_an_argument_is_found_by_the_index_that_was_made_for_it(big: Big) -> None:
    """Containment is not leakproof: row-level security would keep it from the index."""
    for table in ("job", "job_kept"):
        big.conn.execute(f"create index on postmill.{table} using gin (payload jsonb_path_ops)".encode())
    [rare] = big.ids("select id from postmill.job order by id limit 1")
    big.conn.execute("update postmill.job set payload = '{\"a\": 1}' where id = %s", [rare])

    def do() -> None:
        assert asked(big, "type:plain args.a:1", None, "read_matching") == [([rare], None)]

    [plans] = big.trace(do, calls=1)
    lean(plans)
    assert plans.rows("job") < 100
