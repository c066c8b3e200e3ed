"""Tags: given at the enqueue by every way in, found by the query language, changed by operators, gone with their jobs."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from postmill import NewJob, Queue, enqueue, enqueue_many, job
from postmill.bind import drive
from postmill.client.flows import register
from postmill.domain.errors import InvalidValue, PayloadRefused
from postmill.domain.pace import Pace
from postmill.domain.tags import changes, check_tags
from postmill.operate import bulk, commands, finding
from postmill.store.jobs import job_state, replay_jobs
from tests.support.databases import Database

TYPE = """select * from postmill.register_job_types('[{"key": "mail", "queue": "mail"}]')"""
ACME = "00000000-0000-0000-0000-0000000000aa"


def tags_of(pg: psycopg.Connection[object], id: UUID) -> tuple[str, ...]:
    [found] = drive(pg, _state(id))
    return tuple(found.tags)


def _state(id: UUID):  # type: ignore[no-untyped-def]
    return (yield job_state([id]))


def found(pg: psycopg.Connection[object], query: str) -> set[UUID]:
    page = drive(pg, finding.page(drive(pg, finding.wanted(query))))
    return {one.id for one in page.jobs}


def test_tags_from_the_enqueue_to_the_sweep(pg: psycopg.Connection[object], database: Database) -> None:
    pg.execute(TYPE)
    pg.execute("insert into postmill.tenant (id, slug, name) values (%s, 'acme', 'Acme')", [ACME])
    # By Python: alone, with a key, among others that have none; a key that is held gives nothing to the job that holds it.
    vip = NewJob.of("mail", {"n": 1}, tags=["vip", "import-2026", "vip"])
    assert vip.tags == ("vip", "import-2026")
    one = enqueue(pg, vip).id
    keyed = enqueue(pg, NewJob.of("mail", key="k", tags=["vip"], tenant=ACME)).id
    assert not enqueue(pg, NewJob.of("mail", key="k", tags=["late"], tenant=ACME)).created
    plain, own = (
        answer.id for answer in enqueue_many(pg, [NewJob.of("mail"), NewJob.of("mail", tags=["größe"])])
    )
    assert [tags_of(pg, id) for id in (one, keyed, plain, own)] == [
        ("import-2026", "vip"), ("vip",), (), ("größe",)
    ]  # fmt: skip
    # By SQL, where a bad one is refused by name; within many it alone is.
    row = pg.execute("select postmill.enqueue('mail', '{}', tags => array['sql', 'vip'])").fetchone()
    assert row is not None
    by_sql: UUID = row[0]  # type: ignore[index]
    assert tags_of(pg, by_sql) == ("sql", "vip")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match='tags: "a b" is no tag'):
        pg.execute("select postmill.enqueue('mail', '{}', tags => array['a b'])")
    answers = pg.execute(
        """select n, status, detail from postmill.enqueue_many('{mail,mail}', array['{}', '{}']::jsonb[],
            p_tags => array['["-x"]', '["fine"]']::jsonb[]) order by 1"""
    ).fetchall()
    assert [row[1] for row in answers] == ["invalid", "created"]  # type: ignore[index]
    # Found, with others and without, and offered.
    assert found(pg, "tag:vip") == {one, keyed, by_sql}
    assert found(pg, "tag:vip -tag:sql") == {one, keyed}
    assert found(pg, "tag:vip tag:sql") == {by_sql}
    assert found(pg, "tag:sql,größe state:queued") == {by_sql, own}
    assert found(pg, "tag:vip tenant:acme") == {keyed}
    assert found(pg, "tag:nobody") == set()
    assert [one.text for one in drive(pg, finding.offers("tag:"))] == [
        "tag:sql", "tag:vip", "tag:fine", "tag:größe", "tag:import-2026"
    ]  # fmt: skip
    assert [one.text for one in drive(pg, finding.offers("-tag:im"))] == ["-tag:import-2026"]
    # A request of a tenant sees and offers its own.
    pg.execute("select postmill.begin_request(%s, false, 'api', 'user', 'ann', 'viewer', null)", [ACME])
    with pg.transaction():
        pg.execute("select postmill.begin_request(%s, false, 'api', 'user', 'ann', 'operator', null)", [ACME])
        assert found(pg, "tag:vip") == {keyed}
        assert [each.text for each in drive(pg, finding.offers("tag:"))] == ["tag:vip"]
        assert [each.status for each in drive(pg, commands.tag([one, keyed], ["mine"], reason="ours"))] == [
            "unknown",
            "changed",
        ]
    # What operators do is audited, whatever state a job is in; replays have the tags of what they replay.
    pg.execute("select * from postmill.cancel_jobs(%s)", [[own]])
    statuses = [
        each.status
        for each in drive(pg, commands.tag([one, own], ["late", "-vip"], actor_id="ann", reason="sorted"))
    ]
    assert statuses == ["changed", "changed"]
    assert (tags_of(pg, one), tags_of(pg, own)) == (("import-2026", "late"), ("größe", "late"))
    assert [each.status for each in drive(pg, commands.tag([one], ["late"]))] == ["unchanged"]
    assert [each.status for each in drive(pg, commands.tag([one], [f"t{n}" for n in range(8)]))] == ["full"]
    log = pg.execute(
        "select target, before, after, reason, actor_id from postmill.audit_log where action = 'jobs.tag' order by id"
    ).fetchall()
    assert log[1] == (  # type: ignore[comparison-overlap]
        f"{one}", {"tags": ["import-2026", "vip"]}, {"tags": ["import-2026", "late"]}, "sorted", "ann",
    )  # fmt: skip
    assert len(log) == 3
    [again] = drive(pg, _replayed(own))
    assert tags_of(pg, again.new_id) == ("größe", "late")
    # All that a query finds: as an operation of its own.
    begun = drive(pg, bulk.start("tag", drive(pg, bulk.by_query("tag:vip")), Pace(tags=("done", "-vip"))))
    cursor = pg.execute("select n from postmill.next_items(%s, 100)", [begun.id])
    pg.execute("select * from postmill.step_operation(%s, %s, '{}')", [begun.id, [row[0] for row in cursor]])  # type: ignore[index]
    assert found(pg, "tag:vip") == set()
    assert found(pg, "tag:done") == {keyed, by_sql}
    with pytest.raises(InvalidValue, match="tag needs tags"):
        drive(pg, bulk.start("tag", drive(pg, bulk.by_query("tag:done"))))
    # The database agrees with the words of domain/tags.py, and forgets tags of jobs that are gone.
    for words in ([], ["a"], ["a" * 40], ["a" * 41], ["-a"], ["a-"], ["a b"], ["a,b"], ['a"b'], ["\u00e9"], ["a\tb"],
                  [str(n) for n in range(8)], [str(n) for n in range(9)], [""]):  # fmt: skip
        try:
            check_tags(words)
            fine = True
        except ValueError:
            fine = False
        [fault] = pg.execute("select postmill.fault_of_tags(to_jsonb(%s::text[]))", [words]).fetchone()  # type: ignore[misc]
        assert (fault is None) == fine, (words, fault)
    for text, wrong in (("", "expected words"), ("a -a", "both given and taken away"), ("--a", "no tag")):
        with pytest.raises(InvalidValue, match=wrong):
            changes(text)
    with pytest.raises(PayloadRefused, match="tags"):
        NewJob.of("mail", tags="vip")  # type: ignore[arg-type]
    assert changes(" vip, -old ") == ("vip", "-old")
    pg.execute("insert into postmill.job_tag values (postmill.id_at('2001-01-01'), 'gone', %s)", [ACME])
    pg.execute("select postmill.sweep(100)")
    assert pg.execute("select count(*) from postmill.job_tag where tag = 'gone'").fetchone() == (0,)
    assert found(pg, "tag:done") == {keyed, by_sql}


def _replayed(id: UUID):  # type: ignore[no-untyped-def]
    return (yield replay_jobs([id]))


def test_what_code_promises_of_a_queue_arrives_by_every_way(pg: psycopg.Connection[object]) -> None:
    """A Queue that is only an option of `@job`, registered by a program that enqueues; what is promised already stays."""

    @job("Told", queue=Queue("told", sla=30, owner="Ada"))
    def told(n: int) -> None: ...

    drive(pg, register("postmill", [told]))
    promised = "select sla_seconds, owner from postmill.queue where name = 'told'"
    assert pg.execute(promised).fetchall() == [(30.0, "Ada")]

    @job("Told", queue=Queue("told", sla=60))
    def later(n: int) -> None: ...

    drive(pg, register("postmill", [later]))
    assert pg.execute(promised).fetchall() == [(30.0, "Ada")]

    @job("Lazy", queue=Queue("lazy", wait_target=5))
    def lazy() -> None: ...

    enqueue(pg, lazy.new())
    assert pg.execute("select wait_target_seconds from postmill.queue where name = 'lazy'").fetchall() == [
        (5.0,)
    ]
