"""Templates of a command's argv: an allow-list of programs and arguments (case 105).

An element is fixed text, or one placeholder and nothing else: `{payload.<name>}`, `{tenant_id}` and the others of
FACTS. So a value is always exactly one argument. An element that is a list is a group (an option and its value), left
out where one of its values is absent. `{{` and `}}` in fixed text are braces.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from postmill.domain.errors import DefinitionError
from postmill.domain.suggest import did_you_mean
from postmill.domain.text import unstorable

FACTS = (
    *("tenant_id", "project_id", "job_id", "attempt", "actor_id", "request_id", "correlation_id"),
    "idempotency_key",
)
"""What a template may name besides the payload."""

ALWAYS = frozenset({"tenant_id", "job_id", "attempt"})
"""Those of them that every job has."""

MOST_ELEMENTS = 200
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PAYLOAD = re.compile(r"payload(?:\.[A-Za-z_][\w-]*)+")
_BRACES = re.compile(r"\{\{|\}\}|[{}]")


@dataclass(frozen=True, slots=True)
class Value:
    """A placeholder. `path` is empty for a fact."""

    name: str
    path: tuple[str, ...] = ()


Element = str | Value
Template = tuple[Element | tuple[Element, ...], ...]


def parse(template: object) -> Template:
    """The template, read.

    Raises:
        DefinitionError: it is none; says which element and why.
    """
    if not isinstance(template, list | tuple) or not template:
        raise DefinitionError("argv_template: is a list of arguments, the program first")
    made = tuple(_part(part, f"argv_template[{n}]") for n, part in enumerate(template))
    if sum(len(part) if isinstance(part, tuple) else 1 for part in made) > MOST_ELEMENTS:
        raise DefinitionError(f"argv_template: more than {MOST_ELEMENTS} arguments")
    if not isinstance(made[0], str) or not made[0] or made[0].startswith("-"):
        raise DefinitionError(
            "argv_template[0]: the program is fixed text: no placeholder, no group, no option"
        )
    return made


@lru_cache(maxsize=1024)
def stored(template: str) -> Template:
    """The template from its JSON text, as a definition holds it."""
    return parse(json.loads(template))


def _part(part: object, where: str) -> Element | tuple[Element, ...]:
    if not isinstance(part, list | tuple):
        return _element(part, where)
    group = tuple(_element(element, f"{where}[{n}]") for n, element in enumerate(part))
    if not any(isinstance(element, Value) for element in group):
        raise DefinitionError(
            f"{where}: a group without a placeholder is never left out; write its elements alone"
        )
    return group


def _element(element: object, where: str) -> Element:
    if not isinstance(element, str):
        raise DefinitionError(f"{where}: is text or a list of texts, not {type(element).__name__}")
    if why := unstorable(element):
        raise DefinitionError(f"{where}: {why}")
    found = _PLACEHOLDER.fullmatch(element)
    if found is None:
        if any(brace in "{}" for brace in _BRACES.findall(element)):
            raise DefinitionError(
                f"{where}: {element!r} mixes a placeholder with text: a value is always one whole argument; "
                "write {{ and }} for braces"
            )
        return element.replace("{{", "{").replace("}}", "}")
    name = found[1]
    if name in FACTS:
        return Value(name)
    if _PAYLOAD.fullmatch(name):
        return Value(name, tuple(name.split(".")[1:]))
    hint = did_you_mean(name, ["payload.<name>", *FACTS], noun="placeholders")
    raise DefinitionError(f"{where}: unknown placeholder {element!r}{hint}")
