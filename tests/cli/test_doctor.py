"""`postmill doctor`: each check sees what it is there for."""

from postmill.cli.database import open_connection
from postmill.operate.doctor.examine import CHECKS, examine
from postmill.operate.doctor.finding import Level
from postmill.operate.doctor.probe import Probe
from tests.cli.support import cli


def test_all_is_well_but_for_the_missing_worker(dsn, here):
    answer = cli("doctor", "--json", dsn=dsn)
    assert answer.code == 0
    found = {check["check"]: check for check in answer.json["checks"]}
    assert set(found) == set(CHECKS)
    assert {name for name, check in found.items() if check["level"] != "ok"} == {"workers"}
    assert "postmill worker MODULE" in found["workers"]["advice"]
    assert cli("doctor", "--strict", dsn=dsn).code == 1
    assert "1 of 25 checks wants a look" in cli("doctor", dsn=dsn).out


def test_no_schema_and_no_server(empty_database, here):
    answer = cli("doctor", dsn=empty_database.dsn)
    assert answer.code == 4
    assert "fail  migrations" in answer.out
    assert "→ run: postmill migrate" in answer.out
    assert cli("doctor", "--dsn", "host=127.0.0.1 port=1").code == 3


def test_a_broken_invariant_is_a_failure(dsn, stage, pg, here):
    stage.register("greet")
    id = stage.enqueue("greet")
    pg.execute("delete from postmill.ready")
    answer = cli("doctor", dsn=dsn)
    assert answer.code == 1
    assert "fail  invariants" in answer.out
    assert str(id) in answer.out


def test_a_ghost_is_one_by_the_lease_that_is_set(dsn, look, stage, pg, here):
    """It runs a minute and a half after its lease has ended: three leases of the default, a third of a long one."""
    stage.register("greet")
    stage.open("greet")
    id = stage.enqueue("greet")
    assert stage.claim() == [id]
    pg.execute("update postmill.lease set expires_at = postmill.now() - interval '90 s'")
    assert look("invariants").summary.startswith(f"1 ghost: {id}")
    assert look("invariants", lease=270.0).level is Level.OK
    asked = ("doctor", "--only", "invariants", "--json")
    assert cli(*asked, dsn=dsn).code == 1
    (here / "postmill.toml").write_text('[worker]\nlease = "270 s"\n')
    assert cli(*asked, dsn=dsn).code == 0


def test_a_role_that_may_little(look, database, pg):
    pg.execute("do $$ begin create role app login; exception when duplicate_object then null; end $$")
    app = database.dsn.replace("postgres@", "app@")
    with open_connection(app) as conn:
        nothing = CHECKS["permissions"](Probe(conn, "postmill", lambda: open_connection(app)))
    assert nothing.level is Level.FAIL
    assert "grant_application" in nothing.advice
    pg.execute("select postmill.grant_application('app')")
    with open_connection(app) as conn:
        report = examine(Probe(conn, "postmill", lambda: open_connection(app)))
    found = {finding.check: finding for finding in report.findings}
    assert found["permissions"].summary == "this role may enqueue; not work, operate, migrate"
    assert "may not look" in found["invariants"].summary
    pg.execute("drop owned by app")


def test_only_what_a_probe_asks_for(dsn, empty_database, here):
    answer = cli("doctor", "--only", "workers", "--only", "server", "--strict", "--json", dsn=dsn)
    assert answer.code == 1
    assert [(check["check"], check["level"]) for check in answer.json["checks"]] == [
        ("server", "ok"),
        ("workers", "warn"),
    ]
    assert cli("doctor", "--only", "horizon", "--strict", dsn=dsn).code == 0
    refused = cli("doctor", "--only", "worker", dsn=dsn)
    assert refused.code == 2
    assert "there is no check 'worker'; did you mean 'workers'?" in refused.err
    # Where there is no schema, no check of it can be well.
    answer = cli("doctor", "--only", "workers", dsn=empty_database.dsn)
    assert answer.code == 4
    assert "fail  migrations" in answer.out


def test_a_table_that_takes_more_than_its_rows(look, pg, monkeypatch):
    assert look("bloat").level is Level.OK
    monkeypatch.setattr("postmill.operate.doctor.bloat.SMALL", 1)
    pg.execute("insert into postmill.intake (batch, n, job_type, payload) select gen_random_uuid(), n, 'x', '{}'"
               " from generate_series(1, 200) n")  # fmt: skip
    pg.execute("delete from postmill.intake")
    found = look("bloat")
    assert found.level is Level.WARN
    assert "intake takes 0.0 MiB for 0 rows" in found.summary
    assert "reindex table concurrently postmill.intake" in found.advice
