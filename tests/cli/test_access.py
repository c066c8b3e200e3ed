"""`postmill tenants | keys | logins | login | audit`, and that what operators do is written down with their names."""

import hashlib
import json
import re
from uuid import UUID

import pytest

from postmill.bind import drive
from postmill.cli.who import who
from postmill.domain.audit import Anchor
from postmill.operate import commands
from tests.cli.support import cli


def rows(pg, sql, *args):
    return pg.execute(sql, args).fetchall()


def test_tenants(dsn, pg):
    made = cli("tenants", "create", "bakery", "--name", "Ada's bakery", "--timezone", "Europe/Amsterdam",
               "--weight", "3", "--max-running", "20", "--retention", "90d", "--json", dsn=dsn).json  # fmt: skip
    assert (made["slug"], made["weight"], made["max_running"], made["retention_seconds"]) == (
        "bakery",
        3,
        20,
        7776000,
    )
    changed = cli("tenants", "set", "bakery", "--status", "suspended", "--max-running", "0", "--retention", "0",
                  "--reason", "unpaid", dsn=dsn)  # fmt: skip
    assert changed.code == 0
    assert "suspended" in changed.out
    assert "no limit" in changed.out
    assert cli("tenants", "show", made["id"], "--json", dsn=dsn).json["status"] == "suspended"
    assert [t["slug"] for t in cli("tenants", "list", "--json", dsn=dsn).json] == ["bakery", "default"]
    assert cli("tenants", "create-project", "bakery", "cakes", dsn=dsn).code == 0
    assert "cakes" in cli("tenants", "projects", "bakery", dsn=dsn).out
    log = rows(pg, "select action, actor_id, via, reason from postmill.audit_log order by id")
    assert log == [
        ("tenants.create", who(), "cli", None),
        ("tenants.change", who(), "cli", "unpaid"),
        ("projects.create", who(), "cli", None),
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("tenants", "create", "default"), 1, "there is a tenant 'default' already"),
        (("tenants", "create", "No Slug"), 2, "is no slug of a tenant"),
        (("tenants", "create", "x", "--timezone", "Europe/Amsterdem"), 2, "Europe/Amsterdam"),
        (("tenants", "set", "default", "--status", "activ"), 2, "did you mean 'active'"),
        (("tenants", "set", "default", "--weight", "0"), 2, "from 1 to 1000"),
        (("tenants", "show", "nobody"), 5, "there is no tenant 'nobody'"),
        (("tenants", "create-project", "nobody", "x"), 5, "there is no tenant"),
        (("keys", "create", "x", "--role", "viewer"), 2, "name the tenant"),
        (
            ("keys", "create", "x", "--role", "super_admin", "--tenant", "default"),
            2,
            "does not go with a tenant",
        ),
        (("keys", "create", "x", "--role", "emperor"), 2, "emperor"),
        (("keys", "create", "x", "--role", "auditor", "--until", "2020-01-01T00:00Z"), 2, "over already"),
        (
            ("keys", "create", "x", "--role", "auditor", "--until", "2120-01-01T00:00Z", "--for", "1d"),
            2,
            "exclude",
        ),
        (("keys", "revoke", "pm_nobody"), 2, "no key begins"),
        (("keys", "revoke", "0198f3a2-7c11-7abc-8def-0123456789ab"), 5, "there is no key"),
        (("logins", "end", "0198f3a2-7c11-7abc-8def-0123456789ab"), 5, "there is no login"),
        (("login", "--for", "30d"), 2, "up to 7 days"),
        (("audit", "verify", "--anchor", "5"), 2, "is no anchor"),
        (("audit", "export", "--kind", "all"), 2, "audit or job"),
        (("audit", "export", "--after", "yesterday"), 2, "no moment"),
        (("audit", "export", "--after", "2031-01-01T00:00Z"), 2, "is no place"),
    ],
    ids=str,
)
def test_refusals_say_what_to_do(emptied, words, code, said):
    answer = cli(*words, dsn=emptied.dsn)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


def test_keys(dsn, pg):
    made = cli(
        "keys",
        "create",
        "nightly import",
        "--role",
        "operator",
        "--tenant",
        "default",
        "--for",
        "90d",
        dsn=dsn,
    )
    key = made.out.strip()
    assert re.fullmatch(r"pm_[\w-]{43}", key)
    assert "shown once" in made.err
    assert key not in made.err
    [(hash, by)] = rows(pg, "select hash, created_by from postmill.api_key")
    assert (hash, by) == (hashlib.sha256(key.encode()).digest(), who())
    listed = cli("keys", "list", "--tenant", "default", dsn=dsn).out
    assert "nightly import" in listed
    assert key not in listed
    assert cli("keys", "revoke", key[:9], "--reason", "left in a repository", dsn=dsn).code == 0
    assert cli("keys", "list", "--json", dsn=dsn).json == []
    [gone] = cli("keys", "list", "--all", "--json", dsn=dsn).json
    assert gone["revoked_by"] == who()
    assert cli("keys", "revoke", key, "--json", dsn=dsn).json["status"] == "already"


