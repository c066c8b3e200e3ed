"""The fields of a definition as `name=value` on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from postmill.cli.assignments import parse_assignments
from postmill.cli.errors import CliError
from postmill.domain.definition import FIELDS

_KINDS: dict[str, tuple[str, ...]] = {
    "object": ("arg_schema", "retry", "rate"),
    "array": (
        "argv_template",
        "env_allow",
        "aliases",
        "secret_keys",
        "escalation_fields",
        "log_fields",
        "idempotency_content",
    ),
    "integer": ("priority", "max_attempts", "worker_limit"),
    "number": ("timeout_seconds", "idempotency_ttl_seconds"),
    "boolean": ("strict_envelope", "encrypted", "is_active"),
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}

SCHEMA: dict[str, Any] = {
    "properties": {name: {"type": _KIND_OF.get(name, "string")} for name in FIELDS if name != "key"},
    "additionalProperties": False,
}
"""What each field takes, as the parser of arguments reads it."""


def fields_of(parts: Sequence[str], file: str | None) -> dict[str, Any]:
    """The fields that a file (`-` is standard input) and assignments describe; the latter win.

    Raises CliError (usage).
    """
    return parse_assignments(parts, SCHEMA, {} if file is None else _read(file), whole="--from FILE")


def _read(file: str) -> dict[str, Any]:
    try:
        found = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
    except OSError as fault:
        raise CliError(f"--from cannot be read: {fault}") from None
    except ValueError as fault:
        raise CliError(f"--from {file} is not JSON: {fault}") from None
    if not isinstance(found, dict):
        raise CliError(f"--from {file} holds no JSON object, but {type(found).__name__}")
    return found
