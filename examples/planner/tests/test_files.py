"""Exports and imports: what is in them, their checksums, and that a cancel leaves no half of one."""

from __future__ import annotations

import asyncio
import csv
import io
from hashlib import sha256
from typing import Any

import pytest
from pypdf import PdfReader

from examples.planner.files import pages
from examples.planner.files.availability import BadFile, parsed
from examples.planner.tests.office import ORG, Office
from tests.support.workers import until

FILE = b"""email,starts_at,ends_at
ANN@example.org,2031-05-05T08:00:00Z,2031-05-05T18:00:00Z
ben@example.org,2031-05-06T08:00+02:00,2031-05-06T18:00+02:00
"""


async def planned(office: Office, missions: int = 90) -> str:
    """A project with so many missions, of one person each second."""
    project = await office.project()
    await office.conn.execute(
        "insert into planner.mission (org_id, project_id, title, skill, starts_at, ends_at)"
        " select %s, %s, 'Mission ' || n, 'rigging', timestamptz '2031-05-05 08:00Z' + n * interval '1 hour',"
        " timestamptz '2031-05-05 09:00Z' + n * interval '1 hour' from generate_series(1, %s) n",
        [ORG, project.rpartition("/")[2], missions],
    )
    return project


async def exported(office: Office, project: str, format: str) -> tuple[bytes, dict[str, Any]]:
    made = await office.ask("POST", f"{project}/exports", 202, json={"format": format})
    await office.run()
    told = (await office.ask("GET", f"/jobs/{made['job_id']}"))["result"]
    answer = await office.http.get(
        f"/api/orgs/{ORG}/artifacts/{told['artifact']}", headers={"Authorization": "Bearer vera"}
    )
    assert sha256(answer.content).hexdigest() == told["sha256"]
    return answer.content, told


async def test_pdf_and_csv(office: Office) -> None:
    project = await planned(office)
    mission = await office.mission(project, "=cmd()", "2031-05-05T06:00")
    await office.assign(project, mission, "Ann")
    content, _ = await exported(office, project, "pdf")
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
    assert len(texts) == 3
    assert "Ann" in texts[0]
    assert "Mission 90" in texts[2]
    assert "Chapel festival" in texts[0]
    content, _ = await exported(office, project, "csv")
    lines = list(csv.reader(io.StringIO(content.decode())))
    assert lines[0] == ["starts_at", "ends_at", "mission", "skill", "collaborator"]
    assert len(lines) == 92
    assert lines[1][2:] == ["'=cmd()", "rigging", "Ann"], "a spreadsheet runs nothing of it"
    assert [line[2] for line in lines[2:]] == [f"Mission {n}" for n in range(1, 91)]


@pytest.mark.parametrize("format", ["pdf", "csv"])
async def test_a_cancel_between_pages_leaves_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    project = await planned(office)
    second, go = asyncio.Event(), asyncio.Event()
    whole = pages.pages

    async def halting(read: pages.Read) -> Any:
        number = 0
        async for page in whole(read):
            number += 1
            if number == 2:
                second.set()
                await go.wait()
            yield page

    monkeypatch.setattr(pages, "pages", halting)
    async with office.work():
        made = await office.ask("POST", f"{project}/exports", 202, json={"format": format})
        await asyncio.wait_for(second.wait(), 30)
        answer = await office.ask("DELETE", f"/jobs/{made['job_id']}", 202)
        assert answer == {"status": "requested"}

        async def ended() -> bool:
            return bool((await office.job(made["job_id"]))["state"] == "canceled")

        await until(ended)
    kept = "select name from postmill.artifacts where job_id = %s"
    assert await office.rows(kept, made["job_id"]) == []
    assert [path for path in office.files.rglob("*") if path.is_file()] == []
    event = (await office.ask("GET", "/audit"))[0]
    assert (event["action"], event["actor_id"], event["target"]) == (
        "job.cancel-requested", "olga", f"job:{made['job_id']}"
    )  # fmt: skip


async def test_who_may_cancel(office: Office) -> None:
    """One's own, or the owner; a job that has not started is over at once."""
    project = await planned(office, 1)
    made = await office.ask("POST", f"{project}/exports", 202, json={"format": "csv"}, who="pete")
    await office.ask("DELETE", f"/jobs/{made['job_id']}", 403, who="vera")
    assert await office.ask("DELETE", f"/jobs/{made['job_id']}", 202, who="pete") == {"status": "canceled"}
    assert await office.ask("DELETE", f"/jobs/{made['job_id']}", 202) == {"status": "finished"}


async def test_availability_is_imported_once(office: Office) -> None:
    made = await office.ask("POST", "/availability-imports", 202, content=FILE)
    same = await office.ask("POST", "/availability-imports", 202, content=FILE)
    assert same == made, "the same content, by its checksum"
    await office.run()
    job = await office.ask("GET", f"/jobs/{made['job_id']}")
    checksum = sha256(FILE).hexdigest()
    assert job["contract"]["payload"]["sha256"] == checksum
    report = await office.ask("GET", f"/artifacts/{job['result']['artifact']}")
    assert report == {"lines": 2, "new": 2, "sha256": checksum}
    stored = await office.rows(
        "select sha256, job_id from postmill.artifacts where name = 'availability.csv'"
    )
    assert {(one["sha256"], one["job_id"]) for one in stored} == {(checksum, None)}, (
        "the input is stored with it"
    )
    assert len(await office.rows("select sha256 from planner.availability")) == 2


async def test_a_wrong_file_changes_nothing(office: Office) -> None:
    wrong = FILE + b"zoe@example.net,2031-05-07T08:00Z,2031-05-07T18:00Z\r\n"
    made = await office.ask("POST", "/availability-imports", 202, content=wrong)
    await office.run()
    [letter] = await office.ask("GET", "/dead-letters")
    assert (letter["job_id"], letter["attempts"]) == (made["job_id"], 1)
    assert letter["error_message"] == "lines without a collaborator of the organization: [4]"
    assert await office.rows("select 1 from planner.availability") == []
    await office.ask("POST", "/availability-imports", 403, content=FILE, who="vera")
    await office.ask("POST", "/availability-imports", 413, content=b"x" * (5 * 1024 * 1024 + 1))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\xff", "not UTF-8"),
        (b"", "line 1"),
        (b"email,starts_at,ends_at\na,b,c", "line 2: a time is not RFC 3339"),
        (b"email,starts_at,ends_at\na,2031-05-05T08:00,2031-05-05T09:00", "line 2: a time has no zone"),
        (b"email,starts_at,ends_at\na,2031-05-05T08:00Z,2031-05-05T07:00Z", "line 2: ends before it starts"),
        (b"email,starts_at,ends_at\na", "line 2: has 1 cells, not 3"),
        (
            b"email,starts_at,ends_at\na,9999-12-31T20:00-14:00,9999-12-31T23:00-14:00",
            "is not between 1970 and 2200",
        ),
    ],
)
def test_a_file_is_refused_by_its_line(content: bytes, fault: str) -> None:
    with pytest.raises(BadFile, match=fault):
        parsed(content)
    with pytest.raises(BadFile, match="and 5 more"):
        parsed(b"email,starts_at,ends_at\n" + b"a\n" * 25)
