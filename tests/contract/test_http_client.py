"""The Python client of the HTTP API and the OpenAPI document: the same operations, parameters and fields."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from postmill.http import ApiClient, AsyncApiClient
from postmill.http.awaiting import AsyncGroup
from postmill.http.blocking import Group
from tests.http.recording import EXEMPT, operations
from tests.support.reference.http import document

BESIDE = {"get_openapi"}
"""Methods for what is not in the document: itself."""

BY_FENCE = {
    *("renew_lease", "complete_job", "fail_job"),
    *("reserve_budget", "start_reservation", "settle_reservation", "release_reservation"),
}
"""Done once by their fence, so they take no Idempotency-Key of the caller's."""

NAMES = {"Idempotency-Key": "idempotency_key", "Postmill-Fence": "fence"}
MADE = {("put_artifact", "content-digest"), ("list_history", "format")}
"""Parameters that the client gives by itself."""
MORE = {"traceparent", "content", "content_type"}
"""Headers that the document does not name, and a body that is no JSON."""

Build = Callable[..., Any]


def methods(client: type) -> Iterator[tuple[str, Build]]:
    """Every method that sends something, as `group.method`, and what makes its Call."""
    built = client("http://127.0.0.1", "pm_key")
    for kind, prefix in [(client, ""), *((type(one), f"{name}.") for name, one in vars(built).items())]:
        if issubclass(kind, Group | AsyncGroup):
            for name, value in vars(kind).items():
                if hasattr(value, "__wrapped__"):
                    yield prefix + name, value.__wrapped__


def parameters(build: Build) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(build).parameters)


BUILDS = {build.__name__: build for _, build in methods(ApiClient)}


def test_each_operation_has_one_method() -> None:
    builds = [build.__name__ for name, build in methods(ApiClient) if not _is_convenience(name)]
    assert len(builds) == len(set(builds))
    assert set(builds) - BESIDE == operations().keys() - EXEMPT.keys()


def test_both_clients_have_the_same() -> None:
    assert dict(methods(ApiClient)) == dict(methods(AsyncApiClient))


def test_each_list_with_pages_can_be_iterated() -> None:
    paged = {name for name, build in BUILDS.items() if "cursor" in parameters(build)} - {"set_priorities"}
    assert {build.__name__ for name, build in methods(ApiClient) if ".each" in name} == paged


@pytest.mark.parametrize("name", sorted(BUILDS.keys() - BESIDE))
def test_parameters_and_fields_are_those_of_the_document(name: str) -> None:
    found = {
        key: one.default is one.empty for key, one in parameters(BUILDS[name]).items() if key not in MORE
    }
    assert found == dict(_documented(name))


@pytest.mark.parametrize("name", sorted(BUILDS))
def test_each_is_explained_and_typed(name: str) -> None:
    hints = typing.get_type_hints(BUILDS[name])
    assert BUILDS[name].__doc__
    assert hints.keys() == parameters(BUILDS[name]).keys() | {"return"}
    assert "Any" not in str(inspect.signature(BUILDS[name]))


def _is_convenience(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith(("each", "save"))


def _documented(name: str) -> Iterator[tuple[str, bool]]:
    """Names of parameters and fields, and whether they are required."""
    operation = operations()[name]
    shared = document()["components"]["parameters"]
    for said in operation.get("parameters", []):
        one = shared[said["$ref"].rpartition("/")[2]] if "$ref" in said else said
        if (name, one["name"]) in MADE or (one["name"] == "Idempotency-Key" and name in BY_FENCE):
            continue
        yield NAMES.get(one["name"], one["name"]), one.get("required", False)
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return
    (reference,) = [one["$ref"] for one in (schema, *schema.get("anyOf", [])) if "$ref" in one]
    model = reference.rpartition("/")[2]
    for parameter, hint in typing.get_type_hints(BUILDS[name]).items():
        if isinstance(hint, type) and issubclass(hint, BaseModel) and hint.__name__ == model:
            yield parameter, True
            return
    body = document()["components"]["schemas"][model]
    for field in body["properties"]:
        yield field, field in body.get("required", [])
