"""From a template and a checked payload to the exact arguments of one job.

A value that begins with `-` is refused, for the program would take it for an option, unless the schema allows it: the
property has `"x-allow-leading-dash": true`, or lists the very value in its `enum` or `const`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from postmill.domain.argv import Element, Template
from postmill.domain.argv_schema import Part, looked_up
from postmill.domain.errors import PayloadRefused
from postmill.domain.text import unstorable

ALLOW_DASH = "x-allow-leading-dash"

LONGEST = 131_071
"""Bytes of one argument; Linux takes no longer ones."""

Facts = Mapping[str, str | None]


def render(template: Template, schema: str, payload: Mapping[str, Any], facts: Facts) -> list[str]:
    """The arguments for one job; the payload was checked against the schema (its text).

    Raises:
        PayloadRefused: a value would be taken for an option, holds NUL, or is too long for an argument.
    """
    root = _root(schema)
    made: list[str] = []
    for part in template:
        if isinstance(part, tuple):
            group = [_argument(element, root, payload, facts) for element in part]
            if None not in group:
                made += [argument for argument in group if argument is not None]
            continue
        argument = _argument(part, root, payload, facts)
        if argument is None:
            raise PayloadRefused(_place(part), "is missing, and the command cannot do without it")
        made.append(argument)
    return made


def _argument(element: Element, root: Part, payload: Mapping[str, Any], facts: Facts) -> str | None:
    """The text of one argument; None where its value is absent."""
    if isinstance(element, str):
        return element
    part: Part = {}
    value: Any = facts.get(element.name)
    if element.path:
        value, part = looked_up(element.path, root, payload)
    if value is None:
        return None
    if isinstance(value, Mapping | list):
        raise PayloadRefused(_place(element), "is no single value, and so no argument")
    text = value if isinstance(value, str) else json.dumps(value)
    if text.startswith("-") and part.get(ALLOW_DASH) is not True and not _listed(value, part):
        raise PayloadRefused(_place(element), "begins with '-': the program would take it for an option")
    if (why := unstorable(text)) is not None:
        raise PayloadRefused(_place(element), why)
    if len(text) > LONGEST // 4 and len(text.encode()) > LONGEST:
        raise PayloadRefused(_place(element), f"has more than {LONGEST} bytes, the most an argument can have")
    return text


def _listed(value: object, part: Part) -> bool:
    """Is it one of the values that the schema writes out?"""
    fixed = part.get("enum", [part["const"]] if "const" in part else [])
    return any(type(one) is type(value) and one == value for one in fixed)


def _place(element: Element) -> str:
    if isinstance(element, str):
        return "#"
    return "#/" + "/".join(element.path) if element.path else element.name


@lru_cache(maxsize=1024)
def _root(schema: str) -> Part:
    data = json.loads(schema)
    return data if isinstance(data, Mapping) else {}
