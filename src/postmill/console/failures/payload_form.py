"""A payload as a form: a field for each argument, made from the definition's schema, read back as JSON.

What is hidden from people (secrets) stays as it is stored, unless something else is typed in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from postmill.console.frame.arguments import Arguments
from postmill.console.frame.words import _
from postmill.domain.errors import Fault, PayloadRefused
from postmill.domain.redaction import REDACTED, redacted

PREFIX = "arg."
"""How the names of these fields begin in the form."""

MOST = 100
"""Arguments with a field of their own; of a payload with more, all are one JSON text."""

WHOLE = ""
"""The name of that one field."""

_REQUIRED = re.compile(r'^"(?P<name>.*)" is a required property$')
_KINDS = {"string": "text", "integer": "number", "number": "number", "boolean": "choice"}


@dataclass(frozen=True, slots=True)
class Field:
    """One argument. `kind`: text | number | choice | json. `error`: what is wrong with it."""

    name: str
    kind: str
    value: str
    required: bool = False
    hint: str = ""
    choices: tuple[str, ...] = ()
    error: str | None = None

    @property
    def at(self) -> str:
        """Its name in the form."""
        return PREFIX + self.name


def fields(schema: Mapping[str, Any], payload: Any, secrets: Collection[str]) -> list[Field]:
    """The form of a payload as it is stored, in clear.

    Args:
        schema: of the definition; empty where there is none.
        secrets: keys whose values are secret.
    """
    shown = redacted(payload, secrets)
    known = _properties(schema)
    if not isinstance(shown, dict) or len({*known, *shown}) > MOST:
        return [Field(WHOLE, "json", _json(shown))]
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    made = []
    # The database does not keep the order of keys: what is required goes first, the rest by name.
    names = sorted({*known, *shown}, key=lambda name: (name not in needed, name))
    for name in names:
        rule = known.get(name)
        rule = rule if isinstance(rule, Mapping) else {}
        value = shown.get(name)
        kind = _kind(rule, value, name in shown)
        choices = _choices(rule, kind)
        if choices and name in shown and _json(value) not in choices and kind == "choice":
            choices = (*choices, _json(value))
        text = "" if name not in shown else str(value) if kind == "text" else _json(value)
        made.append(Field(name, kind, text, name in needed, str(rule.get("description", ""))[:300], choices))
    return made


def read(form: Arguments, asked: Sequence[Field], stored: Any, names: Collection[str]) -> dict[str, Any]:
    """The payload that was typed.

    Raises:
        PayloadRefused: a value is none of its kind, or a secret would be lost; names all of them.
    """
    shown = redacted(stored, names)
    typed: dict[str, Any] = {}
    faults: list[Fault] = []
    for one in asked:
        raw = form.everything().get(one.at)
        text = one.value if raw is None else raw[-1].replace("\r\n", "\n")
        old = shown.get(one.name) if isinstance(shown, dict) else None
        there = isinstance(stored, dict) and one.name in stored
        if one.kind == "text":
            if text == "" and not (there and old == ""):
                continue
            value: Any = text
        elif text.strip() == "":
            continue
        else:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                wanted = _("must be a number") if one.kind == "number" else _("must be JSON")
                faults.append(Fault(_pointer(one.name), wanted))
                continue
        if one.name == WHOLE:
            old = shown
        if value == old and (there or one.name == WHOLE):
            value = stored if one.name == WHOLE else stored[one.name]
        elif REDACTED in _json(value):
            why = _("holds a secret that is not shown: type it anew, or leave all of this as it was")
            faults.append(Fault(_pointer(one.name), why))
            continue
        typed[one.name] = value
    if faults:
        first, *more = faults
        raise PayloadRefused(first.path, first.why, more)
    if [one.name for one in asked] == [WHOLE]:
        whole = typed.get(WHOLE, {})
        if not isinstance(whole, dict):
            raise PayloadRefused("#", _("must be a JSON object"))
        return whole
    return typed


def refused(asked: Sequence[Field], form: Arguments, error: PayloadRefused) -> tuple[list[Field], list[str]]:
    """The form once more with what was typed, each fault at its field; and the faults that belong to none."""
    told: dict[str, list[str]] = {}
    rest: list[str] = []
    for path, said in [(error.path, error.why), *((fault.path, fault.why) for fault in error.more)]:
        why, missing = said, _REQUIRED.match(said)
        name = path.removeprefix("#").lstrip("/").partition("/")[0].replace("~1", "/").replace("~0", "~")
        if missing is not None and name == "":
            name, why = missing["name"], _("is required")
        if any(one.name == name for one in asked):
            told.setdefault(name, []).append(why if path.count("/") <= 1 else f"{path}: {why}")
        else:
            rest.append(f"{path}: {why}")
    values = form.everything()
    return [
        replace(
            one,
            value=values.get(one.at, [one.value])[-1],
            error="; ".join(told[one.name]) if one.name in told else None,
        )
        for one in asked
    ], rest


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return dict(found) if isinstance(found, Mapping) else {}


def _kind(rule: Mapping[str, Any], value: Any, there: bool) -> str:
    if isinstance(rule.get("enum"), list):
        return "choice"
    kind = _KINDS.get(str(rule.get("type")), "json" if rule else "")
    if kind == "":
        kind = "text" if isinstance(value, str) and value not in ("", REDACTED) else "json"
    if there and kind == "text" and not isinstance(value, str):
        return "json"
    return kind


def _choices(rule: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    if kind != "choice":
        return ()
    listed = rule.get("enum")
    return tuple(_json(one) for one in listed) if isinstance(listed, list) else ("true", "false")


def _pointer(name: str) -> str:
    return "#" if name == WHOLE else f"#/{name.replace('~', '~0').replace('/', '~1')}"


def _json(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) and value else None
    )
