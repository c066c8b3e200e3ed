"""Schemas are bounded when they are saved; payloads are checked with the place of each fault, and without the values."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from postmill.domain.arg_schema import check_schema, faults
from postmill.domain.errors import DefinitionError

# Seed 3, API contract, job definitions.
SYNC: dict[str, Any] = {
    "type": "object",
    "properties": {"provider_id": {"type": "string", "format": "uuid"}, "path_prefix": {"type": "string"}},
    "required": ["provider_id"],
    "additionalProperties": False,
}
PROVIDER = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"


def found(schema: dict[str, Any], payload: object, **options: bool) -> list[str]:
    return [fault.path for fault in faults(json.dumps(schema), payload, **options)]


def test_the_seeds_schema() -> None:
    assert check_schema(SYNC) == SYNC
    assert found(SYNC, {"provider_id": PROVIDER, "path_prefix": "/"}) == []
    assert found(SYNC, {}) == ["#"]
    assert found(SYNC, {"provider_id": "no"}) == ["#/provider_id"]
    assert found(SYNC, {"provider_id": PROVIDER, "path_prefix": 1, "more": 2}) == ["#", "#/path_prefix"]
    assert found(SYNC, []) == ["#"]


def test_faults_name_the_place_and_never_the_value() -> None:
    schema = {"properties": {"a/b": {"items": {"pattern": "^x$", "maxLength": 3}}}}
    (one, two) = faults(json.dumps(schema), {"a/b": ["x", "hunter2"]})
    assert one.path == two.path == "#/a~1b/1"
    assert "hunter2" not in f"{one}{two}"


def test_many_faults_are_bounded_and_quick() -> None:
    schema = {"properties": {"a": {"items": {"type": "string"}}}}
    assert len(found(schema, {"a": [1] * 100})) == 20
    began = time.process_time()
    assert found(schema, {"a": [1] * 300_000}) == ["#/a/0"]
    assert time.process_time() - began < 2


def test_formats_are_asserted_unless_told_otherwise() -> None:
    assert found(SYNC, {"provider_id": "no"}, formats=False) == []


def test_an_empty_schema_takes_everything() -> None:
    assert found({}, {"a": [{"b": None}]}) == []


def doubling(lines: int) -> dict[str, Any]:
    """Each definition uses the one before twice."""
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for n in range(1, lines):
        defs[f"d{n}"] = {"allOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 2}
    return {"$defs": defs, "properties": {"a": {"$ref": f"#/$defs/d{lines - 1}"}}}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([], "is an object, not list"),
        ({"type": "objct"}, "#/type"),
        ({"properties": {"a": {"type": "string", "minLength": -1}}}, "#/properties/a/minLength"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "the only dialect"),
        ({"$ref": "https://evil.example/schema"}, "#/$ref leads to 'https://evil.example/schema'"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "#/properties/a/$ref leads to"),
        ({"properties": {"a": {"$dynamicRef": "other.json"}}}, "one document"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "which is not there"),
        ({"$ref": "#"}, "leads back to the whole schema"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"items": {"$ref": "#/$defs/b"}}}}, "within itself"),
        (doubling(16), "more than 5000 parts"),
        (nested(40), "deeper than 32"),
        ({"description": "x" * 70_000}, "at most 65536"),
        ({"properties": {"a": {"pattern": "(a"}}}, "#/properties/a/pattern"),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "#/properties/a/pattern"),
        ({"properties": {"a": {"pattern": "((a{100}){100}){100}"}}}, "#/properties/a/pattern"),
    ],
)  # fmt: skip
def test_what_is_refused_at_save(schema: object, why: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        check_schema(schema)
    assert str(refused.value).startswith("arg_schema: ")
    assert why in str(refused.value)


def test_references_inside_the_document_are_fine() -> None:
    schema = {
        "$defs": {"id": {"type": "string", "format": "uuid"}},
        "properties": {"a": {"$ref": "#/$defs/id"}},
    }
    assert check_schema(schema) == schema
    assert found(schema, {"a": "x"}) == ["#/a"]


def test_a_pattern_takes_linear_time() -> None:
    schema = {"properties": {"a": {"pattern": "^(a|a)*$"}}}
    check_schema(schema)
    began = time.process_time()
    assert found(schema, {"a": "a" * 500_000 + "b"}) == ["#/a"]
    assert time.process_time() - began < 1
