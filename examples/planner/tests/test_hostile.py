"""Requests that are made to hurt: each has an answer that says what is wrong, and what was there before is there after."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection, errors
from psycopg.conninfo import make_conninfo

from examples.planner.tests.office import ORG, OTHER, Office
from tests.support.workers import until

SPACE = f"/api/orgs/{ORG}"
OLGA = {"Authorization": "Bearer olga", "Content-Type": "application/json"}
WILD = [
    "NaN", "1e400", "-Infinity", "null", "9" * 400, r'"\u0000"', r'"\ud800"', r'"a\nb"', r'"a\u2028b"', "[" * 5000, '{"self": 1}',
    '"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-14:00"', '"' + "x" * 300 + '"', r'{"\ud800": 1}', r'{"\u0000": 1}',
]  # fmt: skip


async def sent(office: Office, method: str, path: str, body: str) -> int:
    """How a body as it is, which no client of ours would write, is answered."""
    answer = await office.http.request(method, SPACE + path, headers=OLGA, content=body.encode())
    assert answer.is_success or answer.json()["detail"]
    return answer.status_code


async def test_no_body_is_a_fault_of_ours(office: Office) -> None:
    project = await office.project()
    mission = await office.mission(project)
    await office.assign(project, mission)
    later = "2031-05-05T12:00:00Z"
    fields: dict[tuple[str, str], dict[str, Any]] = {
        ("POST", "/projects"): {"name": "n"},
        ("POST", f"{project}/missions"): {"title": "t", "skill": "s", "starts_at": later, "ends_at": later},
        ("PUT", f"{project}/missions/{mission}/assignment"): {"collaborator_id": str(uuid4())},
        ("PUT", f"{project}/run-sheet"): {"title": "t", "items": []},
        ("POST", f"{project}/exports"): {"format": "csv"},
        ("POST", f"{project}/reminders"): {"mission_id": mission, "scheduled_for": later},
        ("POST", "/maintenance"): {"what": "expired-keys", "scheduled_for": later},
    }
    for (method, path), good in fields.items():
        for name in good:
            rest = "".join(
                f', "{other}": {json.dumps(value)}' for other, value in good.items() if other != name
            )
            for wild in WILD:
                assert await sent(office, method, path, f'{{"{name}": {wild}{rest}}}') < 500, (path, wild)
    for wild in WILD:
        item = f'{{"title": "t", "items": [{{"id": "1", "at": "10:00", "what": {wild}}}]}}'
        assert await sent(office, "PUT", f"{project}/run-sheet", item) < 500
    await office.ask("GET", f"{project}/search", 422, params={"q": "a\0b"})


async def test_a_body_without_end_is_not_read_to_it(office: Office) -> None:
    read = 0

    async def flood() -> Any:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b" " * 1024 * 1024

    answer = await office.http.post(f"{SPACE}/projects", headers=OLGA, content=flood())
    assert (answer.status_code, read < 10) == (413, True)
    told = OLGA | {"Content-Length": str(10**9)}
    assert (await office.http.post(f"{SPACE}/projects", headers=told, content=b"")).status_code == 413


async def test_a_key_means_one_request(office: Office) -> None:
    """Two at once have one job; a key of another request, or one that would be cut, is refused."""
    project = await office.project()
    key = {"Idempotency-Key": "k" * 200}

    async def asked(number: int) -> str:
        answer = await office.ask(
            "POST", f"{project}/exports", 202, json={"format": ("csv", "pdf")[number]}, headers=key
        )
        return str(answer["job_id"])

    assert len({await one for one in asyncio.as_completed([asked(0), asked(1)])}) == 1
    assert await office.row("select count(*) as n from postmill.jobs where job_type = 'export.planning'") == {
        "n": 1
    }
    other = await office.ask("POST", f"{project}/conflict-scans", 422, headers=key)
    assert "it was used for POST" in other["detail"]
    longer = {"Idempotency-Key": "k" * 201}
    await office.ask("POST", f"{project}/exports", 422, json={"format": "csv"}, headers=longer)


PROPOSE = """
    insert into planner.proposal (org_id, project_id, mission_id, collaborator_id, rank, score, reasons, job_id, artifact_id)
    values (%s, %s, %s, %s, 1, 1, '{}', %s, %s) returning id
