"""What a handler does in a child process, and what the worker learns of it."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import postmill
from postmill.domain import outcome as outcomes
from postmill.domain.classify import classify
from postmill.domain.error_names import class_names
from postmill.domain.errors import Undecodable
from postmill.domain.outcome import decide
from postmill.engine.child_error import record_of, revive
from postmill.engine.child_spec import ChildResult
from tests.engine.process_helpers import Run, both_loops, in_child, limited


async def all_of(*calls: tuple[str, dict[str, Any]]) -> list[ChildResult]:
    """Run several jobs, a few at a time."""
    return await limited([partial(in_child, name, json.dumps(args)) for name, args in calls])


@both_loops
def test_a_result_comes_back(run: Run) -> None:
    value = {"a": [1, None, "ž\N{PILE OF POO}"], "b": 1.5}
    plain, by_alias, echo, nothing = run(
        all_of(
            ("add", {"a": 1, "b": 2}),
            ("plus", {"a": 1}),
            ("wait_and_echo", {"value": value}),
            ("nothing", {}),
        )
    )
    assert (plain.status, plain.result, plain.stdout_tail, plain.error) == (
        "succeeded",
        b"3",
        "adding 1 2\n",
        None,
    )
    assert (plain.exit_code, plain.signal, plain.settled) == (0, None, False)
    assert by_alias.result == b"2"
    assert (json.loads(echo.result or b""), echo.stderr_tail) == (value, "to stderr\n")
    assert (nothing.status, nothing.result) == ("succeeded", None)


async def test_a_large_result_comes_back_and_a_huge_one_is_refused() -> None:
    large, huge = await all_of(("large", {"size": 5 << 20}), ("large", {"size": 20 << 20}))
    assert len(large.result or b"") > 5 << 20
    assert json.loads(large.result or b"")["text"] == "é" * ((5 << 20) // 2)
    assert huge.status == "raised"
    assert "at most 16777216 are allowed" in (huge.error or {})["message"]


async def test_a_result_that_cannot_be_stored_is_a_permanent_error_that_names_the_place() -> None:
    kinds = ("object", "nan", "nul", "deep", "lone")
    results = await all_of(*(("unstorable", {"kind": kind}) for kind in kinds))
    errors = [result.error or {} for result in results]
    assert [result.status for result in results] == ["raised"] * 5
    assert [error["retryable"] for error in errors] == [False] * 5
    assert all(error["error_class"].endswith("PayloadRefused") for error in errors)
    assert [error["message"].split(":")[0] for error in errors[:3]] == ["result", "result[1]", "result.a"]


async def test_a_job_that_cannot_begin() -> None:
    wrong, unknown, module, missing = await limited(
        [
            partial(in_child, "add", '{"a": "x", "c": 2}'),
            partial(in_child, "ad", "{}"),
            partial(in_child, "add", "{}", modules=("tests.engine.no_such_module",)),
            partial(in_child, "add", "{}", modules=("tests/engine/no_such_file.py",)),
        ]
    )
    error = revive(wrong)
    assert isinstance(error, Undecodable)
    assert [fault.path for fault in error.faults] == ["args.a", "args.c"]
    assert "did you mean 'add'" in (unknown.error or {})["message"]
    assert "no module 'tests.engine.no_such_module'" in (module.error or {})["message"]
    assert "no_such_file.py" in (missing.error or {})["message"]
    assert {wrong.status, unknown.status, module.status, missing.status} == {"raised"}


async def test_an_error_is_treated_as_in_the_worker_itself() -> None:
    """The classifier saw the real exception; names, attributes and stack survive."""
    rejected, system, group = await all_of(
        ("reject", {"status": 503}), ("fail", {"kind": "system"}), ("fail", {"kind": "group"})
    )
    error = revive(rejected)
    assert error is not None
    verdict = classify(error)
    assert (verdict.retryable, verdict.status, verdict.retry_after) == (False, 503, 17.0)
    assert verdict.error_class == "tests.engine.process_jobs.Rejected"
    assert {"Rejected", "ConnectionError", "OSError"} <= set(class_names(error, None))
    assert str(error) == "answer 503"
    decided = decide(error, attempt=1, max_attempts=5, rng=random.Random())
    assert isinstance(decided, outcomes.Buried)
    assert "in reject\n    raise Rejected(status)" in (decided.error.stack or "")
    record = record_of(rejected)
    assert record is not None
    assert (record.status, record.message) == (503, "answer 503")
    # Only the handler's own frames.
    assert record.stack is not None
    assert record.stack.splitlines()[1].endswith("in reject")
    assert str(Path(postmill.__file__).parent) not in record.stack

    missing = revive(system)
    assert missing is not None
    assert classify(missing).error_code == "ENOENT"
    assert "FileNotFoundError" in set(class_names(missing, None))
    several = revive(group)
    assert several is not None
    assert "ExceptionGroup" in set(class_names(several, None))
    assert classify(several).retryable is False  # EACCES inside


async def test_a_signal_of_the_handler_decides() -> None:
    kinds = ("retry", "snooze", "group", "cancel", "bury", "fail", "canceled")
    results = await all_of(*(("decide", {"kind": kind}) for kind in kinds))
    assert [result.status for result in results] == ["raised"] * len(kinds)
    rng = random.Random()
    retry, *others = [decide(revive(result), attempt=1, max_attempts=3, rng=rng) for result in results]
    assert isinstance(retry, outcomes.Retrying)
    assert (retry.delay, retry.error.message) == (3600, "later")
    snoozed = [outcomes.Snoozed(5, "not now"), outcomes.Snoozed(7, "")]
    assert others[:3] == [*snoozed, outcomes.Canceled("no need")]
    buried, failed, canceled = others[3:]
    assert isinstance(buried, outcomes.Buried)
    assert isinstance(failed, outcomes.Failed)
    assert (buried.reason, failed.reason, canceled) == ("gone", "wrong", outcomes.Canceled("stop"))


async def test_a_death_names_signal_or_exit_code() -> None:
    """Case 49."""
    kill, segv, quiet, three, real_time = await all_of(
        *(("die", {"how": how}) for how in ("9", "segv", "exit", "exit 3", "40"))
    )
    assert {r.status for r in (kill, segv, quiet, three, real_time)} == {"died"}
    said = [(r.error or {})["message"].split(" before")[0] for r in (kill, segv, quiet, three, real_time)]
    assert said == [
        "killed by signal 9 (SIGKILL)",
        "killed by signal 11 (SIGSEGV)",
        "the process ended with exit code 0",
        "the process ended with exit code 3",
        "killed by signal 40",
    ]
    assert (kill.signal, kill.exit_code, kill.stdout_tail) == (9, None, "last words\n")
    assert (quiet.signal, quiet.exit_code) == (None, 0)
    assert "Fatal Python error: Segmentation fault" in segv.stderr_tail
    assert "in die" in segv.stderr_tail  # where it happened
    assert list(class_names(revive(kill), None))[1] == "ProcessDied"


async def test_what_asks_for_the_end_of_the_process_is_an_error() -> None:
    exits, interrupt, coroutine = await all_of(
        ("fail", {"kind": "exit"}), ("fail", {"kind": "interrupt"}), ("afail", {})
    )
    errors = [result.error or {} for result in (exits, interrupt, coroutine)]
    assert [error["error_class"] for error in errors] == ["SystemExit", "KeyboardInterrupt", "SystemExit"]
    assert [error["message"] for error in errors] == ["3", "", "from a coroutine"]
    assert all(result.status == "raised" for result in (exits, interrupt, coroutine))
