"""Whatever a worker sends: refused in words or stored as it may be; never a fault of ours, never a change of others."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio

from tests.support.api import Api
from tests.support.http_work import NEVER, HttpWorker, define_http, job, worker

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLAIM = {"worker_id": "w", "queues": ["hostile"]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one(api: Api) -> HttpWorker:
    await define_http(
        api,
        "hostile",
        "hostile",
        max_attempts=1000,
        retry={"kind": "constant", "delay": 0.0, "jitter": [1, 1]},
    )
    return await worker(api, "w", queues=["hostile"])


BAD_CLAIMS: list[Any] = [
    {}, [], None, 7, "claim", {"worker_id": "w"}, {"queues": ["hostile"]},
    CLAIM | {"worker_id": ""}, CLAIM | {"worker_id": "x" * 201}, CLAIM | {"worker_id": 7}, CLAIM | {"worker_id": None},
    CLAIM | {"worker_id": "w\0"}, CLAIM | {"queues": "hostile"}, CLAIM | {"queues": [""]}, CLAIM | {"queues": [None]},
    CLAIM | {"queues": ["hostile\0"]}, CLAIM | {"queues": ["q"] * 101}, CLAIM | {"queues": ["'; drop table job; --"]},
    CLAIM | {"job_types": ["*"]}, CLAIM | {"job_types": ["hostile", "default"]}, CLAIM | {"job_types": [{"$ne": 1}]},
    CLAIM | {"max_jobs": 0}, CLAIM | {"max_jobs": -1}, CLAIM | {"max_jobs": 101}, CLAIM | {"max_jobs": 1.5},
    CLAIM | {"max_jobs": 10**30}, CLAIM | {"lease_seconds": 0}, CLAIM | {"lease_seconds": 1e300},
    CLAIM | {"lease_seconds": -5}, CLAIM | {"wait_seconds": 31}, CLAIM | {"wait_seconds": -1},
    CLAIM | {"wait_seconds": "Infinity"}, CLAIM | {"holder": "me"}, CLAIM | {"tenant_id": "00000000-0000-0000-0000-000000000001"},
]  # fmt: skip


async def test_bad_claims_are_refused(api: Api, one: HttpWorker) -> None:
    await job(api, "hostile")
    for body in BAD_CLAIMS:
        answer = await one.client.post("/worker/jobs/claim", json=body)
        assert answer.status_code == 422, (body, answer.text)
        assert answer.json()["detail"], body
    for raw in (b"", b"{", b'{"worker_id": "\xff"}', b'{"wait_seconds": NaN}', b"[" * 5000):
        answer = await one.client.post(
            "/worker/jobs/claim", content=raw, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422), (raw[:40], answer.text)
    assert len(await one.claim(worker_id="w" * 200)) == 1


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


BAD_REPORTS: list[tuple[str, dict[str, Any]]] = [
    ("complete", {"fence": None}), ("complete", {"fence": ""}), ("complete", {"fence": NEVER[:-1]}),
    ("complete", {"fence": "=" * 32}), ("complete", {"fence": NEVER + "A"}), ("complete", {"fence": ["A"] * 32}),
    ("complete", {"result": nested(300)}), ("complete", {"result": "a\0b"}), ("complete", {"result": {"a\0": 1}}),
    ("complete", {"status": "failed"}), ("complete", {"job_id": "another"}),
    ("fail", {}), ("fail", {"error": None}), ("fail", {"error": "boom"}), ("fail", {"error": {}}),
    ("fail", {"error": {"error_class": ""}}), ("fail", {"error": {"error_class": "x" * 201}}),
    ("fail", {"error": {"error_class": "E\0"}}), ("fail", {"error": {"error_class": "E", "status": 200}}),
    ("fail", {"error": {"error_class": "E", "status": "teapot"}}),
    ("fail", {"error": {"error_class": "E", "retryable": "perhaps"}}),
    ("fail", {"error": {"error_class": "E", "retry_after": -1}}),
    ("fail", {"error": {"error_class": "E", "retry_after": 1e10}}),
    ("fail", {"error": {"error_class": "E", "message": "x" * 100_001}}),
    ("fail", {"error": {"error_class": "E", "delay": 0}}),
    ("heartbeat", {"progress": 1}), ("heartbeat", {"progress": {}}), ("heartbeat", {"progress": {"done": -1}}),
    ("heartbeat", {"progress": {"done": 1, "message": "x" * 1001}}), ("heartbeat", {"lease_seconds": 3600}),
]  # fmt: skip


async def test_bad_reports_are_refused_and_change_nothing(api: Api, one: HttpWorker) -> None:
    await job(api, "hostile")
    held = await one.one()
    for verb, body in BAD_REPORTS:
        answer = await one.tell(verb, held, **body)
        assert answer.status_code in (409, 422), (verb, body, answer.text)
    for path in ("not-an-id", "%00", "..%2fclaim", "1"):
        answer = await one.client.post(f"/worker/jobs/{path}/complete", json={"fence": held["fence"]})
        assert answer.status_code in (404, 422), (path, answer.text)
    answer = await one.tell("complete", held, result="x" * (1 << 20))
    assert answer.status_code == 413
    assert await api.rows("select state from postmill.job_state(array[%s::uuid])", held["job_id"]) == [
        ("running",)
    ]
    assert (await one.tell("complete", held, result=nested(150))).status_code == 200


ODD_ERRORS: list[dict[str, Any]] = [
    {"error_class": "."}, {"error_class": "a."}, {"error_class": ".b"}, {"error_class": "a..b"}, {"error_class": "💥.🔥"},
    {"error_class": "__class__"}, {"error_class": "postmill.domain.signals.Snooze"}, {"error_class": "KeyboardInterrupt"},
    {"error_class": "builtins.SystemExit"}, {"error_class": "Undecodable"}, {"error_class": "\u202eE\x1b[31m"},
    {"error_class": "E", "message": "x" * 100_000, "stack": "y" * 200_000}, {"error_class": "E", "code": "\x07" * 200},
    {"error_class": "E", "retry_after": 0, "status": 599}, {"error_class": "E", "message": "password=hunter2"},
    {"error_class": "E", "message": "%s %(x)s {0} $1 \\'; --"},
]  # fmt: skip


async def test_odd_errors_are_stored_as_text(api: Api, one: HttpWorker) -> None:
    """A name is a name: no class of ours is made of it, and none of its meanings."""
    for error in ODD_ERRORS:
        id = await job(api, "hostile")
        held = await one.one()
        answer = await one.tell("fail", held, error=error)
        assert answer.status_code == 200, (error, answer.text)
        assert answer.json()["status"] == "scheduled", error
        (row,) = await api.rows(
            "select error_class, error_message, error_code, stack from postmill.attempt where job_id = %s", id
        )
        assert row[0] == error["error_class"].removeprefix("builtins.")
        assert len(row[1]) <= 16 * 1024
        assert row[3] is None or len(row[3]) <= 32 * 1024
        assert "hunter2" not in json.dumps(row)
