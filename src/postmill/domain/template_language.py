"""What a template may say: Jinja2's expressions on plain JSON data, in its sandbox, without loops, calls or attributes.

Everything that is allowed costs about as much as the data that it touches: a template cannot run for long, nor make
something large out of little.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from postmill.domain.payload import MAX_BYTES

LONGEST_EXPRESSION = 1_000
MOST_LOOKUPS = 50
"""Names in one expression: so a value of 1 MiB can be put together with itself so often, and no more."""

_ALLOWED: tuple[type[nodes.Node], ...] = (
    nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand,
    nodes.And, nodes.Or, nodes.Not, nodes.CondExpr, nodes.Concat, nodes.Add, nodes.Sub, nodes.Neg, nodes.List,
    nodes.Dict, nodes.Pair, nodes.Keyword,
)  # fmt: skip
_WORDS: dict[type[nodes.Node], str] = {
    nodes.Call: "a call",
    nodes.Mul: "a multiplication",
    nodes.Pow: "a power",
    nodes.Div: "a division",
    nodes.FloorDiv: "a division",
    nodes.Mod: "a remainder",
    nodes.Slice: "a slice",
    nodes.Tuple: "a tuple",
}
_FILTERS = ("abs", "capitalize", "count", "d", "default", "first", "float", "int", "last", "length", "lower", "string",
            "title", "trim", "upper")  # fmt: skip
_TESTS = ("boolean", "defined", "eq", "equalto", "even", "false", "ge", "gt", "in", "integer", "le", "lt", "mapping", "ne",
          "none", "number", "odd", "sequence", "string", "true", "undefined")  # fmt: skip


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """Expressions on JSON. `a.b` and `a['b']` look into an object, and nowhere else: no attribute is ever read."""

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            finalize=_as_text,
            keep_trailing_newline=True,
            optimized=False,  # what is worked out while compiling is worked out again for each outer part
            cache_size=0,
            # No comments: such signs are text, and no text that can be stored begins so.
            comment_start_string="\0{#",
            comment_end_string="#}\0",
        )
        self.globals = {}
        self.filters = {name: self.filters[name] for name in _FILTERS}
        self.filters |= {"tojson": _to_json, "join": _join, "replace": _replace, "round": _round}
        self.tests = {name: self.tests[name] for name in _TESTS}

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self._look(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return self._look(obj, argument)

    def _look(self, obj: Any, key: Any) -> Any:
        if isinstance(obj, Undefined):
            obj._fail_with_undefined_error()
        if isinstance(obj, dict) and isinstance(key, str) and key in obj:
            return obj[key]
        is_place = isinstance(key, int) and not isinstance(key, bool)
        if isinstance(obj, list | str) and is_place and -len(obj) <= key < len(obj):
            return obj[key]
        return self.undefined(obj=obj, name=key)


def refuse_forbidden(expression: nodes.Node, roots: Collection[str]) -> Iterator[str]:
    """What an expression holds that it may not, in words."""
    lookups = 0
    for node in (expression, *expression.find_all(nodes.Node)):
        if not isinstance(node, _ALLOWED):
            yield f"{_WORDS.get(type(node), type(node).__name__.lower())} is not allowed in a template"
        elif isinstance(node, nodes.Name):
            lookups += 1
            if node.name not in roots:
                yield f"there is no {node.name!r} here; known are: {', '.join(sorted(roots))}"
        elif isinstance(node, nodes.Filter | nodes.Test) and (node.dyn_args or node.dyn_kwargs):
            yield "a starred argument is not allowed in a template"
    if lookups > MOST_LOOKUPS:
        yield f"has {lookups} names; at most {MOST_LOOKUPS} are allowed"


def _as_text(value: Any) -> Any:
    """A value inside a longer text: as JSON writes it."""
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return _json(value)
    return value


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _to_json(value: Any) -> str:
    # Bounded: each step of a chain of these doubles the backslashes.
    return _bounded(_json(value))


def _join(value: Any, d: str = "") -> str:
    if not isinstance(value, list):
        raise TypeError("join: works on a list")
    return _bounded(_short(d).join(part if isinstance(part, str) else _json(part) for part in value))


def _replace(text: Any, old: str, new: str) -> str:
    if not isinstance(text, str) or not old:
        raise TypeError("replace: works on text, and needs something to look for")
    return _bounded(text.replace(old, _short(new)))


def _round(number: Any, precision: int = 0) -> Any:
    if not isinstance(number, int | float) or not -20 <= precision <= 20:
        raise TypeError("round: works on a number, with a precision from -20 to 20")
    return round(number, precision)


def _bounded(text: str) -> str:
    if len(text) > MAX_BYTES:
        raise ValueError(f"makes a text of {len(text)} characters; at most {MAX_BYTES} are allowed")
    return text


def _short(text: str) -> str:
    """A text that is put in many times: short, for it multiplies what it is put into."""
    if not isinstance(text, str) or len(text) > 20:
        raise ValueError("what is put in between is text of at most 20 characters")
    return text
