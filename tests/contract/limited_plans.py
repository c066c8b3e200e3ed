"""What a claim under limits looks at in a database with many jobs, seats, tokens and rules."""

from __future__ import annotations

from uuid import UUID

from tests.contract.big import Big, lean
from tests.support import sessions
from tests.support.limited import Limited
from tests.support.sessions import Held
from tests.support.tickets import changed

LIMITS = """
    select postmill.door_set_limit('all', null, '{tenant}', 100000, '{"count": 100000, "seconds": 1}');
    select postmill.door_set_limit('all', null, '{}', 100000, null);
    insert into postmill.seat (key, seat_no, limit_id, job_id)
    select md5((g %% 1000)::text)::uuid, g, 99, md5('seat ' || g)::uuid from generate_series(1, %(n)s) g;
    insert into postmill.rate_take (key, seq, tat)
    select md5((g %% 1000)::text)::uuid, g, postmill.now() + interval '1 day' from generate_series(1, %(n)s) g;
    insert into postmill.limit_rule (name, key, tenant_id, max_running)
    select 'tenant:t' || g, md5('rule ' || g)::uuid, t.id, 5
      from generate_series(1, 10000) g, postmill.tenant t where t.slug = 'other';
    analyze postmill.seat, postmill.rate_take, postmill.limit_rule"""


def under_limits(big: Big) -> None:
    """Seats and tokens of others, and rules for others, are not looked at, however many there are."""
    conn, worker = big.conn, Limited(big.conn)
    conn.execute("insert into postmill.tenant (id, slug, name) values (gen_random_uuid(), 'other', 'other')")
    for statement in LIMITS.split(";"):
        conn.execute(statement.encode(), {"n": big.n} if "%(" in statement else None)
    lanes = worker.lanes()[:5]
    held: list[Held] = []

    def claim() -> None:
        held[:] = worker.take(200, lanes=lanes, firm=1000)
        assert len(held) == 1000

    for plans in big.trace(claim):
        lean(plans)
        assert (
            plans.rows("ready") <= 5 + 1000 + 2 * 1000
        )  # the first of each line; locked; found again by their place
        assert plans.probes("job") == 5 + 1000
        assert plans.rows("seat") + plans.rows("rate_take") <= 100
        assert plans.rows("limit_rule") <= 100
        assert plans.buffers < 1000 * 60
    claim()  # and now they hold two seats each, which the next claim counts
    for plans in big.trace(lambda: worker.take(10, lanes=lanes)):
        lean(plans)
        assert plans.rows("seat") <= 2 * 1000
    for plans in big.trace(lambda: sessions.complete(conn, held[::10])):
        lean(plans, "running")
        assert plans.rows("seat") <= 2 * 2 * 100
        assert plans.buffers < 60 * 100
    # Without a rate nobody competes for what is left: it is taken in one statement.
    conn.execute("select postmill.door_set_limit('all', null, '{tenant}', 100000, null)")
    for plans in big.trace(lambda: worker.take(100, lanes=lanes)):
        lean(plans)
        assert plans.rows("ready") <= 5 + 2 * 500  # locked, then found again to be deleted
        assert plans.probes("job") == 5 + 500
        assert plans.buffers < 500 * 60
    # A lane of many tenants: each ticket is asked for itself.
    nobody = changed("ready", f"jsonb_build_object('lane', '{UUID(int=0)}')", "id = any(%s)")
    some = big.ids("select id from postmill.ready where lane = %s limit 400", lanes[0][1])
    conn.execute(nobody.encode(), [some])
    nobodys = [("default", UUID(int=0), 100)]
    for plans in big.trace(lambda: worker.take(200, lanes=nobodys)):
        lean(plans)
        assert plans.probes("job") <= 3 * 200 + 10
        assert plans.rows("seat") <= 4 * 1000
        assert plans.rows("limit_rule") <= 1000
