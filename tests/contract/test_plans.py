"""EXPLAIN guards on a database with many jobs: no statement of the engine, nor any look-up, reads a big table whole;
partitions are pruned at run time; limits are honoured. The plans are those inside the functions, as they ran, with the
plan of the first call and with the one that plpgsql has settled on later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from postmill.local.server import LocalServer
from tests.contract.big import Big, lean
from tests.contract.limited_plans import under_limits
from tests.contract.million import seed
from tests.support import sessions
from tests.support.databases import Database, fresh_database
from tests.support.plans import traced
from tests.support.sessions import Held, WorkerSession, rows
from tests.support.tickets import changed

pytestmark = pytest.mark.matrix

SIZES = [pytest.param(120_000, id="120k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]
HOG = UUID("00000001-0000-0000-0000-000000000000")


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Big]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        yield Big(conn, request.param)


@pytest.mark.parametrize("start", [None, "cursor"])
def test_a_claim(big: Big, start: str | None) -> None:
    lanes = big.worker.lanes()[:5]
    middle = "select percentile_disc(0.5) within group (order by ready_at) from postmill.ready"
    at = sessions.one(big.conn, middle)
    for plans in big.trace(lambda: big.worker.claim(200, lanes=lanes, start=at if start else None)):
        lean(plans)
        (condition,) = [c for c in plans.conditions("ready") if "ready_at" in c]
        assert all(f"({column} " in condition for column in ("queue", "lane", "priority", "ready_at")), (
            condition
        )
        assert plans.rows("ready") <= 200 + 2 * 200  # locked, then found again by their place to be deleted
        assert plans.probes("job") == 200, "one partition for each ticket"
        assert plans.buffers < 200 * 40


def test_a_claim_of_an_http_worker(big: Big) -> None:
    """The body of each ticket is asked by the pick, by the claim and for the job: three probes of one partition."""
    lanes = big.worker.lanes()[:5]
    args = (
        big.worker.holder, ["plain"], *map(list, zip(*lanes, strict=True)), [None] * len(lanes), [200] * len(lanes),
    )  # fmt: skip
    claim = "select * from postmill.claim_work(%s, 200, 60, %s, %s, %s, %s, %s::timestamptz[], %s)"
    for plans in big.trace(lambda: big.conn.execute(claim, args)):
        lean(plans)
        assert plans.rows("ready") <= 200 + 2 * 200
        assert plans.probes("job") <= 3 * 200 + 10
        assert plans.buffers < 200 * 60


def test_a_look_for_lanes(big: Big) -> None:
    lanes = len(big.worker.lanes())
    for plans in big.trace(big.worker.lanes):
        lean(plans)
        assert plans.rows("ready") <= 2 * lanes + 2
        assert plans.buffers < 16 * (lanes + 2)  # some descents of the index for each lane


def test_news_of_lanes(big: Big) -> None:
    back = 86400.0 * 20
    for plans in big.trace(lambda: rows(big.conn, "claim/recent_lanes", ["default"], back, 50)):
        lean(plans)
        assert plans.conditions("ready") == {"(id >= (InitPlan 1).col1)"} or "id >=" in str(
            plans.conditions("ready")
        )
        assert plans.rows("ready") == 50


REPORTS: dict[str, Callable[..., object]] = {
    "complete": sessions.complete,
    "retry": lambda conn, held: sessions.put_back(conn, held, "failed", 5.0),
    "release": lambda conn, held: sessions.put_back(conn, held, "interrupted", -1.0),
    "refuse": sessions.refuse,
    "fail": lambda conn, held: sessions.finish(conn, held, "failed"),
    "bury": sessions.bury,
    "forget": lambda conn, held: rows(
        conn, "report/complete_forgotten", held[0].holder, [h.id for h in held], [h.claim_no for h in held], "plain"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def held(big: Big) -> list[Held]:
    return big.worker.claim(2000)


@pytest.mark.parametrize("verb", REPORTS)
def test_a_report(big: Big, held: list[Held], verb: str) -> None:
    some = held[::10]
    for plans in big.trace(lambda: REPORTS[verb](big.conn, some)):
        lean(
            plans, "running"
        )  # it is small: the whole fleet's slots (test_pinned.py counts what its dead rows cost)
        assert plans.probes("job") <= (len(some) if verb in ("forget", "bury") else 0)
        assert plans.buffers < 60 * len(some)


def test_was_a_report_applied(big: Big, held: list[Held]) -> None:
    """History is asked about the last hour only: what is older is in partitions that are not entered."""
    ids = [line.id for line in held[:100]]
    young = "select count(*) from postmill.partition where parent = 'attempt' and until > postmill.now() - interval '1 hour'"
    entered = sessions.one(big.conn, young)
    for plans in big.trace(
        lambda: rows(big.conn, "report/settled", big.worker.holder, ids, list(range(100)))
    ):
        lean(plans)
        assert plans.probes("outcome") <= entered * len(ids)
        assert plans.probes("attempt") <= entered * len(ids)


def test_a_promotion_of_a_few(big: Big) -> None:
    """Most are not due: they are not looked at."""
    soon = big.ids("select id from postmill.scheduled where lane <> %s order by run_at desc limit 20", HOG)

    def do() -> None:
        due = changed("scheduled", "jsonb_build_object('run_at', postmill.now())", "id = any(%s)")
        big.conn.execute(due.encode(), [soon])
        assert sessions.promote(big.conn) == 20

    for plans in big.trace(do):
        lean(plans)
        assert plans.rows("scheduled") <= 20 * 8
        assert plans.buffers < 20 * 80


def test_a_promotion_of_many(big: Big) -> None:
    """Lane by lane: 500 of each, 5,000 in all, and a lane with much to do is left for later."""

    def do() -> None:
        with sessions.shifted(big.conn, "400 days"):
            assert 1000 <= sessions.promote(big.conn) <= 5000

    for plans in big.trace(do, calls=3):
        lean(plans)
        assert plans.rows("scheduled") <= 5000 * 4
        assert plans.rows("ready") <= 10_001 * 51


def test_a_boost(big: Big) -> None:
    """What is raised and waits is bounded, and so is what a round passes over."""

    def do() -> None:
        big.conn.execute(
            "update postmill.queue set boost_after_seconds = 600, boost_step = 10, boost_to = 0 where name = 'default'"
        )
        found = []
        for _ in range(3):  # the second passes over what the first has raised; the third finds nothing
            rows = big.conn.execute(
                "select * from postmill.boost_round(null, null, 500, 50, 5000)"
            ).fetchall()
            found.append(rows[-1][1])
        assert 500 < found[0] <= 51 * 50
        assert found[1:] == [0, 0]

    for plans in big.trace(do, calls=3):
        lean(plans, "boost")
        assert plans.rows("ready") <= 51 * 50 * 20
        assert plans.rows("job") <= 51 * 50 * 3


def test_scaling(big: Big) -> None:
    """Counting ends at 10,000; the monitor's last count takes its place."""
    depths = '{"depths": [["default", "a", "queued", 70000, 1.0], ["default", "b", "queued", 5000, 1.0]]}'

    def do() -> None:
        big.conn.execute("update postmill.upkeep set note = %s where name = 'monitor'", [depths])
        seen = "select (waiting, at_least, oldest_seconds > 0)::text from postmill.read_scaling('default')"
        assert sessions.one(big.conn, seen) == "(75000,t,t)"

    for plans in big.trace(do, calls=3):
        lean(plans, "running")  # as many as the fleet has slots
        assert plans.rows("ready") <= 10_000 + 200
        assert plans.rows("queue_minute") <= 2881


