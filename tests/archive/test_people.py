"""What people see of retention and archive: the command line, the HTTP API within a tenant, the doctor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.domain.access import Role
from tests.archive.history import made, tenant
from tests.archive.support import Keeper, keeping, settings
from tests.cli.support import Answer, cli
from tests.support.api import opened
from tests.support.databases import Database

DEFAULT = UUID(int=1)
NOBODY = "01980000-0000-7000-8000-000000000000"


async def test_the_command_line(database: Database, pg: Connection[Any], tmp_path: Path) -> None:
    bakery = tenant(pg, "bakery")
    history = made(pg, "50 days", [DEFAULT, bakery], each=2)
    url = f"file://{tmp_path}/a"
    retried = str(history.ids["failed"][0])

    def run(*words: str, env: dict[str, str] | None = None) -> Answer:
        return cli(*words, dsn=database.dsn, env={"POSTMILL_ARCHIVE__URL": url} | (env or {}))

    assert "nothing in the archive yet" in run("archive", "list").out
    async with keeping(database, settings(url)) as keeper:
        await keeper.run("0")
        bodies = keeper.lines("job")
    found = run("archive", "list", "--json").json
    assert {unit["status"] for unit in found["units"]} == {"archived"}
    assert found["state"]["required"]
    assert run("archive", "list").out.count("archived") > 3
    assert len(run("archive", "list", "--url", url, "--source", "job", "--json").json) == 2

    # A job that is gone is said to be there, and is.
    gone = run("jobs", "show", retried)
    assert (gone.code, f"postmill archive show {retried}" in gone.err) == (5, True)
    shown = run("archive", "show", retried, "--json").json
    assert (shown["outcome"]["status"], [one["status"] for one in shown["attempts"]]) == (
        "failed",
        ["failed"],
    )
    assert shown["job"]["payload"]["deep"] == [[], {}, [{"a": [True, False]}]]
    page = run("archive", "show", retried).out
    assert all(word in page for word in ("plain", "failed", "run", retried))
    assert run("archive", "show", retried, "--url", url, "--json").json == shown
    assert run("archive", "show", NOBODY).code == 5
    assert run("archive", "show", "0198").code == 2

    # Rows as they were, with filters.
    lines = run("archive", "read", "--source", "job").out
    assert sorted(line.encode() + b"\n" for line in lines.splitlines()) == bodies
    one = run("archive", "read", "--tenant", "bakery", "--source", "outcome", "--json").out.splitlines()
    assert {json.loads(line)["row"]["tenant_id"] for line in one} == {str(bakery)}
    assert len(one) == 6
    assert (
        len(run("archive", "read", "--source", "job", "--type", "other").out.splitlines()) == len(bodies) // 2
    )
    assert len(run("archive", "read", "--job", retried).out.splitlines()) == 3
    assert run("archive", "read", "--since", "2100-01-01T00:00Z").out == ""
    assert len(
        run("archive", "read", "--until", "2100-01-01T00:00Z", "--source", "job").out.splitlines()
    ) == len(bodies)

    # Whole, and then not.
    assert run("archive", "verify").code == 0
    [part, *_] = sorted((tmp_path / "a" / "job").rglob("part-*"))
    part.write_bytes(part.read_bytes()[:-1])
    wrong = run("archive", "verify", "--json")
    assert wrong.code == 1
    assert [one["ok"] for one in wrong.json].count(False) == 1
    assert run("archive", "read", "--source", "job").code == 1
    assert run("archive", "verify", "--source", "outcome", "--url", url).code == 0

    # Rules.
    assert run("retention", "set", "failed", "365d", "--tenant", "bakery", "--reason", "asked").code == 0
    rules = {rule["subject"]: rule for rule in run("retention", "list", "--tenant", "bakery", "--json").json}
    assert (rules["failed"]["keep_seconds"], rules["failed"]["source"], rules["failed"]["common"]) == (
        31536000,
        "operator",
        False,
    )
    assert rules["canceled"]["common"]
    assert "365 d" in run("retention", "list", "--tenant", "bakery").out
    assert run("retention", "unset", "failed", "--tenant", "bakery").code == 0
    for words, said in {
        ("retention", "set", "failures", "9d"): "did you mean 'failed'",
        ("retention", "set", "failed", "forever"): "at most 100 years",
        ("retention", "set", "failed", "1s"): "1 hour",
        ("retention", "set", "audit", "9d", "--tenant", "bakery"): "alike for all",
        ("retention", "set", "failed", "soon"): "soon",
        ("archive", "list", "--source", "jobs"): "job",
        ("archive", "list", "--url", "simplecache::http://x"): "--url",
        ("archive", "verify", "abc"): "archive list",
    }.items():
        answer = run(*words)
        assert (answer.code, said in answer.err) == (2, True), (words, answer)
    missing = run("archive", "show", retried, env={"POSTMILL_ARCHIVE__URL": ""})
    assert (missing.code, "archive.url" in missing.err) == (2, True)
    assert {row[0] for row in pg.execute("select action from postmill.audit_log")} >= {
        "retention.set",
        "retention.unset",
    }

    # The doctor, and giving it up.
    assert _finding(run("doctor", "--json")) == ("ok", "nothing waits")
    pg.execute(
        "update postmill.archive_unit set status = 'waiting', tries = 3, error = 'no space' where status = 'archived'"
    )
    level, summary = _finding(run("doctor", "--json"))
    assert (level, "no space" in summary) == ("fail", True)
    assert "dropped without" in run("archive", "off", "--reason", "given up").out
    assert run("archive", "off", "--json").json == {"required": False, "changed": False}
    assert run("archive", "on", "--json").json == {"required": True, "changed": True}


def _finding(answer: Answer) -> tuple[str, str]:
    [found] = [one for one in answer.json["checks"] if one["check"] == "archive"]
    return found["level"], found["summary"]


async def test_a_tenant_sees_its_own(database: Database, pg: Connection[Any], tmp_path: Path) -> None:
    bakery = tenant(pg, "bakery")
    history = made(pg, "50 days", [DEFAULT, bakery], each=1)
    url = f"file://{tmp_path}/a"
    async with keeping(database, settings(url, format="parquet")) as keeper:
        await keeper.run("0")
        rows: dict[str, str] = {row["id"]: row["tenant_id"] for row in _bodies(keeper)}
    [own] = [id for id in history.ids["succeeded"] if rows[str(id)] == str(bakery)]
    [other] = [id for id in history.ids["succeeded"] if rows[str(id)] != str(bakery)]
    async with opened(database, others={"archive": {"url": url}}) as api:
        api.tenants["bakery"] = bakery
        operator = await api.client(Role.OPERATOR, "bakery")
        admin = await api.client(Role.SUPER_ADMIN, None)
        units = (await operator.get("/archive")).json()["items"]
        assert units
        assert {(unit["rows"] <= 4, unit["bytes"], unit["error"]) for unit in units} == {(True, None, None)}
        answer = await operator.get(f"/archive/jobs/{own}")
        assert answer.status_code == 200
        assert answer.json()["outcome"]["result"] == {"said": 1.1}
        assert (await operator.get(f"/archive/jobs/{other}")).status_code == 404
        assert (await admin.get(f"/archive/jobs/{other}")).status_code == 200
        assert (await operator.put("/archive/state", json={"required": False})).status_code == 403
        assert (await operator.put("/retention/failed", json={"keep_seconds": 9999})).status_code == 403
        tenant_admin = await api.client(Role.TENANT_ADMIN, "bakery")
        rules = (await tenant_admin.get("/retention")).json()["items"]
        assert {rule["subject"] for rule in rules} == {
            "succeeded", "failed", "canceled", "archive_after", "dead_letter", "archive"
        }  # fmt: skip
        assert (await tenant_admin.get("/retention?tenant=default")).status_code == 404
        state = (await tenant_admin.get("/archive/state")).json()
        assert state == {"required": True, "waiting": 0, "oldest_seconds": None, "failing": 0, "error": None}
        [part, *_] = sorted((tmp_path / "a" / "outcome").rglob("part-*"))
        part.write_bytes(b"")
        assert (await admin.get(f"/archive/jobs/{other}")).json()["type"].endswith("archive-damaged")


def _bodies(keeper: Keeper) -> list[dict[str, Any]]:
    return keeper.rows("job")


@pytest.mark.parametrize("command", ["list", "read", "verify"])
def test_without_a_database(command: str, tmp_path: Path) -> None:
    """An archive is read wherever it is."""
    answer = cli("archive", command, "--url", f"file://{tmp_path}/none")
    assert (answer.code, answer.err) == (0, "")
