"""A stored job definition as people write it: which fields there are, what each may be, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from postmill.domain import argv
from postmill.domain.arg_schema import check_schema
from postmill.domain.argv_schema import check_against
from postmill.domain.errors import DefinitionError
from postmill.domain.idempotency import Idempotency, Mode
from postmill.domain.job_type_options import INT_MAX, check_name, check_options
from postmill.domain.limit import Rate
from postmill.domain.payload_faults import find_fault
from postmill.domain.policy_json import from_json, to_json
from postmill.domain.suggest import did_you_mean

KINDS = ("function", "command", "http")

DEFAULT_MAX_ATTEMPTS = 3
"""Seed 3's default for definitions, where `@job` has seed 5's (5)."""

_OWN = ("key", "kind", "description", "arg_schema", "argv_template", "env_allow", "is_active")
_OPTIONS = (
    *(
        "queue",
        "priority",
        "max_attempts",
        "retry",
        "on_exhausted",
        "keep",
        "lane",
        "worker_limit",
        "aliases",
    ),
    *("category", "strict_envelope", "secrets", "secret_keys", "encrypted", "replay_class", "action"),
    "escalation_fields",
    "log_fields",
    "budget",
)
_TRANSLATED = ("timeout_seconds", "idempotency", "idempotency_ttl_seconds", "idempotency_content", "rate")
FIELDS = (*_OWN, *_OPTIONS, *_TRANSLATED)
"""Everything that may be written of a definition."""

OF_THE_CODE = frozenset({"kind", "arg_schema", "argv_template", "env_allow", "aliases", "keep", "encrypted"})
"""What of a type that Python code has registered only the code can change."""

_FOLLOWS = {
    "category": ("retry", "max_attempts", "idempotency", "idempotency_ttl_seconds", "idempotency_content"),
    "strict_envelope": ("secrets", "idempotency"),
    "idempotency": ("idempotency_ttl_seconds", "idempotency_content"),
}
"""What is derived anew where one of these changes, unless it is named beside it."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LOADER = ("LD_", "DYLD_", "BASH_", "PYTHON", "NODE_OPTIONS", "PERL5", "RUBY")
LONGEST_DESCRIPTION = 4_000


def check_new(fields: Mapping[str, object], *, default_argv: Collection[str] | None = None) -> dict[str, Any]:
    """A new definition, every field filled in, in the names of its row.

    Args:
        fields: what was given; `key` is required. Without `kind` it is a command if there is a template, else a function.
        default_argv: the template of commands that name none (the setting `commands.argv_template`); `{key}` in it is
            the definition's key.

    Raises:
        DefinitionError: names the field and what was expected.
    """
    given = dict(fields)
    if "argv_template" not in given and given.get("kind", "command") == "command" and default_argv:
        key = check_name(given.get("key"))
        given["argv_template"] = [key if element == "{key}" else element for element in default_argv]
    given.setdefault("kind", "command" if given.get("argv_template") is not None else "function")
    if given.get("category") is None and "max_attempts" not in given:
        given["max_attempts"] = DEFAULT_MAX_ATTEMPTS
    return _checked(given)


def check_changes(current: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, Any]:
    """What changes of a definition: those fields of its row that differ, with all that follows from them.

    Args:
        current: the definition as it is stored, as `read_definition` gives it.
        changes: the fields to change.

    Raises:
        DefinitionError: a field is unknown or wrong, or belongs to the code that registered the type.
    """
    _refuse_unknown(changes)
    if "key" in changes and changes["key"] != current["key"]:
        raise DefinitionError(
            "key: never changes, for jobs are known by it; make a new definition with this one as alias"
        )
    if current.get("registered"):
        owned = sorted(OF_THE_CODE & changes.keys())
        if owned:
            raise DefinitionError(
                f"{owned[0]}: comes from the code that registered {current['key']!r}; change it there"
            )
    base = {name: current[name] for name in FIELDS if current.get(name) is not None}
    if base.get("lane") == "type":
        del base["lane"]
    for name, followers in _FOLLOWS.items():
        if name in changes and changes[name] != current.get(name):
            for follower in followers:
                if follower not in changes:
                    base.pop(follower, None)
    if "kind" in changes and changes["kind"] != "command":
        base.pop("argv_template", None)
    for name, value in changes.items():
        if value is None and name not in ("timeout_seconds", "retry"):
            base.pop(name, None)
        else:
            base[name] = value
    before, after = (
        _checked({**_plain(current)}, trusted=True),
        _checked(base, trusted=bool(current.get("registered"))),
    )
    return {name: value for name, value in after.items() if value != before[name]}


def _plain(current: Mapping[str, object]) -> dict[str, object]:
    made = {name: current[name] for name in FIELDS if current.get(name) is not None}
    made.setdefault("timeout_seconds", None)
    if made.get("lane") == "type":
        del made["lane"]
    return made


def _checked(given: Mapping[str, object], *, trusted: bool = False) -> dict[str, Any]:
    """Every field in the names and forms of the row; `trusted`: the schema is the code's, and is taken as it is."""
    _refuse_unknown(given)
    fault = find_fault(dict(given), "")
    if fault is not None:
        raise DefinitionError(f"{fault.path.lstrip('.')}: {fault.why}")
    key = check_name(given.get("key"))
    made: dict[str, Any] = {
        "key": key,
        "kind": _one_of("kind", given.get("kind", "function"), KINDS),
        "description": _text("description", given.get("description", ""), LONGEST_DESCRIPTION),
        "is_active": _flag("is_active", given.get("is_active", True)),
        "env_allow": _variables(given.get("env_allow", [])),
    }
    schema = given.get("arg_schema", {})
    made["arg_schema"] = schema if trusted else check_schema(schema)
    made["argv_template"] = _argv(made["kind"], given.get("argv_template"), made["arg_schema"])
    return made | _options(key, given)


