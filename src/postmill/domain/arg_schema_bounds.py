"""What a stored JSON Schema may cost: size, depth, and how much there is once every reference is followed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from postmill.domain.errors import DefinitionError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_NODES = 5_000
"""Objects and lists of a schema with each `$ref` counted as often as it is used: definitions that each use the one
before twice double the work with every line (1.5 s for 16 lines)."""

_REFERENCES = ("$ref", "$dynamicRef")


def refuse_unbounded(schema: Mapping[str, Any]) -> None:
    """Raises DefinitionError for a schema that is too large or too deep, or that refers to others or to itself."""
    try:
        size = len(json.dumps(schema, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise DefinitionError(f"arg_schema: is not JSON: {str(fault)[:200]}") from None
    if size > MAX_BYTES:
        raise DefinitionError(f"arg_schema: {size} bytes of JSON; at most {MAX_BYTES} are allowed")
    _refuse_depth(schema)
    _Costs(schema).of(schema, "#")


def _refuse_depth(schema: object) -> None:
    level, depth = [schema], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise DefinitionError(f"arg_schema: is nested deeper than {MAX_DEPTH} levels")
        level = [child for item in level for _, child in _children(item)]


def _children(item: object) -> Iterator[tuple[str, Any]]:
    pairs = item.items() if isinstance(item, Mapping) else enumerate(item) if isinstance(item, list) else ()
    for key, child in pairs:
        if isinstance(child, Mapping | list):
            yield str(key), child


class _Costs:
    """Nodes below a place of the schema, references followed."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, int] = {}
        self._open: list[str] = []

    def of(self, item: object, at: str) -> int:
        total = 1
        if isinstance(item, Mapping):
            for word in _REFERENCES:
                target = item.get(word)
                if isinstance(target, str):
                    total += self._of_reference(target, f"{at}/{word}")
        for key, child in _children(item):
            total += self.of(child, f"{at}/{key}")
        if total > MAX_NODES:
            raise DefinitionError(
                f"arg_schema: more than {MAX_NODES} parts once every $ref is followed (at {at})"
            )
        return total

    def _of_reference(self, target: str, at: str) -> int:
        if not target.startswith("#"):
            raise DefinitionError(
                f"arg_schema: {at} leads to {target!r}; a schema is one document, references begin with '#'"
            )
        if target in self._open:
            raise DefinitionError(
                f"arg_schema: {at} leads back to {target!r}, within itself: what a payload costs could not be bounded"
            )
        if target not in self._known:
            self._open.append(target)
            self._known[target] = self.of(self._found(target, at), target)
            self._open.pop()
        return self._known[target]

    def _found(self, target: str, at: str) -> object:
        found: Any = self._root
        if target == "#":
            raise DefinitionError(f"arg_schema: {at} leads back to the whole schema, within itself")
        if not target.startswith("#/"):
            raise DefinitionError(
                f"arg_schema: {at} leads to the anchor {target!r}; write a JSON pointer (#/$defs/…)"
            )
        for step in target[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise DefinitionError(f"arg_schema: {at} leads to {target!r}, which is not there")
        return found
