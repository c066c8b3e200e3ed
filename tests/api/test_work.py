"""The four calls of an HTTP worker, and what they do to jobs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.support.api import Api, opened, problem, unknown_id
from tests.support.http_work import NEVER, HttpWorker, define_http, expire, job, rescue, worker

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one(api: Api) -> HttpWorker:
    await define_http(
        api, "thumb", "media", max_attempts=3, retry={"kind": "constant", "delay": 60.0, "jitter": [1, 1]}
    )
    return await worker(api, "w1", queues=["media"])


async def state(api: Api, id: UUID | str) -> tuple[Any, ...]:
    (row,) = await api.rows(
        "select state, attempt, reason, error_class, error_code, error_message, result, worker_id from postmill.job_state(%s)",
        [UUID(str(id))],
    )
    return row


async def test_a_claim_tells_all_that_a_worker_needs(api: Api, one: HttpWorker) -> None:
    tenant = await api.tenant("acme")
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    id = await job(
        api, "thumb", '{"width": 320, "exact": 12345678901234567890.5}', tenant=tenant, correlation_id="c-1",
        traceparent=trace, request_id="r-1", key="k-1",
    )  # fmt: skip
    answer = await one.try_claim(lease_seconds=30)
    (claimed,) = answer.json()["jobs"]
    assert claimed["job_id"] == str(id)
    assert claimed["job_type"], claimed["queue"] == ("thumb", "media")
    assert claimed["payload"]["width"] == 320
    assert "12345678901234567890.5" in answer.text, "the payload is handed on as it was written"
    assert (claimed["attempt"], claimed["max_attempts"], claimed["run"]) == (1, 3, 1)
    assert claimed["tenant_id"] == str(tenant)
    assert (claimed["correlation_id"], claimed["request_id"], claimed["traceparent"]) == ("c-1", "r-1", trace)
    assert claimed["idempotency_key"] == "k-1"
    lease = datetime.fromisoformat(claimed["lease_expires_at"]) - datetime.now(UTC)
    assert timedelta(seconds=20) < lease <= timedelta(seconds=31)
    assert datetime.fromisoformat(claimed["deadline"]) > datetime.now(UTC) + timedelta(minutes=50)
    assert (await state(api, id))[0::7] == ("running", "w1")
    assert (await one.tell("complete", claimed)).status_code == 200


async def test_a_heartbeat_renews_the_lease_and_tells_of_progress(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one(lease_seconds=30)
    progress = {"done": 1, "total": 2, "message": "half"}
    answer = await one.tell("heartbeat", claimed, progress=progress)
    assert answer.status_code == 200, answer.text
    renewed = answer.json()
    assert renewed["job_id"] == str(id)
    assert datetime.fromisoformat(renewed["lease_expires_at"]) > datetime.fromisoformat(
        claimed["lease_expires_at"]
    )
    assert (renewed["cancel_requested"], renewed["timed_out"]) == (False, False)
    assert await api.rows(
        "select progress_done, progress_total, progress_message from postmill.job_state(%s)", [id]
    ) == [(1.0, 2.0, "half")]
    await one.tell("complete", claimed)


async def test_complete_is_the_end_and_has_one_answer(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one()
    first = await one.tell("complete", claimed, result={"bytes": 5, "of": [1, None]})
    assert first.status_code == 200, first.text
    assert {k: v for k, v in first.json().items() if k != "finished_at"} == {
        "job_id": str(id), "status": "succeeded", "attempt": 1, "steps": [],
    }  # fmt: skip
    again = await one.tell("complete", claimed, result="another")
    assert (again.status_code, again.json()) == (200, first.json())
    assert (await state(api, id))[0::6] == ("succeeded", {"bytes": 5, "of": [1, None]})
    # And it ended: under this fence nothing else can be told.
    for verb, body in (("heartbeat", {}), ("fail", {"error": {"error_class": "E"}})):
        problem(await one.tell(verb, claimed, **body), 409, "fence-over")
    assert await api.rows("select count(*) from postmill.outcome where job_id = %s", id) == [(1,)]


async def test_ten_reports_at_once_are_one(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one()
    async with opened(api.database) as other:
        another = await worker(other, "w1")
        answers = await asyncio.gather(*[another.tell("complete", claimed, result=n) for n in range(10)])
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert await api.rows("select count(*) from postmill.outcome where job_id = %s", id) == [(1,)]


async def test_a_failed_attempt_is_tried_again_by_the_policy(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb", '{"api_key": "geheim1234"}')
    claimed = await one.one()
    error = {
        "error_class": "axios.AxiosError", "message": "geheim1234 was refused", "code": "ECONNRESET", "status": 503,
        "stack": "at send (client.js:3)\nat geheim1234",
    }  # fmt: skip
    first = await one.tell("fail", claimed, error=error)
    assert first.status_code == 200, first.text
    told = first.json()
    assert (told["status"], told["attempt"], told["reason"]) == ("scheduled", 1, None)
    wait = datetime.fromisoformat(told["retry_at"]) - datetime.fromisoformat(told["finished_at"])
    assert wait == timedelta(seconds=60)
    assert (await one.tell("fail", claimed, error={"error_class": "Other"})).json() == told
    assert (await state(api, id))[0:2] == ("scheduled", 2)
    (row,) = await api.rows(
        "select status, error_class, error_code, error_message, error_status, stack from postmill.attempt where job_id = %s",
        id,
    )
    assert row[:3] == ("failed", "axios.AxiosError", "ECONNRESET")
    assert row[4] == 503
    assert "geheim" not in str(row), "secrets of the payload are hidden, in the stack too"
    assert "client.js:3" in row[5]


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        ({"retryable": False}, "dead_letter", "permanent_error"),
        ({"status": 404}, "dead_letter", "permanent_error"),
        ({"status": 404, "retryable": True}, "scheduled", None),
        ({"status": 429}, "scheduled", None),
        ({}, "scheduled", None),
    ],
)
async def test_the_rules_are_those_of_every_worker(
    api: Api, one: HttpWorker, error: dict[str, Any], status: str, reason: str | None
) -> None:
    id = await job(api, "thumb")
    told = (await one.tell("fail", await one.one(), error={"error_class": "E"} | error)).json()
    assert (told["status"], told["reason"]) == (status, reason)
    assert (await state(api, id))[0] == status


async def test_retry_after_wins_over_the_curve(api: Api, one: HttpWorker) -> None:
    await job(api, "thumb")
    told = (await one.tell("fail", await one.one(), error={"error_class": "E", "retry_after": 600})).json()
    wait = datetime.fromisoformat(told["retry_at"]) - datetime.fromisoformat(told["finished_at"])
    assert wait == timedelta(seconds=600)


async def test_the_last_attempt_is_buried_or_fails(api: Api) -> None:
    await define_http(api, "once", "once", max_attempts=1)
    await define_http(api, "once-fail", "once", max_attempts=1, on_exhausted="fail")
    one = await worker(api, "w-once", queues=["once"])
    for key, status in (("once", "dead_letter"), ("once-fail", "failed")):
        id = await job(api, key)
        told = (await one.tell("fail", await one.one(), error={"error_class": "E"})).json()
        assert (told["status"], told["reason"]) == (status, "max_retries_exceeded")
        assert (await state(api, id))[0] == status


async def test_successes_that_are_not_kept_have_one_answer_too(api: Api) -> None:
    await define_http(api, "tick", "ticks", keep="failures")
    id = await job(api, "tick")
    one = await worker(api, "w-tick", queues=["ticks"])
    claimed = await one.one()
    first = await one.tell("complete", claimed, result=1)
    assert first.json()["status"] == "succeeded"
    assert await api.rows("select count(*) from postmill.any_job where id = %s", id) == [(0,)]
    assert (await one.tell("complete", claimed)).json() == first.json()


async def test_a_cancel_request_is_told_and_met(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one()
    operator = await api.client(Role.PLATFORM_OPERATOR, None)
    assert (await operator.post(f"/jobs/{id}/cancel", json={"reason": "wrong photo"})).status_code == 202
    beat = (await one.tell("heartbeat", claimed)).json()
    assert (beat["cancel_requested"], beat["cancel_reason"]) == (True, "wrong photo")
    told = (await one.tell("fail", claimed, error={"error_class": "Stopped"})).json()
    assert (told["status"], told["reason"]) == ("canceled", "wrong photo")
    assert (await state(api, id))[0] == "canceled"
    assert await api.rows("select count(*) from postmill.cancel_request where job_id = %s", id) == [(0,)]


async def test_work_that_was_done_in_spite_of_a_cancel_request_counts(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one()
    operator = await api.client(Role.PLATFORM_OPERATOR, None)
    await operator.post(f"/jobs/{id}/cancel")
    assert (await one.tell("complete", claimed, result=1)).json()["status"] == "succeeded"


async def test_past_its_deadline_an_attempt_has_timed_out(api: Api) -> None:
    await define_http(api, "slow", "slow", timeout_seconds=0.001, max_attempts=2)
    id = await job(api, "slow")
    one = await worker(api, "w-slow", queues=["slow"])
    claimed = await one.one()
    first = await one.tell("heartbeat", claimed)
    assert (first.status_code, first.json()["timed_out"], first.json()["lease_expires_at"]) == (
        200,
        True,
        None,
    )
    assert (await one.tell("heartbeat", claimed)).json() == first.json()
    problem(await one.tell("complete", claimed, result=1), 409, "fence-over")
    assert (await state(api, id))[:2] == ("scheduled", 2)
    assert await api.rows("select status, error_class from postmill.attempt where job_id = %s", id) == [
        ("timeout", "postmill.domain.errors.TimedOut")
    ]


async def test_a_silent_workers_job_is_rescued_and_its_fence_is_void(api: Api, one: HttpWorker) -> None:
    id = await job(api, "thumb")
    claimed = await one.one()
    await expire(api, claimed)
    # A lease that ended cannot be renewed, even if nobody has noticed it yet.
    problem(await one.tell("heartbeat", claimed), 409, "fence-over")
    assert await rescue(api) == {id: "scheduled"}
    for verb, body in (
        ("heartbeat", {}),
        ("complete", {"result": 1}),
        ("fail", {"error": {"error_class": "E"}}),
    ):
        problem(await one.tell(verb, claimed, **body), 409, "fence-over")
    # The session of the worker lived on: it gets the job again, under another fence.
    again = await one.one()
    assert (again["job_id"], again["attempt"], again["run"]) == (str(id), 2, 2)
    assert again["fence"] != claimed["fence"]
    problem(await one.tell("complete", claimed), 409, "fence-over")
    assert (await one.tell("complete", again)).status_code == 200
    assert (await state(api, id))[0:2] == ("succeeded", 2)


async def test_a_late_report_that_nobody_forestalled_counts(api: Api, one: HttpWorker) -> None:
    """The work is done, and nobody else has begun it."""
    await job(api, "thumb")
    claimed = await one.one()
    await expire(api, claimed)
    assert (await one.tell("complete", claimed, result=1)).json()["status"] == "succeeded"
    assert await rescue(api) == {}


async def test_other_fences_and_jobs_change_nothing(api: Api, one: HttpWorker) -> None:
    ids = [await job(api, "thumb") for _ in range(2)]
    first, second = await one.claim(max_jobs=2)
    crossed = first | {"fence": second["fence"]}
    # One claim has one fence, and each job is its own: that of another claim fits nothing.
    await job(api, "thumb")
    third = await one.one()
    for fence in (NEVER, third["fence"]):
        for verb, body in (("heartbeat", {}), ("complete", {}), ("fail", {"error": {"error_class": "E"}})):
            problem(await one.tell(verb, crossed | {"fence": fence}, **body), 409, "fence-over")
    problem(await one.tell("complete", first | {"job_id": unknown_id()}), 404, "not-found")
    assert [(await state(api, id))[0] for id in ids] == ["running", "running"]
    for held in (first, second, third):
        assert (await one.tell("complete", held)).status_code == 200


async def test_what_a_worker_cannot_be_given_is_ended(api: Api) -> None:
    """Past its time, or of a shape that its definition refuses by now."""
    shape = {"type": "object", "properties": {"n": {"type": "integer"}}}
    await define_http(api, "shaped", "shaped", arg_schema=shape)
    late = await job(api, "shaped")
    await api.owner.execute("update postmill.job set expires_at = created_at where id = %s", [late])
    wrong = await job(api, "shaped", '{"n": "one"}')
    gone = await job(api, "shaped")
    await api.owner.execute("delete from postmill.job where id = %s", [gone])
    right = await job(api, "shaped", '{"n": 1}')
    one = await worker(api, "w-shaped", queues=["shaped"])
    claimed = await one.one(max_jobs=10)
    assert claimed["job_id"] == str(right)
    assert (await state(api, late))[:3:2] == ("dead_letter", "expired")
    assert (await state(api, wrong))[:3:2] == ("dead_letter", "undecodable")
    assert await api.rows("select reason from postmill.dead_letter where id = %s", gone) == [("undecodable",)]
    left = "select count(*) from postmill.http_claim where ended_at is null and job_id = any (%s)"
    assert await api.rows(left, [late, wrong, gone]) == [(0,)]
    await one.tell("complete", claimed)


async def test_nobody_else_may_work(api: Api) -> None:
    for role, tenant in ((Role.SUPER_ADMIN, None), (Role.TENANT_ADMIN, "acme"), (Role.VIEWER, "acme")):
        client = await api.client(role, tenant)
        problem(
            await client.post("/worker/jobs/claim", json={"worker_id": "w", "queues": ["media"]}),
            403,
            "forbidden",
        )
    mine = await api.client(Role.WORKER, None)
    problem(await mine.get("/jobs"), 403, "forbidden")


async def test_old_answers_and_dead_sessions_are_swept(api: Api, one: HttpWorker) -> None:
    await job(api, "thumb")
    await one.tell("complete", await one.one())
    await api.owner.execute("select set_config('postmill.clock_offset', '3 hours', false)")
    await api.owner.execute("select postmill.sweep_http(1000)")
    await api.owner.execute("select set_config('postmill.clock_offset', '', false)")
    assert await api.rows("select count(*) from postmill.http_claim where ended_at is not null") == [(0,)]
    assert await api.rows("select count(*) from postmill.http_session") == [(0,)]
    # Its name is known again at the next claim.
    assert await one.claim() == []
    assert await api.rows("select count(*) from postmill.http_session where worker_id = 'w1'") == [(1,)]
