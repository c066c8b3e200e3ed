"""Audit enrichment: a change of a run sheet in words; and that the job can touch nothing but the audit trail."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection, errors
from psycopg.conninfo import make_conninfo

from examples.planner.diffs import told
from examples.planner.tests.office import ORG, OTHER, Office

BEFORE = [
    {"id": "a", "at": "08:00", "what": "Load-in", "who": "Ann"},
    {"id": "b", "at": "10:00", "what": "Sound check", "who": ""},
    {"id": "c", "at": "12:00", "what": "Lunch", "who": ""},
]
AFTER = [
    {"id": "a", "at": "08:30", "what": "Load in the rig", "who": "Ben"},
    {"id": "b", "at": "10:00", "what": "Sound check", "who": ""},
    {"id": "d", "at": "13:00", "what": "Doors", "who": "Cem"},
]
LINES = [
    "Renamed from “Friday” to “Friday night”.",
    "Took out “Lunch” at 12:00.",
    "Moved “Load-in” from 08:00 to 08:30.",
    "Renamed “Load-in” to “Load in the rig”.",
    "“Load in the rig”: Ben instead of Ann.",
    "Added “Doors” at 13:00, with Cem.",
]


def test_the_words() -> None:
    assert told("Friday", "Friday night", BEFORE, AFTER) == LINES
    assert told("Friday", "Friday", BEFORE, BEFORE) == ["Nothing has changed."]


async def test_an_event_gets_its_words(office: Office) -> None:
    project = await office.project()
    for title, items in (("Friday", BEFORE), ("Friday night", AFTER)):
        made = await office.ask("PUT", f"{project}/run-sheet", json={"title": title, "items": items})
    events = [one for one in await office.ask("GET", "/audit") if one["action"] == "run-sheet.updated"]
    assert [one["explanation"] for one in events] == [None, None], "the write waits for nobody"
    await office.run()
    newest = (await office.ask("GET", "/audit"))[0]
    assert (newest["explanation"], newest["explained_by"]) == (LINES, made["jobs"][0])
    assert (newest["actor_id"], newest["target"]) == ("olga", f"run-sheet:{made['id']}:3")


async def as_role(office: Office, role: str, org: object = ORG) -> AsyncConnection[Any]:
    """A session as a handler has it."""
    options = f"-c role={role} -c postmill.tenant_id={org}"
    return await AsyncConnection.connect(make_conninfo(office.dsn, options=options), autocommit=True)


async def test_the_role_writes_the_audit_trail_and_nothing_else(office: Office) -> None:
    """Every table that there is, and every way to write it."""
    project = await office.project()
    await office.ask("PUT", f"{project}/run-sheet", json={"title": "Friday", "items": []})
    tables = await office.rows(
        "select schemaname || '.' || tablename as name from pg_tables where schemaname in ('planner', 'postmill', 'public')"
    )
    assert len(tables) > 40
    async with await as_role(office, "planner_auditing") as conn:
        for table in tables:
            for write in ("delete from {}", "insert into {} default values", "truncate {}"):
                with pytest.raises(errors.InsufficientPrivilege):
                    await conn.execute(write.format(table["name"]).encode())
        with pytest.raises(errors.InsufficientPrivilege):
            await conn.execute("update planner.project set name = 'x'")
        for forbidden in ("delete from planner_audit.event", "update planner_audit.event set actor_id = 'x'"):
            with pytest.raises(errors.InsufficientPrivilege):
                await conn.execute(forbidden.encode())
        with pytest.raises(psycopg.Error, match="permission denied"):
            await conn.execute("select postmill.enqueue('staffing.refresh', '{}')")
        allowed = await conn.execute(
            "update planner_audit.event set explanation = array['x'] where action = 'run-sheet.updated'"
        )
        assert allowed.rowcount == 1


async def test_another_organization_is_not_there(office: Office) -> None:
    """Whatever a handler asks for: in no table, by no role."""
    await office.project()
    tables = await office.rows(
        "select table_schema || '.' || table_name as name from information_schema.columns c"
        " where table_schema in ('planner', 'planner_audit') and column_name = 'org_id' and table_name <> 'deadletter'"
    )
    assert len(tables) == 14
    for table in tables:
        secured = await office.row(
            "select relrowsecurity as yes from pg_class where oid = %s::regclass", table["name"]
        )
        assert secured["yes"], table["name"]
    for org, count in ((ORG, 1), (OTHER, 0)):
        async with await as_role(office, "planner_app", org) as conn:
            [(found,)] = await (await conn.execute("select count(*) from planner.project")).fetchall()
            assert found == count
    async with await as_role(office, "planner_app", OTHER) as conn:
        with pytest.raises(errors.InsufficientPrivilege):
            await conn.execute("insert into planner.project (org_id, name) values (%s, 'x')", [ORG])
        with pytest.raises(errors.InsufficientPrivilege):
            await conn.execute("select planner.open_project(%s, 'x')", [ORG])
