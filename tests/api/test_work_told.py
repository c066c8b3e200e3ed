"""What others learn of the jobs of HTTP workers: events, metrics, attempts; and payloads that are encrypted at rest."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from postmill.domain.access import Role
from postmill.telemetry.events import JobClaimed, JobCompleted, JobDeadLettered, JobFailed, JobRetryScheduled
from tests.support.api import Api, opened, problem
from tests.support.http_work import define_http, job, worker

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTOR = {"request_id": "r-1", "correlation_id": "c-1", "actor_id": "ada"}


async def test_events_and_metrics_as_of_any_worker(api: Api) -> None:
    by_class = {
        "kind": "by_error_class",
        "policies": {"axios.AxiosError": {"kind": "constant", "delay": 7.0, "jitter": [1, 1]}},
    }
    await define_http(api, "told", "told", max_attempts=2, retry=by_class)
    seen: list[Any] = []
    bus = api.app.state.backend.desk.bus
    end = bus.subscribe(seen.append, JobClaimed, JobCompleted, JobFailed, JobRetryScheduled, JobDeadLettered)
    good, bad = await job(api, "told", correlation_id="c-1"), await job(api, "told")
    one = await worker(api, "teller", queues=["told"])
    for _ in range(2):
        held = await one.one()
        if held["job_id"] == str(good):
            await one.tell("complete", held, result=1)
        else:
            await one.tell("fail", held, error={"error_class": "axios.AxiosError", "code": "ECONNRESET"})
    end()
    names = [(type(event), event.job_id) for event in seen]
    assert sorted(str(name) for name in names) == sorted(
        str(name)
        for name in [
            (JobClaimed, good), (JobCompleted, good), (JobClaimed, bad), (JobFailed, bad), (JobRetryScheduled, bad),
        ]
    )  # fmt: skip
    assert {event.job.worker_id for event in seen} == {"teller"}
    assert {event.job.correlation_id for event in seen if event.job_id == good} == {"c-1"}
    (retry,) = [event for event in seen if isinstance(event, JobRetryScheduled)]
    assert retry.delay == 7.0, "a policy by class knows the name that the worker gave"
    viewer = await api.client(Role.PLATFORM_VIEWER, None)
    page = (await viewer.get("http://api.test/metrics")).text
    for line in (
        'jobs_claimed_total{job_type="told",queue="told"} 2',
        'jobs_succeeded_total{job_type="told",queue="told"} 1',
        'jobs_failed_total{job_type="told",queue="told",error_class="axios.AxiosError"} 1',
        'jobs_queue_latency_seconds_count{job_type="told",queue="told"} 2',
    ):
        assert line in page.splitlines()


async def test_attempts_name_the_worker(api: Api) -> None:
    await define_http(api, "named", "named")
    id = await job(api, "named", tenant=await api.tenant("acme"))
    one = await worker(api, "thumbs@web-3:1", queues=["named"])
    await one.tell("fail", await one.one(), error={"error_class": "E", "message": "first"})
    viewer = await api.client(Role.VIEWER, "acme")
    (attempt,) = (await viewer.get(f"/jobs/{id}/attempts")).json()["items"]
    assert (attempt["worker_id"], attempt["status"], attempt["error_text"]) == (
        "thumbs@web-3:1",
        "failed",
        "first",
    )


async def test_encrypted_payloads_are_opened_for_the_worker(api: Api) -> None:
    ring = f"k1:{base64.b64encode(bytes(32)).decode()}"
    await define_http(api, "sealed", "sealed", encrypted=True)
    async with opened(api.database, others={"encryption": {"keys": [ring]}}) as with_keys:
        with_keys.tenants["acme"] = await api.tenant("acme")
        sender = await with_keys.client()
        made = await sender.post(
            "/jobs", json={"definition_key": "sealed", "payload": {"pin": "geheim-1234", "n": 1}}
        )
        assert made.status_code == 201, made.text
        id = made.json()["id"]
        assert "1234" not in str(await api.rows("select payload from postmill.job where id = %s", id))
        # A server without the keys gives nothing out, and spoils nothing.
        blind = await worker(api, "w", queues=["sealed"])
        problem(await blind.try_claim(), 503, "keys-missing")
        one = await worker(with_keys, "w", queues=["sealed"])
        held = await one.one()
        assert held["payload"] == {"pin": "geheim-1234", "n": 1}
        told = await one.tell(
            "fail", held, error={"error_class": "E", "message": "no door opens by geheim-1234"}
        )
        assert told.status_code == 200
    assert "1234" not in str(
        await api.rows("select error_message from postmill.attempt where job_id = %s", id)
    )


async def test_a_strict_envelope_is_checked_again(api: Api) -> None:
    """The organization may have gone meanwhile: it is not executed."""
    tenant = await api.tenant("gone")
    await define_http(api, "strict", "strict", strict_envelope=True)
    id = await job(api, "strict", tenant=tenant, key="k", **ACTOR)
    fine = await job(api, "strict", tenant=await api.tenant("acme"), key="k", **ACTOR)
    await api.owner.execute("delete from postmill.tenant where id = %s", [tenant])
    one = await worker(api, "w", queues=["strict"])
    assert (await one.one(max_jobs=5))["job_id"] == str(fine)
    assert await api.rows("select reason, error_class from postmill.dead_letter where id = %s", id) == [
        ("permanent_error", "postmill.domain.errors.ScopeViolation")
    ]
