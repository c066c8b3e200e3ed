"""The little of JSON Schema that the command line needs: what kind of value does an argument take?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_NAMES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


def properties(schema: Schema) -> dict[str, Schema]:
    """The arguments that a definition's schema names, each with its own schema."""
    found = schema.get("properties")
    return dict(found) if isinstance(found, Mapping) else {}


def required(schema: Schema) -> list[str]:
    """The arguments that have no default."""
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def is_closed(schema: Schema) -> bool:
    """Whether arguments that the schema does not name are refused."""
    return schema.get("additionalProperties") is False


def types_of(part: Schema, root: Schema) -> set[str]:
    """The JSON types that a value may have; empty where the schema leaves it open."""
    return {name for branch in branches(part, root) for name in _types(branch)}


def item_types(part: Schema, root: Schema) -> set[str]:
    """The JSON types of the items, for an argument that takes an array."""
    found: set[str] = set()
    for branch in branches(part, root):
        items = branch.get("items")
        if isinstance(items, Mapping):
            found |= types_of(items, root)
    return found


def describe(part: Schema, root: Schema) -> str:
    """`integer`, `string or null`, `one of: a, b`: the type as help text."""
    for branch in branches(part, root):
        if isinstance(branch.get("enum"), list):
            return "one of: " + ", ".join(str(value) for value in branch["enum"])
    return (
        " or ".join(sorted(types_of(part, root), key=lambda name: (name == "null", name))) or "any JSON value"
    )


def takes(part: Schema, root: Schema) -> str:
    """`an integer`, `a string or null`, `one of: a, b`: the same behind a verb."""
    said = describe(part, root)
    if said.startswith(("one of", "any ")):
        return said
    return " or ".join(_with_article(name) for name in said.split(" or "))


def _with_article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _types(branch: Schema) -> Iterator[str]:
    named = branch.get("type")
    for name in named if isinstance(named, list) else [named]:
        if name in _NAMES:
            yield name
    values = branch.get("enum", [branch["const"]] if "const" in branch else [])
    if named is None and isinstance(values, list):
        yield from {_type_of(value) for value in values}


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def branches(part: Schema, root: Schema, depth: int = 0) -> Iterator[Schema]:
    """The schema itself, with `$ref` followed and anyOf, oneOf and allOf spread out."""
    if depth > 20:
        return
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = (
                target.get(step.replace("~1", "/").replace("~0", "~"))
                if isinstance(target, Mapping)
                else None
            )
        if isinstance(target, Mapping):
            yield from branches(target, root, depth + 1)
    yield part
    for word in ("anyOf", "oneOf", "allOf"):
        parts = part.get(word)
        for branch in parts if isinstance(parts, list) else []:
            if isinstance(branch, Mapping):
                yield from branches(branch, root, depth + 1)
