"""A template's placeholders against the schema of its payload: when the definition is saved, and value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from postmill.domain.argv import ALWAYS, Template, Value
from postmill.domain.errors import DefinitionError
from postmill.domain.suggest import did_you_mean

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})

Part = Mapping[str, Any]


def check_against(template: Template, schema: Part) -> None:
    """Each placeholder must be a property of one scalar type, and always there where no group bears its absence.

    Raises:
        DefinitionError: names the element.
    """
    for n, part in enumerate(template):
        where = f"argv_template[{n}]"
        for element in part if isinstance(part, tuple) else (part,):
            if not isinstance(element, Value):
                continue
            always = _check_property(element, schema, where) if element.path else element.name in ALWAYS
            if not always and not isinstance(part, tuple):
                raise DefinitionError(
                    f"{where}: {{{element.name}}} can be absent; require it, give it a default, or write a group: "
                    f'["--option", "{{{element.name}}}"]'
                )


def looked_up(path: Sequence[str], schema: Part, payload: Any) -> tuple[Any, Part]:
    """The value at a path of a payload, its default where it is absent, and the part of the schema that is about it."""
    value, part = payload, schema
    for name in path:
        part = _resolved(part.get("properties", {}).get(name, {}), schema)
        value = value.get(name) if isinstance(value, Mapping) else None
    return (part.get("default") if value is None else value), part


def _check_property(element: Value, schema: Part, where: str) -> bool:
    """Whether the value is always there. Raises DefinitionError where it can be no argument."""
    always, part = True, schema
    for depth, name in enumerate(element.path):
        properties = part.get("properties")
        if not isinstance(properties, Mapping) or name not in properties:
            known = list(properties) if isinstance(properties, Mapping) else []
            hint = did_you_mean(name, known, noun="properties")
            raise DefinitionError(f"{where}: {{{element.name}}} is no property of arg_schema{hint}")
        inner = _resolved(properties[name], schema)
        last = depth == len(element.path) - 1
        always = always and (name in part.get("required", ()) or (last and "default" in inner))
        part = inner
    types = _types(part)
    if not types or types - _SCALARS:
        raise DefinitionError(
            f"{where}: {{{element.name}}} must have a type of string, integer, number or boolean to be one argument"
        )
    return always and "null" not in types


def _types(part: Part) -> set[str]:
    named = part.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return set(named)
    fixed = part.get("enum", [part["const"]] if "const" in part else [])
    return {_type_of(value) for value in fixed}


def _type_of(value: object) -> str:
    kinds = ((bool, "boolean"), (str, "string"), (int | float, "number"), (type(None), "null"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def _resolved(part: Any, root: Part) -> Part:
    """A part of the schema with its `$ref`s followed; they stay within the document, and never lead in circles."""
    while isinstance(part, Mapping) and str(part.get("$ref", "")).startswith("#/"):
        found: Any = root
        for step in part["$ref"][2:].split("/"):
            found = (
                found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
            )
        beside = {name: value for name, value in part.items() if name != "$ref"}
        part = {**(found if isinstance(found, Mapping) else {}), **beside}
    return part if isinstance(part, Mapping) else {}
