"""Workflows in the console: the list, the drawing, the acts, and a job's place in one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from postmill import NewJob, Workflow, start_workflow
from postmill.domain.access import Role
from tests.console.harness import Console, sent
from tests.support.flows import advance

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = '<b>x</b> & "q"'


async def test_a_workflow_of_ten_thousand_and_one_that_is_held(console: Console) -> None:
    await console.api.define("shoot")
    acme = await console.api.tenant("acme")
    with console.api.database.connect() as conn:
        wide = Workflow("wide", tenant=acme)
        first = wide.add("first", NewJob.of("shoot"))
        pages = [wide.add(f"p{n}", NewJob.of("shoot"), after=first) for n in range(9_997)]
        wide.add("second", NewJob.of("shoot"), after=first, parent_failure="continue")
        wide.add("last", NewJob.of("shoot"), after=pages)
        big = start_workflow(conn, wide).id
        flow = Workflow(EVIL, tenant=acme)
        flow.add(EVIL, NewJob.of("shoot"))
        flow.add("held", NewJob.of("shoot"), after=EVIL, parent_failure="hold")
        small = start_workflow(conn, flow).id
        job = _job(conn, small, EVIL)
        conn.execute("select postmill.cancel_jobs(array[%s::uuid])", [job])
        advance(conn)
    browser = await console.browser(Role.OPERATOR, "acme")
    listed = (await browser.get("/t/acme/workflows")).text
    assert "0/10,000" in listed
    assert "&lt;b&gt;x" in listed
    drawn = (await browser.get(f"/t/acme/workflows/{big}")).text
    assert drawn.count("<rect") == 4
    assert "9,997 × shoot" in drawn
    assert len(drawn) < 60_000
    held = (await browser.get(f"/t/acme/workflows/{small}")).text
    assert EVIL not in held
    assert "Let held steps go on" in held
    there = (await browser.get(f"/t/acme/jobs/{job}")).text
    assert f"/t/acme/workflows/{small}" in there
    assert "<svg" in there
    path = f"/t/acme/workflows/{small}"
    assert (await sent(browser, path, f"{path}/release")).status_code == 303
    assert (await sent(browser, path, f"{path}/cancel", reason="no more")).status_code == 303
    assert (await console.api.rows("select cancel_reason from postmill.workflow where id = %s", small))[0][
        0
    ] == "no more"
    stranger = await console.browser(Role.OPERATOR, "other")
    assert (await stranger.get(f"/t/other/workflows/{small}")).status_code == 404
    assert (await sent(stranger, "/t/other/jobs", f"/t/other/workflows/{small}/cancel")).status_code == 404
    viewer = await console.browser(Role.VIEWER, "acme")
    assert "Cancel the whole" not in (await viewer.get(path)).text
    ops = await console.browser()
    assert "/t/acme/workflows" in (await ops.get("/ops/workflows")).text


def _job(conn: Any, workflow: UUID, step: str) -> UUID:
    row = conn.execute(
        "select job_id from postmill.workflow_step where workflow_id = %s and name = %s", [workflow, step]
    ).fetchone()
    return UUID(str(row[0]))