"""


async def test_two_proposals_for_one_mission_are_not_both_accepted(office: Office) -> None:
    project = await office.project()
    mission, paths = await office.mission(project), []
    for name in ("Ann", "Ben"):
        given = ORG, project.rpartition("/")[2], mission, await office.person(name), uuid4(), uuid4()
        paths.append(f"{SPACE}{project}/proposals/{(await office.row(PROPOSE, *given))['id']}/accept")
    # Both are held up before they can assign, as by somebody else's write.
    async with office.conn.transaction():
        await office.conn.execute("select from planner.project for update")
        both = [asyncio.create_task(office.http.post(path, headers=OLGA)) for path in paths]
        await waiting(office, 2)
    assert sorted([(await one).status_code for one in both]) == [200, 409]
    accepted = "select count(*) as n from planner.proposal where accepted_at is not null"
    assert await office.row(accepted) == {"n": 1}


async def waiting(office: Office, most: int) -> None:
    """Until so many wait for a lock."""
    query = "select count(*) as n from pg_locks where not granted"

    async def all_wait() -> bool:
        return bool((await office.row(query))["n"] >= most)

    await until(all_wait)


@pytest.mark.parametrize("path", ["/jobs/{job}", "/artifacts/{job}"])
async def test_who_is_nobody_learns_nothing(office: Office, path: str) -> None:
    """Not even which ids there are; nor does somebody of another organization."""
    made = await office.ask("POST", "/projects", 201, json={"name": "Fair"})
    for job in (made["jobs"][0], str(uuid4())):
        where = path.format(job=job)
        assert (await office.http.get(SPACE + where)).status_code == 401
        eve = {"Authorization": "Bearer eve"}
        assert (await office.http.get(SPACE + where, headers=eve)).status_code == 401
        assert (await office.http.get(f"/api/orgs/{OTHER}{where}", headers=eve)).status_code == 404


INTO_OTHERS = {
    "version": "insert into planner.run_sheet_version values (%(sheet)s, 99, %(org)s, 't', '[]')",
    "words": "insert into planner.search_entry values (%(mission)s, %(org)s, '')",
    "proposal": "insert into planner.proposal (org_id, project_id, mission_id, collaborator_id, rank, score, reasons, job_id,"
    " artifact_id) values (%(org)s, %(own)s, %(mission)s, %(zoe)s, 1, 1, '{}', %(zoe)s, %(zoe)s)",
}


@pytest.mark.parametrize("what", INTO_OTHERS)
async def test_nothing_of_ones_own_hangs_on_what_is_anothers(office: Office, what: str) -> None:
    """It would stand in the way of the other organization's own row, under a key that is one for all."""
    project = await office.project()
    sheet = await office.row("select id from planner.run_sheet")
    own = await office.row(
        "insert into planner.project (org_id, name) values (%s, 'own') returning id", OTHER
    )
    values = {
        "org": OTHER, "own": own["id"], "sheet": sheet["id"], "mission": await office.mission(project),
        "zoe": await office.person("Zoe"),
    }  # fmt: skip
    options = f"-c role=planner_app -c postmill.tenant_id={OTHER}"
    async with await AsyncConnection.connect(
        make_conninfo(office.dsn, options=options), autocommit=True
    ) as conn:
        with pytest.raises(errors.ForeignKeyViolation):
            await conn.execute(INTO_OTHERS[what].encode(), values)


async def test_a_file_that_is_not_there_is_not_looked_for_again(office: Office) -> None:
    file = {"file": f"artifact:{uuid4()}", "sha256": "0" * 64}
    given = {
        "tenant": str(ORG),
        "actor_type": "user",
        "actor_id": "olga",
        "request_id": "r",
        "correlation_id": "c",
        "key": "k",
    }
    words = ", ".join(f"{name} => '{value}'" for name, value in given.items())
    query = f"select postmill.enqueue('import.availability', %s::jsonb, {words}) as id"
    job = (await office.row(query, json.dumps(file)))["id"]
    await office.run()
    found = await office.job(job)
    assert (found["state"], found["attempt"]) == ("dead_letter", 1)