def test_logins(dsn, pg):
    link = cli(
        "login",
        "--as",
        "ada",
        "--role",
        "viewer",
        "--tenant",
        "default",
        "--url",
        "https://x.test/mill/",
        dsn=dsn,
    )
    assert re.fullmatch(r"https://x\.test/mill/login\?token=[\w-]{43}\n", link.out)
    set_ = {"POSTMILL_SERVER__PUBLIC_URL": "https://y.test"}
    assert cli("login", dsn=dsn, env=set_).out.startswith("https://y.test/login?token=")
    assert cli("login", dsn=dsn).out.startswith("http://127.0.0.1:8700/login?token=")
    token = link.out.strip().partition("token=")[2]
    opened = "select * from postmill.open_login(%s, sha256('cookie'), 60, null)"
    assert len(rows(pg, opened, hashlib.sha256(token.encode()).digest())) == 1
    [login] = cli("logins", "list", "--json", dsn=dsn).json
    assert login["actor_id"] == "ada"
    assert "ada" in cli("logins", "list", dsn=dsn).out
    assert cli("logins", "end", login["id"], dsn=dsn).code == 0
    assert cli("logins", "list", "--json", dsn=dsn).json == []


def test_what_operators_do_is_written_down(dsn, pg, five, stage):
    """Each command of the line once, with who typed it, and what it changed."""
    ids = {state: str(id) for state, id in five.items()}
    assert cli("jobs", "cancel", ids["queued"], "--reason", "wrong", dsn=dsn).code == 0
    assert cli("jobs", "retry", ids["scheduled"], dsn=dsn).code == 0
    assert cli("dead", "replay", ids["dead_letter"], dsn=dsn).code == 0
    assert cli("queues", "pause", "low", "--reason", "storm", dsn=dsn).code == 0
    assert cli("queues", "resume", "low", dsn=dsn).code == 0
    log = rows(pg, "select action, target, actor_type, actor_id, via, reason, result, before is not null, after is not null"
                   " from postmill.audit_log order by id")  # fmt: skip
    assert [row[:2] for row in log] == [
        ("jobs.cancel", ids["queued"]),
        ("jobs.retry", ids["scheduled"]),
        ("dead.replay", ids["dead_letter"]),
        ("queues.pause", "low"),
        ("queues.resume", "low"),
    ]
    assert {row[2:5] for row in log} == {("user", who(), "cli")}
    assert [row[5] for row in log] == ["wrong", None, None, "storm", None]
    assert {row[6:] for row in log} == {("done", True, True)}


def test_a_move_is_written_down(dsn, pg, stage):
    stage.register("greet")
    stage.enqueue("greet")
    stage.enqueue("greet", delay="1 hour")
    stage.register("greet", queue="mail")
    for _ in range(2):  # the second finds nothing to do, and says nothing
        assert cli("queues", "move", "greet", dsn=dsn).code == 0
    moves = "select actor_id, via, target_kind, target, before, after from postmill.audit_log where action = 'queues.move'"
    assert rows(pg, moves) == [(who(), "cli", "definition", "greet", {"default": 2}, {"mail": 2})]
    drive(pg, commands.move("greet", "default", batch=1, actor="ann"))
    parts = rows(pg, f"{moves} and actor_id = 'ann'")
    assert [row[1:] for row in parts] == [("sql", "definition", "greet", {"mail": 2}, {"default": 2})]


def test_what_changed_nothing_is_not(dsn, pg, five):
    assert cli("jobs", "cancel", str(five["succeeded"]), dsn=dsn).code == 1
    assert cli("jobs", "cancel", str(UUID(int=5)), dsn=dsn).code == 5
    assert rows(pg, "select action from postmill.audit_log") == []


def test_registering_is_written_down(dsn, pg, shop):
    assert cli("jobs", "register", "jobs.py", dsn=dsn).code == 0
    [(action, actor, via, after)] = rows(pg, "select action, actor_id, via, after from postmill.audit_log")
    assert (action, actor, via) == ("definitions.register", who(), "cli")
    assert after["greet"] == "created"
    assert cli("jobs", "register", "jobs.py", dsn=dsn).code == 0
    assert len(rows(pg, "select from postmill.audit_log")) == 1  # nothing changed


def test_export_and_verify(dsn, pg, five):
    cli("tenants", "create", "bakery", dsn=dsn)
    lines = [json.loads(line) for line in cli("audit", "export", dsn=dsn).out.splitlines()]
    assert "tenants.create" in [line["event"] for line in lines]
    assert [line["event"] for line in lines if line.get("job_id") == str(five["dead_letter"])] == [
        "job.enqueued", "job.started", "job.failed", "job.deadlettered",
    ]  # fmt: skip
    only = [json.loads(line) for line in cli("audit", "export", "--kind", "audit", dsn=dsn).out.splitlines()]
    assert [line["event"] for line in only] == ["tenants.create"]
    last = lines[-2]
    rest = cli("audit", "export", "--after", f"{last['recorded_at']}/{last['id']}", dsn=dsn).out.splitlines()
    assert [json.loads(line)["id"] for line in rest] == [lines[-1]["id"]]
    assert cli("audit", "export", "--since", "2100-01-01T00:00Z", dsn=dsn).out == ""
    verified = cli("audit", "verify", dsn=dsn)
    assert (verified.code, "0 links" in verified.out) == (0, True)  # nobody has sealed yet
    assert Anchor.parse(cli("audit", "verify", "--json", dsn=dsn).json["anchor"]).n == 0
    shown = cli("audit", "list", "--action", "tenants.create", dsn=dsn).out
    assert "bakery" in shown


def test_verify_names_the_first_place(dsn, pg):
    cli("tenants", "create", "bakery", dsn=dsn)
    pg.execute("set session_replication_role = replica")
    pg.execute("delete from postmill.audit_unsealed")
    answer = cli("audit", "verify", "--json", dsn=dsn)
    assert answer.code == 1
    assert "tampered with" in answer.json["error"]["message"]
    assert "tenants.create" in answer.json["error"]["message"]
