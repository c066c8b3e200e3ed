"""A command line that may be copied as it is: a job that can run by itself, with arguments that its type takes."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Iterable
from typing import Any

from postmill.cli.json_schema import Schema, branches, properties, required, types_of
from postmill.domain.errors import PostmillError
from postmill.domain.registry import AnyJobType

FORMATS = {
    "email": "ada@example.org",
    "uri": "https://example.org",
    "uuid": "0198f3a2-7c11-7abc-8def-0123456789ab",
    "date": "2031-05-01",
    "time": "12:00:00",
    "date-time": "2031-05-01T12:00:00Z",
    "duration": "PT1M",
}
_DEEPEST = 5


def sample_line(job_types: Iterable[AnyJobType]) -> str:
    """The first that runs alone, with arguments that it accepts; else the first, its arguments to be filled in."""
    known = sorted(job_types, key=lambda one: (_reads_parents(one), one.strict_envelope))
    for job_type in known:
        schema = job_type.json_schema()
        payload = {name: _value(properties(schema).get(name, {}), schema) for name in required(schema)}
        try:
            job_type.bind(json.dumps(payload).encode())
        except PostmillError:
            continue
        given = [
            _assigned(name, value, types_of(properties(schema)[name], schema))
            for name, value in payload.items()
        ]
        # Whose it is nobody can guess, and a strict envelope wants to know.
        whose = ["--tenant …"] if job_type.strict_envelope else []
        return " ".join(["postmill enqueue", job_type.name, *given, *whose, "--wait"])
    open_ones = "".join(f" {name}=…" for name in required(known[0].json_schema()))
    return f"postmill enqueue {known[0].name}{open_ones} --wait"


def _reads_parents(job_type: AnyJobType) -> bool:
    """Whether its function asks for the results of others: then it is a step of a workflow, and nothing by itself."""
    code = getattr(inspect.unwrap(job_type.fn), "__code__", None)
    return job_type.wants_ctx and code is not None and bool({"parents", "workflow"} & {*code.co_names})


def _value(part: Schema, root: Schema, depth: int = 0) -> Any:
    for branch in branches(part, root):
        for word in ("examples", "enum"):
            if isinstance(branch.get(word), list) and branch[word]:
                return branch[word][0]
        for word in ("default", "const"):
            if word in branch:
                return branch[word]
    branch = next((one for one in branches(part, root) if "type" in one), {})
    kind = branch.get("type")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "integer" | "number":
            least = branch.get("minimum", branch.get("exclusiveMinimum", 0) + 1)
            return min(max(1, least), branch.get("maximum", least + 1))
        case "boolean":
            return True
        case "array":
            items = branch.get("items")
            return [_value(items, root, depth + 1)] if isinstance(items, dict) and depth < _DEEPEST else []
        case "object":
            known = properties(branch)
            return {
                name: _value(known.get(name, {}), root, depth + 1)
                for name in required(branch)
                if depth < _DEEPEST
            }
        case "null":
            return None
    return FORMATS.get(branch.get("format", ""), "text".ljust(min(100, branch.get("minLength", 0)), "t"))


def _assigned(name: str, value: object, types: set[str]) -> str:
    if isinstance(value, str):
        return shlex.quote(f"{name}={value}")
    as_text = isinstance(value, dict | list) or not types or "string" in types
    return shlex.quote(f"{name}{':=' if as_text else '='}{json.dumps(value)}")
