"""`postmill workflows`."""

from postmill import NewJob, Workflow, start_workflow
from tests.cli.support import cli
from tests.support.flows import advance
from tests.support.sessions import WorkerSession, bury, complete, one


def test_look_and_act(dsn, pg, stage):
    stage.register("shoot")
    stage.register("store")
    assert "no workflows" in cli("workflows", "list", dsn=dsn).out
    flow = Workflow("site preview")
    flow.add("capture", NewJob.of("shoot"))
    pages = [
        flow.add(f"page {n}", NewJob.of("shoot"), after="capture", parent_failure="hold") for n in range(100)
    ]
    flow.add("upload", NewJob.of("store"), after=pages)
    id = str(start_workflow(pg, flow).id)
    [row] = cli("workflows", "list", "--json", dsn=dsn).json
    assert (row["id"], row["status"], row["total"]) == (id, "running", 102)
    shown = cli("workflows", "show", id[:18], dsn=dsn).out
    assert "capture  queued  shoot" in shown
    assert "└─ 100 × shoot  100 blocked" in shown
    assert "   └─ upload  blocked  store" in shown
    assert 'n0["capture<br/>queued"]' in cli("workflows", "show", id, "--format", "mermaid", dsn=dsn).out
    assert "n0 -> n1;" in cli("workflows", "show", id, "--format", "dot", dsn=dsn).out
    whole = cli("workflows", "show", id, "--json", dsn=dsn).json
    assert (len(whole["steps"]), len(whole["edges"])) == (102, 200)
    assert cli("workflows", "show", id, "--format", "svg", dsn=dsn).code == 2
    cli("jobs", "cancel", whole["steps"][0]["job_id"], dsn=dsn)
    advance(pg)
    held = cli("workflows", "show", id, dsn=dsn)
    assert "held" in held.out
    assert "postmill workflows release" in held.err
    assert "1 step goes on" in cli("workflows", "release", id, "page 7", dsn=dsn).out
    assert cli("workflows", "release", id, "--json", dsn=dsn).json["released"] == 99
    assert "canceled; 101 jobs" in cli("workflows", "cancel", id, "--reason", "enough", dsn=dsn).out
    advance(pg)
    assert cli("workflows", "cancel", id, dsn=dsn).code == 1
    retried = cli("workflows", "retry", id, "--json", dsn=dsn).json
    assert {one["status"] for one in retried} == {"replayed"}
    assert cli("workflows", "show", "0198f3a2-7c11", dsn=dsn).code == 5
    log = pg.execute(
        "select action from postmill.audit_log where action like 'workflows.%' order by 1"
    ).fetchall()
    assert [action for (action,) in log] == [
        *["workflows.cancel"],
        *["workflows.release"] * 2,
        "workflows.retry",
    ]
    for words in (["workflows", "show"], ["operations", "show"], ["incidents", "show"]):
        for id in ("bogus", "01980000-0000-7000-8000-000000000000"):
            told = cli(*words, id, dsn=dsn)
            assert (told.code in (2, 5), "job" in told.err) == (True, False), told.err
            assert words[0] in told.err or words[0][:-1] in told.err


def test_words_of_what_is_taken_back(dsn, pg, stage):
    """A compensation that died holds the next one: what holds, and what to do, in words."""
    stage.register("book")
    flow = Workflow("trip")
    flow.add("flight", NewJob.of("book"), compensate=NewJob.of("book"))
    flow.add("hotel", NewJob.of("book"), after="flight", compensate=NewJob.of("book"))
    flow.add("car", NewJob.of("book"), after="hotel")
    id = str(start_workflow(pg, flow).id)
    session = WorkerSession(pg, lease=3600.0)
    last = str(one(pg, "select job_id from postmill.workflow_step where name = 'car'"))
    assert "it waits for 1 step of workflow trip: hotel" in cli("jobs", "why", last, dsn=dsn).out
    for report in (complete, complete, bury):
        report(pg, session.claim(10))
        advance(pg)
    undo = str(one(pg, "select job_id from postmill.workflow_step where compensates = 1"))
    assert (
        "takes a step of workflow trip back, once the one before it is done: undo hotel"
        in cli("jobs", "why", undo, dsn=dsn).out
    )
    bury(pg, session.claim(10))
    advance(pg)
    why = cli("jobs", "why", undo, dsn=dsn).out
    assert "held in workflow trip, since undo hotel did not succeed" in why
    assert f"postmill workflows retry {id}; or let it go on: postmill workflows release {id}" in why
    shown = cli("workflows", "show", id, dsn=dsn)
    assert "came out    failed" in shown.out
    assert "taken back  0 of 2" in shown.out
    assert "undo hotel  dead_letter" in shown.out
    assert "undo flight  held" in shown.out
    assert "postmill workflows retry" in shown.err
    assert "its workflow was taken back" in cli("dead", "replay", last, dsn=dsn).out
