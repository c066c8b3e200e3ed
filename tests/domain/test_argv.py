"""Templates: fixed text and whole arguments; a value is one argument, and never an option unless the schema says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.argv import parse
from postmill.domain.argv_render import render
from postmill.domain.argv_schema import check_against
from postmill.domain.errors import DefinitionError, PayloadRefused

FACTS: dict[str, str | None] = {"tenant_id": "t-1", "job_id": "j-1", "attempt": "1", "project_id": None}


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def argv(
    template: list[Any], schema: dict[str, Any], payload: dict[str, Any], **facts: str | None
) -> list[str]:
    parsed = parse(template)
    check_against(parsed, schema)
    return render(parsed, json.dumps(schema), payload, FACTS | facts)


def test_the_seeds_mapping() -> None:
    template = ["zoltag", "sync-dropbox", "--tenant-id", "{tenant_id}"]
    assert argv(template, {}, {}) == ["zoltag", "sync-dropbox", "--tenant-id", "t-1"]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("string", "a b", "a b"),
        ("string", "", ""),
        ("integer", 7, "7"),
        ("number", 0.5, "0.5"),
        ("boolean", True, "true"),
        ("string", "{job_id}", "{job_id}"),
    ],
)
def test_a_value_is_one_argument(kind: str, value: object, text: str) -> None:
    assert argv(["p", "{payload.a}"], schema_of(a={"type": kind}), {"a": value}) == ["p", text]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
def test_any_text_arrives_whole_or_is_refused(value: str) -> None:
    schema = schema_of(a={"type": "string"})
    try:
        found = argv(["p", "x", "{payload.a}", "y"], schema, {"a": value})
    except PayloadRefused:
        assert value.startswith("-")
    else:
        assert found == ["p", "x", value, "y"]


def test_groups_come_and_go() -> None:
    schema = {"properties": {"a": {"type": "string"}, "n": {"type": ["integer", "null"]}}}
    template = ["p", ["--a", "{payload.a}"], ["--n", "{payload.n}", "of", "{project_id}"], "end"]
    assert argv(template, schema, {}) == ["p", "end"]
    assert argv(template, schema, {"a": "1", "n": None}) == ["p", "--a", "1", "end"]
    assert argv(template, schema, {"n": 3}, project_id="q") == ["p", "--n", "3", "of", "q", "end"]


def test_defaults_references_and_inner_objects() -> None:
    schema = {
        "$defs": {"path": {"type": "string", "default": "/"}},
        "properties": {
            "path": {"$ref": "#/$defs/path"},
            "where": schema_of(city={"type": "string"}),
        },
        "required": ["where"],
    }
    template = ["p", "{payload.path}", "{payload.where.city}"]
    assert argv(template, schema, {"where": {"city": "Brno"}}) == ["p", "/", "Brno"]


def test_braces() -> None:
    assert argv(["p", "{{}}", "a{{b}}"], {}, {}) == ["p", "{}", "a{b}"]


def test_options_only_where_the_schema_allows_them() -> None:
    plain, allowed = {"type": "string"}, {"type": "string", "x-allow-leading-dash": True}
    with pytest.raises(PayloadRefused, match=r"^#/a: begins with '-'"):
        argv(["p", "{payload.a}"], schema_of(a=plain), {"a": "-rf"})
    with pytest.raises(PayloadRefused, match=r"^#/a: begins with '-'"):
        argv(["p", "{payload.a}"], schema_of(a={"type": "integer"}), {"a": -1})
    with pytest.raises(PayloadRefused, match=r"^correlation_id: begins with '-'"):
        argv(["p", ["{correlation_id}"]], {}, {}, correlation_id="-x")
    assert argv(["p", "{payload.a}"], schema_of(a=allowed), {"a": "-rf"}) == ["p", "-rf"]
    assert argv(["p", "{payload.a}"], schema_of(a={"enum": ["-v", "-q"]}), {"a": "-v"}) == ["p", "-v"]
    assert argv(["p", "{payload.a}"], schema_of(a={"const": -1}), {"a": -1}) == ["p", "-1"]


@pytest.mark.parametrize(
    ("value", "why"), [("a\0b", "NUL"), ("\ud800", "lone surrogate"), ("é" * 65_536, "131071 bytes")]
)
def test_what_no_argument_can_hold(value: str, why: str) -> None:
    with pytest.raises(PayloadRefused, match=rf"^#/a: .*{why}"):
        argv(["p", "{payload.a}"], schema_of(a={"type": "string"}), {"a": value})


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ([], "argv_template: is a list"),
        ("zoltag sync", "argv_template: is a list"),
        (["{payload.a}"], r"argv_template\[0\]: the program is fixed text"),
        ([["zoltag", "{payload.a}"]], r"argv_template\[0\]: the program"),
        ([""], r"argv_template\[0\]: the program"),
        (["-c"], r"argv_template\[0\]: the program"),
        (["p", 1], r"argv_template\[1\]: is text"),
        (["p", "--a={payload.a}"], r"argv_template\[1\]: .* mixes a placeholder with text"),
        (["p", "{payload.a} {payload.a}"], "mixes a placeholder"),
        (["p", "{tenant}"], r"unknown placeholder '{tenant}'; did you mean 'tenant_id'"),
        (["p", "{payload}"], "unknown placeholder"),
        (["p", "{payload.a.}"], "unknown placeholder"),
        (["p", "{}"], "unknown placeholder"),
        (["p", ["--flag"]], "a group without a placeholder"),
        (["p", "a\0b"], "NUL"),
        (["p", *["x"] * 200], "more than 200"),
    ],
)
def test_what_is_no_template(template: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        parse(template)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (["p", "{payload.aa}"], r"is no property of arg_schema; did you mean 'a'"),
        (
            ["p", "{payload.maybe}"],
            r"{payload.maybe} can be absent; require it, give it a default, or write a group",
        ),
        (["p", "{correlation_id}"], "can be absent"),
        (["p", "{payload.list}"], "must have a type of string, integer"),
        (["p", "{payload.any}"], "must have a type"),
        (["p", "{payload.null}"], "can be absent"),
    ],
)
def test_what_does_not_fit_the_schema(template: list[str], why: str) -> None:
    schema = schema_of(
        a={"type": "string"}, list={"type": "array"}, any={}, null={"type": ["string", "null"]}
    )
    schema["properties"]["maybe"] = {"type": "string"}
    with pytest.raises(DefinitionError, match=why):
        check_against(parse(template), schema)
