"""Definitions as people write them: what is filled in, what is refused, and what a change brings with it."""

from __future__ import annotations

from typing import Any

import pytest

from postmill.domain.definition import FIELDS, check_changes, check_new
from postmill.domain.errors import DefinitionError

# Seed 3, API contract: the example payload.
SEED: dict[str, Any] = {
    "key": "sync-dropbox",
    "description": "Sync provider updates for tenant",
    "arg_schema": {
        "type": "object",
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string"},
        },
        "required": ["provider_id"],
        "additionalProperties": False,
    },
    "timeout_seconds": 3600,
    "max_attempts": 3,
}


def test_the_seeds_payload_is_a_definition() -> None:
    row = check_new(SEED)
    assert (row["kind"], row["argv_template"], row["queue"]) == ("function", None, "default")
    assert (row["timeout_seconds"], row["max_attempts"], row["is_active"]) == (3600.0, 3, True)


def test_a_template_makes_a_command_of_it() -> None:
    template = ["zoltag", "{key}", "--tenant-id", "{tenant_id}"]
    row = check_new(SEED, default_argv=template)
    assert (row["kind"], row["argv_template"]) == (
        "command",
        ["zoltag", "sync-dropbox", "--tenant-id", "{tenant_id}"],
    )
    assert check_new(SEED | {"kind": "http"}, default_argv=template)["kind"] == "http"
    assert check_new(SEED | {"argv_template": ["echo"]}, default_argv=template)["argv_template"] == ["echo"]


def test_defaults_are_seed_3s() -> None:
    row = check_new({"key": "a"})
    assert (row["timeout_seconds"], row["max_attempts"], row["description"], row["arg_schema"]) == (
        3600.0,
        3,
        "",
        {},
    )
    assert set(row) >= set(FIELDS) - {"idempotency_ttl_seconds"}


def test_a_category_brings_seed_5s() -> None:
    row = check_new({"key": "notify", "category": "notifications", "kind": "http"})
    assert (row["max_attempts"], row["retry"]["cap"]) == (10, 1800.0)
    assert (row["idempotency"], row["idempotency_ttl"]) == ("ttl", "604800.000000 seconds")


def test_a_strict_envelope_refuses_secrets_and_asks_for_keys() -> None:
    row = check_new({"key": "notify", "strict_envelope": True})
    assert (row["secrets"], row["idempotency"]) == ("refuse", "active")
    assert check_new({"key": "notify", "strict_envelope": True, "secrets": "redact"})["secrets"] == "redact"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"key": "a b"}, "'a b' is no name for a job type"),
        ({}, "None is no name"),
        ({"key": "a", "quue": "x"}, "quue: unknown field; did you mean 'queue'"),
        ({"key": "a", "kind": "shell"}, "kind: 'shell' is none of: function, command, http"),
        ({"key": "a", "kind": "command"}, "argv_template: a command needs one"),
        ({"key": "a", "kind": "http", "argv_template": ["x"]}, "argv_template: only commands have one"),
        (
            {"key": "a", "argv_template": ["x", "{payload.b}"]},
            r"argv_template\[1\]: {payload.b} is no property",
        ),
        ({"key": "a", "arg_schema": {"type": "nonsense"}}, "arg_schema: #/type"),
        ({"key": "a", "queue": "a,b"}, "queue: queue name 'a,b' holds ','"),
        ({"key": "a", "max_attempts": 0}, "max_attempts: must be from 1"),
        ({"key": "a", "max_attempts": 2**31}, "max_attempts: must be from 1"),
        ({"key": "a", "timeout_seconds": -1}, "timeout_seconds: "),
        ({"key": "a", "timeout_seconds": float("nan")}, "timeout_seconds: is nan"),
        ({"key": "a", "retry": {"kind": "random"}}, "retry: unknown kind"),
        ({"key": "a", "idempotency": "ttl"}, "idempotency: .*needs window"),
        (
            {"key": "a", "idempotency": "active", "idempotency_ttl_seconds": 5},
            "idempotency: .* takes no window",
        ),
        ({"key": "a", "env_allow": ["LD_PRELOAD"]}, "env_allow: 'LD_PRELOAD' decides which code"),
        ({"key": "a", "env_allow": ["A=B"]}, "env_allow: 'A=B' is no name"),
        ({"key": "a", "rate": {"count": 1}}, "rate: is an object such as"),
        ({"key": "a", "rate": {"count": 2**31, "seconds": 1}}, "rate: count and burst are at most"),
        ({"key": "a", "secrets": "show"}, "secrets: 'show' is none of: redact, refuse"),
        ({"key": "a", "description": "a\0b"}, "description: holds a NUL"),
        ({"key": "a", "arg_schema": {"title": "\ud800"}}, "arg_schema.title: holds a lone surrogate"),
        ({"key": "a", "is_active": 1}, "is_active: is true or false"),
    ],
)
def test_what_is_refused_by_its_field(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        check_new(fields)


def stored(**fields: Any) -> dict[str, Any]:
    """A definition as it is read back."""
    row = check_new({"key": "a", **fields})
    ttl = row.pop("idempotency_ttl")
    seconds = None if ttl is None else float(ttl.split()[0])
    return row | {"idempotency_ttl_seconds": seconds, "registered": fields.get("registered", False)}


def test_only_what_differs_is_a_change() -> None:
    now = stored(argv_template=["x"])
    assert check_changes(now, {"max_attempts": 3, "queue": "other"}) == {"queue": "other"}
    assert check_changes(now, {}) == {}
    assert check_changes(now, {"timeout_seconds": None}) == {"timeout_seconds": None}


def test_what_follows_from_a_change() -> None:
    now = stored(category="notifications")
    changes = check_changes(now, {"category": "planning"})
    assert set(changes) == {"category", "max_attempts", "retry", "idempotency_ttl"}
    assert (
        check_changes(now, {"category": "planning", "max_attempts": 10}).keys().isdisjoint({"max_attempts"})
    )
    assert check_changes(stored(), {"strict_envelope": True}) == {
        "strict_envelope": True, "secrets": "refuse", "idempotency": "active"
    }  # fmt: skip
    assert check_changes(stored(argv_template=["x"]), {"kind": "function"}) == {
        "kind": "function",
        "argv_template": None,
    }
    assert check_changes(stored(worker_limit=2), {"worker_limit": None}) == {
        "worker_limit": None,
        "lane": "tenant",
    }


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"key": "b"}, "key: never changes"),
        ({"nonsense": 1}, "nonsense: unknown field"),
        ({"argv_template": ["{tenant_id}"]}, r"argv_template\[0\]"),
    ],
)
def test_changes_that_are_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        check_changes(stored(argv_template=["x"]), changes)


def test_what_is_the_codes() -> None:
    now = stored() | {"registered": True, "arg_schema": {"$ref": "#/$defs/anything"}}
    with pytest.raises(DefinitionError, match="arg_schema: comes from the code that registered 'a'"):
        check_changes(now, {"arg_schema": {}})
    assert check_changes(now, {"priority": 5}) == {"priority": 5}
