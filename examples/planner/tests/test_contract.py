"""The contract of every job: all fields, who may be named, what is refused; and what the API asks of its callers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from pydantic import ValidationError

from examples.planner.contract import Envelope
from examples.planner.submit import key_of
from examples.planner.tests.labour import served
from examples.planner.tests.office import ORG, Office
from postmill import stable_hash

WHOLE: dict[str, Any] = {
    "job_id": "01a2efe0-0000-7000-8000-000000000001", "job_type": "staffing.refresh", "org_id": str(ORG),
    "project_id": "01a2efe0-0000-7000-8000-000000000002", "actor_type": "user", "actor_id": "olga", "request_id": "r",
    "correlation_id": "c", "idempotency_key": "k", "created_at": "2031-05-05T08:00:00Z", "payload": {},
    "scheduled_for": "2031-05-05T08:00:00Z", "traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01",
}  # fmt: skip
OPTIONAL = ("project_id", "scheduled_for", "traceparent")


def test_every_field_and_its_form() -> None:
    assert Envelope.model_validate(WHOLE)
    for name in WHOLE:
        less = {field: value for field, value in WHOLE.items() if field != name}
        if name in OPTIONAL:
            Envelope.model_validate(less)
        else:
            with pytest.raises(ValidationError, match=name):
                Envelope.model_validate(less)
    wrong = {
        "job_id": "7", "job_type": "", "org_id": "bcg", "project_id": "x", "actor_type": "robot", "actor_id": "",
        "request_id": "",
        "correlation_id": "", "idempotency_key": "", "created_at": "2031-05-05T08:00:00", "payload": [],
        "scheduled_for": "tomorrow", "traceparent": "00-1-2-3", "queue": "q:critical",
    }  # fmt: skip
    for name, value in wrong.items():
        with pytest.raises(ValidationError, match=name):
            Envelope.model_validate(WHOLE | {name: value})


async def test_a_job_of_a_request_has_all_of_it(office: Office) -> None:
    ids = {"X-Request-Id": "req-7", "X-Correlation-Id": "corr-9"}
    made = await office.ask("POST", "/projects", 201, json={"name": "Fair"}, headers=ids, who="robot")
    shown = await office.ask("GET", f"/jobs/{made['jobs'][0]}")
    contract = shown["contract"]
    assert contract | {"created_at": ""} == {
        "job_id": made["jobs"][0], "job_type": "project.provision", "org_id": str(ORG), "project_id": made["id"],
        "actor_type": "api_key", "actor_id": "robot", "request_id": "req-7", "correlation_id": "corr-9",
        "idempotency_key": f"project.provision:{ORG}:{made['id']}:{stable_hash({})}",
        "created_at": "", "payload": {}, "scheduled_for": None, "traceparent": None,
    }  # fmt: skip
    assert shown["status"] == "queued"
    strange = await office.http.get(f"/api/orgs/{ORG}/audit", headers={"X-Request-Id": "<b>" * 99})
    assert UUID(strange.headers["X-Request-Id"]), "what looks like no id is not taken over"


def test_the_form_of_a_key() -> None:
    """`<job_type>:<org>:<project?>:<stable_hash>`; the hash is of normalized inputs."""
    project = UUID(int=7)
    assert key_of("t", ORG, project, {"a": 1}) == f"t:{ORG}:{project}:{stable_hash({'a': 1})}"
    assert key_of("t", ORG, None, {"a": 1}).startswith(f"t:{ORG}::")
    assert stable_hash(b'{"b": "2031-05-05T10:00:00+02:00", "a": 1.0}') == stable_hash(
        {"a": 1, "b": "2031-05-05T08:00:00Z"}
    )


@pytest.mark.parametrize("missing", ["tenant", "actor_id", "request_id", "correlation_id", "key"])
async def test_past_the_api_it_is_strict_as_well(office: Office, missing: str) -> None:
    """Plain SQL, for every type of the planner's at once."""
    given = {"tenant": str(ORG), "actor_id": "a", "request_id": "r", "correlation_id": "c", "key": "k"}
    del given[missing]
    words = ", ".join(f"{name} => '{value}'" for name, value in given.items())
    for kind in served().names:
        with pytest.raises(psycopg.Error, match="strict envelope"):
            await office.conn.execute(f"select postmill.enqueue('{kind}', '{{}}', {words})".encode())


async def test_secrets_are_refused(office: Office) -> None:
    with pytest.raises(psycopg.Error, match="token"):
        await office.past_the_api({"revision": 1, "token": "s3"})


async def test_who_asks(office: Office) -> None:
    await office.ask("GET", "/audit", 401, who="nobody")
    await office.ask("GET", "/audit", 401, who="eve")
    project = await office.project()
    await office.ask("POST", f"{project}/conflict-scans", 403, who="vera")
    await office.ask("GET", "/audit", 403, who="pete")
    made = await office.ask("POST", f"{project}/conflict-scans", 202, who="pete")
    there = await office.http.get(
        f"/api/orgs/2efe049f-ae71-4226-97be-236b4df4a93b/jobs/{made['job_id']}",
        headers={"Authorization": "Bearer eve"},
    )
    assert there.status_code == 404, "another organization's is not there"
