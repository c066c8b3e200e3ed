"""Handlers that do what no handler should: the worker learns of it, and nothing is left behind."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from postmill.domain.error_record import MESSAGE_BYTES, STACK_BYTES
from postmill.engine.child_error import revive
from tests.engine.process_helpers import gone, in_child, limited, offspring, pids_in


async def test_an_error_of_100_mb_is_cut_to_its_measure() -> None:
    """Case 51."""
    result = await in_child("fail", json.dumps({"kind": "huge", "size": 100 << 20}))
    error = result.error or {}
    assert len(error["message"].encode()) <= MESSAGE_BYTES
    assert len(error["stack"].encode()) <= STACK_BYTES
    assert error["message"].startswith("head")
    assert error["message"].endswith("tail")


async def test_errors_that_cannot_be_read_or_stored() -> None:
    unreadable, surrogate = await limited(
        [partial(in_child, "fail", json.dumps({"kind": kind})) for kind in ("unreadable", "surrogate")]
    )
    assert unreadable.status == "raised"
    assert (unreadable.error or {})["error_class"] == "tests.engine.process_jobs.Unreadable"
    assert "cannot be read" in (unreadable.error or {})["message"]
    assert str(revive(surrogate)) == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


async def test_a_careless_handler_still_has_its_result() -> None:
    kinds = ("fork", "pool", "binary", "close", "thread", "replace", "chdir", "signals")
    results = await limited([partial(in_child, "careless", json.dumps({"kind": kind})) for kind in kinds])
    assert [(result.status, result.result) for result in results] == [
        ("succeeded", json.dumps(kind).encode()) for kind in kinds
    ]
    binary = results[kinds.index("binary")].stdout_tail
    assert binary.endswith("\\ud800\n")
    assert "\0" not in binary
    forked = await in_child("careless_fork")
    assert (forked.status, forked.result) == ("succeeded", b'"from the handler"')
    assert offspring() == []


async def test_a_handler_that_closes_or_spoils_the_connection_has_died() -> None:
    closed, spoiled = await limited([partial(in_child, "close_everything"), partial(in_child, "babble")])
    assert (closed.status, closed.exit_code) == ("died", 1)
    assert "Bad file descriptor" in closed.stderr_tail
    assert (spoiled.status, spoiled.signal) == ("died", 9)
    assert "it had written to the connection" in (spoiled.error or {})["message"]


@pytest.mark.parametrize("leave", [True, False], ids=["left", "timed out"])
async def test_processes_of_the_handler_end_with_it(leave: bool, tmp_path: Path) -> None:
    payload = json.dumps({"folder": str(tmp_path), "leave": leave})
    result = await in_child("spawn", payload, timeout=1, grace=0.2)
    assert result.status == ("succeeded" if leave else "timeout")
    assert len(pids_in(tmp_path / "pids")) == 2
    assert gone(pids_in(tmp_path / "pids"))


async def test_a_memory_limit_is_a_memory_error_and_not_the_end() -> None:
    used, small = await limited(
        [
            partial(in_child, "fail", json.dumps({"kind": "memory"}), memory_limit=1 << 30),
            partial(in_child, "nothing", memory_limit=1 << 20),
        ]
    )
    assert (used.status, (used.error or {})["error_class"]) == ("raised", "MemoryError")
    assert small.status == "raised"
    assert "a memory limit of 1 MiB is below what the child process has" in (small.error or {})["message"]
    assert (small.error or {})["retryable"] is False