def test_a_rescue(big: Big) -> None:
    """Only what runs is looked through; of bodies one for each that is taken back."""
    dead = WorkerSession(big.conn)

    def do() -> None:
        assert len(dead.claim(100)) == 100
        dead.die()
        assert len(big.rescuer.rescue(most=500)) == 100

    for plans in big.trace(do):
        lean(plans, "running")
        assert plans.probes("job") <= 2 * 100
        assert plans.rows("ready") <= 3 * 100


def test_the_state_of_jobs(big: Big) -> None:
    ids = [
        id
        for table, column in {"ready": "id", "scheduled": "id", "outcome": "job_id", "running": "id"}.items()
        for id in big.ids(f"select {column} from postmill.{table} limit 5")
    ]
    for plans in big.trace(lambda: rows(big.conn, "jobs/job_state", ids)):
        lean(plans, "running")
        assert plans.probes("job") <= len(ids) * (
            1 + len(big.ids("select name from postmill.partition where parent = 'job'"))
        )
        assert plans.buffers < 250 * len(
            ids
        )  # 157 seen, of them about 60 for the partitions; a table read whole is thousands


PAGES = {
    "all": (None, None, None),
    "succeeded": ("succeeded", None, None),
    "failed": ("failed", None, None),
    "queued": ("queued", None, None),
    "scheduled": ("scheduled", None, "default"),
    "running": ("running", None, None),
    "dead": ("dead_letter", None, None),
    "of a type": (None, "plain", None),
    "of a type that is not": (None, "strange", None),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_jobs(big: Big, page: str) -> None:
    state, job_type, queue = PAGES[page]
    args = (state, job_type, queue, None, UUID(int=2**128 - 1), 50, 1000)
    for plans in big.trace(lambda: rows(big.conn, "jobs/list_jobs", *args)):
        lean(plans, "running")
        assert plans.rows("job") <= 5000
        assert plans.rows("outcome") <= 4000 + (
            big.n // 20 if state == "failed" else 0
        )  # every twentieth failed
        assert plans.rows("ready") <= 2000
        assert plans.buffers < 40_000


def test_an_operators_acts(big: Big) -> None:
    waiting = big.ids("select id from postmill.ready limit 20") + big.ids(
        "select id from postmill.scheduled limit 20"
    )
    failed = big.ids("select job_id from postmill.outcome where status = 'failed' limit 5")
    acts = {
        "jobs/cancel_jobs": ([*waiting, *failed], "user", None, None),
        "jobs/retry_jobs": ([*waiting, *failed], "user", None, False),
        "jobs/discard_jobs": (failed, "no"),
        "queues/move_jobs": ("plain", "elsewhere", waiting[0], 200, "user", None),
        "queues/strays": (None, 500),
    }
    big.conn.execute("insert into postmill.queue (name) values ('elsewhere') on conflict do nothing")
    for path, args in acts.items():
        for plans in big.trace(lambda path=path, args=args: rows(big.conn, path, *args)):
            lean(plans)


def test_an_enqueue_beside_many_sleepers_that_are_gone(big: Big) -> None:
    """Their rows are behind the index condition: the probe for a watchman meets none of them."""

    def do() -> None:
        big.conn.execute(
            """insert into postmill.sleeper select 'default', true, postmill.now() - g * interval '1 s', gen_random_uuid()
                 from generate_series(1, 5000) g"""
        )
        big.conn.execute("select postmill.enqueue('plain')")

    for plans in big.trace(do):
        lean(plans)
        assert plans.rows("sleeper") == 0
        assert all("valid_until" in condition for condition in plans.conditions("sleeper"))


def test_a_claim_and_a_report_on_tables_that_were_never_analysed(database: Database) -> None:
    """The statistics are those of the migration: empty tables. Then come 50,000 jobs within a minute."""
    with database.connect() as conn:
        seed(conn, 50_000, analyze=False)
        worker = WorkerSession(conn)
        for _ in range(12):
            with traced(conn) as plans:
                held = worker.claim(200)
            lean(plans)
            assert len(held) == 200
            assert plans.probes("job") == 200
            assert plans.buffers < 200 * 40
            with traced(conn) as plans:
                assert not sessions.complete(conn, held)
            lean(plans)
            assert plans.buffers < 200 * 40


def test_a_sweep_of_keys(big: Big) -> None:
    """A round looks at no more keys than it was told, however many belong to jobs that still wait."""
    first = sessions.one(big.conn, "select min(tenant_id::text)::uuid from postmill.idempotency_key")
    for path, args in {"sweep": (100,), "sweep_keys": (first, None, None, 100)}.items():
        for plans in big.trace(lambda path=path, args=args: rows(big.conn, f"upkeep/{path}", *args), calls=2):
            lean(plans)
            assert plans.rows("idempotency_key") <= 400


SMALL = UUID("00000032-0000-0000-0000-000000000000")
SCOPES = {"hog": HOG, "small": SMALL, "platform": None}
REQUESTS = {
    "all": "read_jobs()",
    **{state: f"read_jobs('{state}')" for state in (
        "queued", "scheduled", "running", "succeeded", "failed", "canceled", "dead_letter")},
    "manual": "read_jobs(p_source => 'manual')",
    "events": "read_jobs(p_source => 'event')",
    "of a type that is not": "read_jobs(p_job_type => 'strange')",
    "queued of a type that is not": "read_jobs('queued', p_job_type => 'strange')",
    "since": "read_jobs(p_after => postmill.now() - interval '3 days', p_until => postmill.now() - interval '2 days')",
    "far down": "read_jobs(p_skip => 2000)",
    "dead letters": "read_dead_letters()",
    "summary": "read_summary()",
    "queues": "read_queues()",
}  # fmt: skip


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("what", REQUESTS)
def test_what_a_request_reads(big: Big, what: str, scope: str) -> None:
    """As the request role, with row-level security: through indexes, and bounded whatever the filter meets."""
    tenant = SCOPES[scope]

    def do() -> None:
        begin = "select postmill.begin_request(%s, %s, 'api', 'user', 'ann', 'viewer', null)"
        big.conn.execute(begin, [tenant, tenant is None])
        found = big.conn.execute(f"select * from postmill.{REQUESTS[what]}".encode()).fetchall()
        assert found
        big.conn.execute("reset role")

    for plans in big.trace(do, calls=1):
        lean(plans, "running")
        # Counting to 10,000 in each state takes more than a page.
        most = 60_000 if what == "summary" else 12_000
        assert plans.rows("job") <= most
        assert plans.rows("outcome") <= most
        assert plans.buffers < 3 * most


TINY = UUID("0000aaaa-0000-0000-0000-000000000000")


@pytest.fixture
def tiny(big: Big) -> Iterator[UUID]:
    """A tenant that has ten of all the jobs, here and there among them."""
    mine = big.ids("select id from postmill.job order by md5(id::text) limit 10")
    with big.conn.transaction(force_rollback=True):
        for table, column in {"job": "id", "outcome": "job_id", "attempt": "job_id"}.items():
            update = f"update postmill.{table} set tenant_id = %s where {column} = any(%s)"
            big.conn.execute(update.encode(), [TINY, mine])
        # Autovacuum would have done it.
        big.conn.execute(
            "select brin_summarize_new_values(indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid"
            " where c.relname ~ '^(outcome|attempt)_.*finished_at' and c.relkind = 'i'"
        )
        yield TINY


READS = {
    "jobs": ("select * from postmill.read_jobs()", 10),
    "jobs in a state": ("select * from postmill.read_jobs(p_status => 'succeeded')", None),
    "jobs of a source": ("select * from postmill.read_jobs(p_source => 'event')", None),
    "history": (
        "select * from postmill.read_history(postmill.read_history_start(), '', postmill.now(), 100) where kind = 'job'",
        None,
    ),
}


@pytest.mark.parametrize("read", READS)
def test_a_tiny_tenant_is_found_among_all_the_others(big: Big, tiny: UUID, read: str) -> None:
    """What its pages cost does not grow with what others have."""
    query, found = READS[read]

    def do() -> None:
        enter = "select postmill.begin_request(%s, false, 'api', 'user', 'ada', 'auditor', null)"
        big.conn.execute(enter, [tiny])
        answered = big.conn.execute(query.encode()).fetchall()
        big.conn.execute("select set_config('role', 'none', true)")
        assert found is None or len(answered) == found
        assert read != "history" or answered

    for plans in big.trace(do):
        lean(plans)
        assert plans.rows("job") <= 200
        # Some 1,600 a range, and a bloom filter errs once in a hundred.
        assert plans.rows("outcome") <= 10_000
        assert plans.buffers < 10_000, plans.buffers


def test_under_limits(big: Big) -> None:
    under_limits(big)
