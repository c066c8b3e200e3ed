"""Arguments of a job from the command line: `name=value`, typed by the schema, and `name:=json`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from postmill.cli import json_schema
from postmill.cli.errors import CliError
from postmill.cli.json_schema import Schema
from postmill.cli.text import one_line
from postmill.domain.suggest import did_you_mean

SYNTAX = (
    "write name=value for text, numbers and true/false, and name:=JSON for anything else (tags:='[1, 2]')"
)

_PART = re.compile(r"([^=:\s][^=\s]*?)(:=|=)(.*)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}", re.ASCII)
_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def parse_assignments(
    parts: Sequence[str], schema: Schema, base: dict[str, Any] | None = None, *, whole: str = "--payload {}"
) -> dict[str, Any]:
    """The payload that `parts` describe, on top of `base`. `whole` is the option that takes all of it at once.

    A name that is given more than once makes an array where the schema takes one. Raises CliError (usage)
    that names the argument, what it takes, and what was probably meant.
    """
    known = json_schema.properties(schema)
    payload: dict[str, Any] = dict(base or {})
    given: dict[str, list[Any]] = {}
    for part in parts:
        found = _PART.fullmatch(part)
        if part.lstrip()[:1] in ("{", "["):
            raise CliError(
                f"expected name=value, got JSON: {one_line(part, 60)}",
                f"all at once it goes by: {whole.format(shlex.quote(one_line(part, 60)))}",
            )
        if found is None:
            raise CliError(f"cannot read the argument {part!r}", SYNTAX)
        name, mark, text = found.groups()
        shape = known.get(name)
        if shape is None and json_schema.is_closed(schema):
            hint = did_you_mean(name, known, noun="arguments") or "; this job type takes none"
            raise CliError(f"unknown argument {name!r}{hint}")
        value = (
            _json(name, text)
            if mark == ":="
            else _typed(name, text, shape or {}, schema, len(given.get(name, ())))
        )
        given.setdefault(name, []).append(value)
    for name, values in given.items():
        takes_array = "array" in json_schema.types_of(known.get(name, {}), schema)
        if len(values) > 1 and not takes_array:
            raise CliError(f"the argument {name!r} is given {len(values)} times", SYNTAX)
        one = values[0]
        payload[name] = one if len(values) == 1 and (isinstance(one, list) or not takes_array) else values
    missing = [name for name in json_schema.required(schema) if name not in payload]
    if missing:
        wants = ", ".join(f"{name} ({json_schema.describe(known.get(name, {}), schema)})" for name in missing)
        raise CliError(f"missing argument{'s' if len(missing) > 1 else ''}: {wants}", SYNTAX)
    return payload


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        raise CliError(f"the argument {name!r} is not JSON: {fault}", SYNTAX) from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _typed(name: str, text: str, shape: Schema, root: Schema, place: int) -> Any:
    """`text` as the schema wants it. Where text is allowed, text it stays."""
    types = json_schema.types_of(shape, root)
    if "array" in types and "string" not in types:
        types = (types - {"array"}) | (json_schema.item_types(shape, root) or {"string"})
        if place == 0 and text.startswith("["):
            return _json(name, text)
    if not types or "string" in types:
        return text
    if "null" in types and text in ("", "null"):
        return None
    if (
        "boolean" in types
        and text.casefold() in _WORDS
        and not (types & {"integer", "number"} and text in "01")
    ):
        return _WORDS[text.casefold()]
    if types & {"integer", "number"} and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if abs(number) < float("inf"):
            return number
    if types & {"object", "array"} and text[:1] in ("{", "["):
        return _json(name, text)
    raise CliError(f"the argument {name!r} takes {json_schema.takes(shape, root)}, not {text!r}", SYNTAX)
