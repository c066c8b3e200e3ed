"""What the table of routes itself says: which are open, that the document has them all, that acting is not reading."""

from __future__ import annotations

from postmill.api.app import openapi
from postmill.domain.access import Action
from tests.access.doors import CLOSED, OPENED


def test_what_is_open_is_known() -> None:
    assert {str(door) for door in OPENED} == {
        "GET /healthz",
        "GET /readyz",
        "POST /api/v1/session",
        "POST /api/v1/webhooks/{webhook_id}",
    }


def test_the_document_and_the_table_of_routes_are_the_same() -> None:
    documented = {
        f"{method.upper()} {path}"
        for path, item in openapi()["paths"].items()
        for method in item
        if method != "parameters"
    }
    hidden = {"GET /api/v1/openapi.json"}
    assert documented == {str(door) for door in (*CLOSED, *OPENED)} - hidden


def test_unsafe_methods_ask_for_more_than_reading() -> None:
    """But for a computation that takes its question in a body, and one's own logout. A worker reads for its own job only."""
    reading = {action for action in Action if action.endswith(".read")}
    assert [
        str(d)
        for d in CLOSED
        if d.method not in ("GET", "HEAD") and (d.action is None or d.action in reading)
    ] == [
        "POST /api/v1/operations/preview",
        "POST /api/v1/operations/impact",
        "POST /api/v1/jobs/triggers/preview",
        "DELETE /api/v1/session",
    ]
    assert [
        str(d) for d in CLOSED if d.method == "GET" and d.action is not None and d.action not in reading
    ] == [
        "GET /api/v1/worker/jobs/{job_id}/workflow",
        "GET /api/v1/worker/jobs/{job_id}/artifacts/{artifact_id}/content",
    ]
