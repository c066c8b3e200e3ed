"""The OpenAPI document is whole: what the seed contract names is there, and every part of it explains itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from postmill.api.document import METHODS
from postmill.api.guard import is_open
from tests.support.reference.http import committed, document

SEED_3 = {
    "/admin/jobs/definitions": {"get", "post"},
    "/admin/jobs/definitions/{definition_id}": {"patch"},
    "/jobs/triggers": {"get", "post"},
    "/jobs/triggers/{trigger_id}": {"patch", "delete"},
    "/jobs": {"get", "post"},
    "/jobs/{job_id}": {"get"},
    "/jobs/{job_id}/cancel": {"post"},
    "/jobs/{job_id}/retry": {"post"},
    "/jobs/summary": {"get"},
    "/jobs/{job_id}/attempts": {"get"},
    "/worker/jobs/claim": {"post"},
    "/worker/jobs/{job_id}/heartbeat": {"post"},
    "/worker/jobs/{job_id}/complete": {"post"},
    "/worker/jobs/{job_id}/fail": {"post"},
}
"""The seed's API contract, below /api/v1."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


@pytest.mark.parametrize("path", SEED_3)
def test_the_seeds_contract(path: str) -> None:
    assert SEED_3[path] <= document()["paths"][f"/api/v1{path}"].keys()


def test_the_seeds_filters_of_jobs() -> None:
    names = {one["name"] for one in document()["paths"]["/api/v1/jobs"]["get"]["parameters"]}
    assert {"status", "source", "limit", "offset", "created_after", "created_before", "cursor"} <= names


def test_every_operation_is_named_and_explained() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(names) == len(set(names))
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    assert [
        o["operationId"] for _, _, o in operations() if not o.get("description") or not o.get("tags")
    ] == []


def test_every_operation_says_who_may_come_in_and_what_may_go_wrong() -> None:
    for path, method, operation in operations():
        statuses = operation["responses"].keys()
        if is_open(method.upper(), path):
            assert operation["security"] == []
            continue
        assert operation["security"] == [{"bearer": []}]
        assert {"401", "403", "422", "429"} <= statuses
        assert ("404" in statuses) or "{" not in path, path
        if method != "get":
            assert {"409", "413"} <= statuses
            takes_key = {"$ref": "#/components/parameters/IdempotencyKey"} in operation.get("parameters", [])
            assert takes_key is (operation["operationId"] not in ("claim_jobs", "put_artifact"))


def test_every_model_has_an_example() -> None:
    bare = [
        name
        for name, model in document()["components"]["schemas"].items()
        if "examples" not in model
        and model.get("properties")
        and not any(_has_example(field) for field in model["properties"].values())
        and not name.startswith("Page_")
    ]
    assert bare == []


def test_examples_are_what_they_are_examples_of() -> None:
    """The examples of fields and models are valid; nulls are left out of them, and so are long answers' lesser parts."""
    schemas = document()["components"]["schemas"]
    for name, model in schemas.items():
        parts = {
            name: model,
            **{f"{name}.{field}": one for field, one in model.get("properties", {}).items()},
        }
        for where, schema in parts.items():
            whole = {**schema, "components": {"schemas": schemas}, "required": []}
            for example in schema.get("examples", []):
                assert jsonschema_rs.is_valid(whole, example), (where, example)


@pytest.mark.usefixtures("forked")
def test_the_command_prints_the_committed_document_without_database_or_settings() -> None:
    kept = {
        name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [sys.executable, "-m", "postmill", "openapi"], env=kept, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == committed()
    assert json.loads(done.stdout)["openapi"] == "3.1.0"


def _has_example(field: dict[str, Any]) -> bool:
    if "examples" in field or "$ref" in field:
        return True
    return any(map(_has_example, [*field.get("anyOf", []), *([field["items"]] if "items" in field else [])]))
