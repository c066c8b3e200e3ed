"""Planning computations: conflicts and ranked proposals, as artifacts; an assignment is made by a command alone."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from psycopg import AsyncConnection, errors
from psycopg.conninfo import make_conninfo

from examples.planner.tests.office import ORG, Office


async def available(office: Office, name: str, start: str, end: str) -> None:
    await office.conn.execute(
        "insert into planner.availability values (%s, %s, %s, %s, 'x')",
        [ORG, await office.person(name), start, end],
    )


async def content(office: Office, artifact: str, **more: Any) -> Any:
    return await office.ask("GET", f"/artifacts/{artifact}", **more)


async def test_a_conflict_scan(office: Office) -> None:
    project = await office.project()
    here = await office.mission(project, "Load-in")
    twin = await office.mission(project, "Doors", "2031-05-05T10:00")
    alone = await office.mission(project, "Mixing", "2031-05-06T10:00", skill="sound")
    for mission, name in ((here, "Ann"), (twin, "Ann"), (alone, "Ben")):
        await office.assign(project, mission, name)
    await available(office, "Ben", "2031-05-01T00:00Z", "2031-05-02T00:00Z")
    made = await office.ask("POST", f"{project}/conflict-scans", 202)
    same = await office.ask("POST", f"{project}/conflict-scans", 202)
    assert made == same, "nothing has changed since"
    await office.run()
    job = await office.ask("GET", f"/jobs/{made['job_id']}")
    found = await content(office, job["result"]["artifact"])
    assert {(one["kind"], one["title"], one["name"], one["detail"]) for one in found["conflicts"]} == {
        ("double-booked", "Load-in", "Ann", "Doors"), ("double-booked", "Doors", "Ann", "Load-in"),
        ("not-available", "Mixing", "Ben", None), ("skill-missing", "Mixing", "Ben", "sound"),
    }  # fmt: skip
    assert job["result"]["conflicts"] == 4
    await office.assign(project, twin, "Ben")
    assert (await office.ask("POST", f"{project}/conflict-scans", 202)) != made, (
        "a changed planning is scanned anew"
    )


async def test_proposals_are_ranked_and_accepted(office: Office) -> None:
    project = await office.project()
    first = await office.mission(project, "Load-in")
    other = await office.mission(project, "Load-out", "2031-05-06T18:00")
    await office.assign(project, first, "Ann")
    await available(office, "Ben", "2031-05-06T00:00Z", "2031-05-07T00:00Z")
    made = await office.ask("POST", f"{project}/proposals", 202)
    await office.run()
    proposals = await office.ask("GET", f"{project}/proposals")
    assert [(one["mission_id"], one["name"], one["rank"], one["score"]) for one in proposals] == [
        (other, "Ben", 1, 100), (other, "Ann", 2, 75)
    ]  # fmt: skip
    assert proposals[1]["reasons"] == [
        "has the skill rigging", "has not said whether available", "1 missions that week", "knows the project"
    ]  # fmt: skip
    assert len(await office.rows("select 1 from planner.assignment")) == 1, "it proposes, and assigns nobody"
    job = await office.ask("GET", f"/jobs/{made['job_id']}")
    kept = await content(office, job["result"]["artifact"])
    assert [one["collaborator_id"] for one in kept["proposals"]] == [
        one["collaborator_id"] for one in proposals
    ]

    best = f"{project}/proposals/{proposals[0]['id']}/accept"
    await office.ask("POST", best, 403, who="vera")
    await office.ask("POST", best, who="pete")
    await office.ask("POST", best, 409)
    row = await office.row("select assigned_by from planner.assignment where mission_id = %s", other)
    assert row == {"assigned_by": "pete"}


async def test_the_role_of_computations_cannot_assign(office: Office) -> None:
    options = f"-c role=planner_planning -c postmill.tenant_id={ORG}"
    async with await AsyncConnection.connect(
        make_conninfo(office.dsn, options=options), autocommit=True
    ) as conn:
        for write in (
            "insert into planner.assignment default values", "update planner.assignment set assigned_by = 'x'",
            "delete from planner.assignment", "update planner.proposal set accepted_by = 'x'",
            "select postmill.enqueue('staffing.refresh', '{}')", "select from planner.credential",
        ):  # fmt: skip
            with pytest.raises(errors.InsufficientPrivilege):
                await conn.execute(write.encode())


async def test_an_artifact_is_its_organizations(office: Office) -> None:
    project = await office.project()
    made = await office.ask("POST", f"{project}/conflict-scans", 202)
    await office.run()
    artifact = (await office.ask("GET", f"/jobs/{made['job_id']}"))["result"]["artifact"]
    path = f"/api/orgs/{ORG}/artifacts/{artifact}"
    answer = await office.http.get(path, headers={"Authorization": "Bearer vera"})
    assert answer.headers["ETag"] == f'"{sha256(answer.content).hexdigest()}"'
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert (await office.http.get(path)).status_code == 401
    elsewhere = path.replace(str(ORG), "2efe049f-ae71-4226-97be-236b4df4a93b")
    assert (await office.http.get(elsewhere, headers={"Authorization": "Bearer eve"})).status_code == 404
    await office.conn.execute("delete from planner.access where actor_id = 'vera'")
    await content(office, artifact, who="vera", status=403)