def _options(key: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The fields that `@job` has too, checked by its own rules."""
    options: dict[str, object] = {name: given[name] for name in _OPTIONS if given.get(name) is not None}
    if "retry" in options:
        try:
            options["retry"] = from_json(cast("Mapping[str, object]", options["retry"]))
        except (TypeError, ValueError) as fault:
            raise DefinitionError(f"retry: {fault}") from None
    if "timeout_seconds" in given:
        options["timeout"] = given["timeout_seconds"]
    if given.get("rate") is not None:
        options["rate"] = _rate(given["rate"])
    if given.get("idempotency") is not None:
        options["idempotency"] = _idempotency(given)
    try:
        checked = check_options(key, options, None)
    except DefinitionError as fault:
        # `@job` names the type first; here the field comes first, as everywhere else.
        text = str(fault).removeprefix(f"job type {key!r}, ")
        raise DefinitionError(text.replace("timeout:", "timeout_seconds:", 1)) from None
    idempotency: Idempotency | None = checked["idempotency"]
    rate: Rate | None = checked["rate"]
    window = idempotency.window if idempotency else None
    return {
        "queue": checked["queue"],
        "priority": 100 if checked["priority"] is None else checked["priority"],
        "max_attempts": checked["max_attempts"],
        "timeout_seconds": checked["timeout"],
        "retry": to_json(checked["retry"]),
        "on_exhausted": checked["on_exhausted"],
        "idempotency": idempotency.mode.value if idempotency else None,
        "idempotency_ttl": None if window is None else f"{window.total_seconds():f} seconds",
        "idempotency_content": list(idempotency.content) or None if idempotency else None,
        "category": checked["category"],
        "keep": checked["keep"],
        "lane": "type" if rate or checked["worker_limit"] else checked["lane"] or "tenant",
        "worker_limit": checked["worker_limit"],
        "aliases": list(checked["aliases"]),
        "replay_class": checked["replay_class"],
        "strict_envelope": checked["strict_envelope"],
        "secrets": checked["secrets"],
        "secret_keys": list(checked["secret_keys"]),
        "encrypted": checked["encrypted"],
        "action": checked["action"],
        "escalation_fields": list(checked["escalation_fields"]),
        "log_fields": list(checked["log_fields"]),
        "budget": checked["budget"],
        "rate": rate and {"count": rate.count, "seconds": rate.seconds, "burst": rate.capacity},
    }


def _refuse_unknown(given: Mapping[str, object]) -> None:
    unknown = next((name for name in given if name not in FIELDS), None)
    if unknown is not None:
        raise DefinitionError(f"{unknown}: unknown field{did_you_mean(unknown, FIELDS, noun='fields')}")


def _argv(kind: str, template: object, schema: Mapping[str, Any]) -> list[Any] | None:
    if kind != "command":
        if template is not None:
            raise DefinitionError(
                f"argv_template: only commands have one, and this is a definition of kind {kind!r}"
            )
        return None
    if template is None:
        raise DefinitionError(
            "argv_template: a command needs one: the program and its arguments, as a list of texts"
        )
    check_against(argv.parse(template), schema)
    return [list(part) if isinstance(part, list | tuple) else part for part in cast("list[Any]", template)]


def _idempotency(given: Mapping[str, object]) -> Idempotency:
    mode, content = given["idempotency"], given.get("idempotency_content")
    if mode not in tuple(Mode):
        raise DefinitionError(f"idempotency: {mode!r} is none of: {', '.join(Mode)}")
    try:
        return Idempotency(
            Mode(str(mode)),
            given.get("idempotency_ttl_seconds"),  # type: ignore[arg-type]  # checked by the class itself
            content=content or (),  # type: ignore[arg-type]
        )
    except DefinitionError as fault:
        raise DefinitionError(f"idempotency: {fault}") from None


def _rate(value: object) -> Rate:
    if not isinstance(value, Mapping) or not {"count", "seconds"} <= value.keys() <= {
        "count",
        "seconds",
        "burst",
    }:
        raise DefinitionError('rate: is an object such as {"count": 10, "seconds": 60, "burst": 5}')
    try:
        if any(isinstance(n, int) and n > INT_MAX for n in (value["count"], value.get("burst"))):
            raise ValueError(f"count and burst are at most {INT_MAX}")
        return Rate(value["count"], value["seconds"], value.get("burst"))
    except (TypeError, ValueError) as fault:
        raise DefinitionError(f"rate: {fault}") from None


def _variables(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise DefinitionError("env_allow: is a list of names of environment variables")
    for name in value:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise DefinitionError(f"env_allow: {name!r} is no name of an environment variable")
        if name.startswith(_LOADER):
            raise DefinitionError(
                f"env_allow: {name!r} decides which code a program loads; no command may inherit it"
            )
    return list(dict.fromkeys(value))


def _one_of(field: str, value: object, allowed: Collection[str]) -> str:
    if value not in allowed:
        raise DefinitionError(f"{field}: {value!r} is none of: {', '.join(allowed)}")
    return str(value)


def _text(field: str, value: object, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise DefinitionError(f"{field}: is text of at most {longest} characters")
    return value


def _flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise DefinitionError(f"{field}: is true or false, not {value!r}")
    return value
