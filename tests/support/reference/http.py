"""The HTTP API, from its OpenAPI document: the document itself, and a page for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from postmill.api.app import openapi
from postmill.api.document import METHODS
from tests.support.reference.markdown import code, table

Node = Mapping[str, Any]

PAGE = "Page_"


@cache
def document() -> dict[str, Any]:
    """The document of this code."""
    return openapi()


def committed() -> str:
    """The document as `postmill openapi` prints it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def operations() -> str:
    """A section for each tag, an entry for each operation, then the models."""
    tags: dict[str, list[str]] = {}
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                tags.setdefault(item[method]["tags"][0], []).append(_operation(method, path, item[method]))
    parts = [f"## {tag[0].upper()}{tag[1:]}\n\n" + "\n".join(entries) for tag, entries in tags.items()]
    return "\n".join([*parts, "## Models\n", *map(_model, sorted(_shown()))])


def problems() -> str:
    """What each status of an error means."""
    responses = document()["components"]["responses"].items()
    return table(
        ("status", "meaning"),
        [(code(name.removeprefix("Problem")), one["description"]) for name, one in responses],
    )


def _operation(method: str, path: str, operation: Node) -> str:
    lines = [
        f"### {operation['operationId']}\n",
        f"`{method.upper()} {path}`\n",
        f"{operation['description']}\n",
    ]
    parameters = [
        (f"{code(one['name'])} ({one['in']})", _type(one["schema"]), one.get("description", ""))
        for one in operation.get("parameters", [])
        if "$ref" not in one
    ]
    if parameters:
        lines.append(table(("parameter", "type", "meaning"), parameters))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        lines.append(f"Body: {_type(body['schema'])}\n")
    answers = [
        (code(status), _answer(one), one["description"])
        for status, one in operation["responses"].items()
        if "$ref" not in one
    ]
    lines.append(table(("status", "answer", "meaning"), answers))
    return "\n".join(lines)


def _answer(response: Node) -> str:
    for content in response.get("content", {}).values():
        return _type(content.get("schema", {}))
    return ""


def _model(name: str) -> str:
    schema = document()["components"]["schemas"][name]
    required = set(schema.get("required", []))
    rows = [
        (
            code(field) + ("" if field in required else " (optional)"),
            _type(one),
            " ".join(filter(None, (one.get("description"), _example(one)))),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    return f"### {name}\n\n{schema.get('description', '')}\n\n" + (
        table(("field", "type", "meaning"), rows) if rows else ""
    )


def _example(schema: Node) -> str:
    found = schema.get("examples", [])
    return (
        f"Example: {code(json.dumps(found[0], ensure_ascii=False))}."
        if found and found[0] is not None
        else ""
    )


def _type(schema: Node) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name.startswith(PAGE):
            return f"page of {_type({'$ref': name[len(PAGE) : -1]})}"
        return f"[{name}](#{name.lower()})" if name in _shown() else code(name)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " ".join(code(json.dumps(value)) for value in schema["enum"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = str(schema.get("type", "any"))
    return f"{kind} ({schema['format']})" if "format" in schema else kind


@cache
def _shown() -> frozenset[str]:
    """The models that have a section: pages of a list are said by what they hold."""
    return frozenset(name for name in document()["components"]["schemas"] if not name.startswith(PAGE))
