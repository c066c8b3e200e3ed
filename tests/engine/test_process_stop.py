"""Timeout, cancellation and the death of the worker, for handlers that heed them and for those that do not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from postmill.engine.child_error import revive
from postmill.engine.child_spec import ChildResult
from tests.engine.process_helpers import Run, both_loops, in_child, offspring, wait_ended
from tests.support.eventually import aeventually, eventually

ROOT = Path(__file__).parents[2]


async def canceled(name: str, folder: Path, grace: float = 5.0, **args: str) -> ChildResult:
    """Run a job and cancel it once it is up."""
    cancel = asyncio.Event()
    payload = json.dumps({"folder": str(folder)} | args)
    task = asyncio.create_task(in_child(name, payload, grace=grace, cancel=cancel))
    await aeventually((folder / "up").exists)
    cancel.set()
    return await task


def folders(root: Path, *names: str) -> list[Path]:
    """New folders of these names."""
    made = [root / name for name in names]
    for folder in made:
        folder.mkdir()
    return made


@both_loops
def test_a_coroutine_can_clean_up(run: Run, tmp_path: Path) -> None:
    """Case 83: the clean-up is finished before anybody is told."""
    cancel, timeout = folders(tmp_path, "cancel", "timeout")

    async def main() -> tuple[ChildResult, ChildResult]:
        return await asyncio.gather(
            canceled("tidy", cancel),
            in_child("tidy", json.dumps({"folder": str(timeout)}), timeout=1),
        )

    by_cancel, by_timeout = run(main())
    assert (by_cancel.status, by_timeout.status) == ("canceled", "timeout")
    assert (cancel / "out").read_text() == (timeout / "out").read_text() == "cleaned up"
    error = by_timeout.error or {}
    assert error["error_class"] == "postmill.domain.errors.TimedOut"
    assert error["message"] == "the attempt ran longer than its timeout of 1 s"
    assert "await asyncio.sleep(600)" in error["stack"]  # where it was


async def test_a_function_finds_the_request_in_its_context(tmp_path: Path) -> None:
    context = {
        "id": "00000000-0000-0000-0000-000000000002",
        "job_type": "obedient",
        "queue": "default",
        "tenant_id": "00000000-0000-0000-0000-000000000001",
        "attempt": 1,
        "run": 1,
        "max_attempts": 3,
        "created_at": "2026-01-01T00:00:00+00:00",
        "holder": "00000000-0000-0000-0000-000000000003",
        "claim_no": 1,
    }
    result = await in_child("obedient", json.dumps({"folder": str(tmp_path)}), timeout=0.3, context=context)
    assert result.status == "timeout"
    assert (result.exit_code, result.signal) == (0, None)
    assert (tmp_path / "out").read_text() == "stopping"


async def test_who_does_not_heed_it_is_killed(tmp_path: Path) -> None:
    sleep, spin, swallow = folders(tmp_path, "sleep", "spin", "swallow")
    began = time.monotonic()
    results = await asyncio.gather(
        canceled("sleep", sleep, 0.3), canceled("spin", spin, 0.3), canceled("swallow", swallow, 0.3, then="")
    )
    assert [(result.status, result.signal) for result in results] == [("canceled", signal.SIGKILL)] * 3
    assert time.monotonic() - began < 60


async def test_a_timeout_says_where_a_function_hung(tmp_path: Path) -> None:
    result = await in_child("sleep", json.dumps({"folder": str(tmp_path)}), timeout=0.5, grace=0.3)
    assert (result.status, result.signal) == ("timeout", signal.SIGKILL)
    assert "in sleep\n    time.sleep(600)" in (result.error or {})["stack"]
    assert 0.8 <= result.duration < 60


async def test_an_answer_that_comes_in_spite_of_it_counts(tmp_path: Path) -> None:
    """What was done is done; and a handler may decide by itself what a stop means."""
    done, snoozed, failed = folders(tmp_path, "done", "snoozed", "failed")
    results = await asyncio.gather(
        canceled("swallow", done, then="return"),
        canceled("swallow", snoozed, then="snooze"),
        canceled("swallow", failed, then="fail"),
    )
    assert [result.status for result in results] == ["succeeded", "raised", "canceled"]
    assert results[0].result == b'"finished all the same"'
    assert (results[1].signal_outcome or {})["kind"] == "snooze"
    assert (results[2].error or {})["message"] == "clean-up failed"


async def test_canceled_before_or_during_the_start_the_handler_never_runs(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    task = asyncio.create_task(in_child("sleep", json.dumps({"folder": str(tmp_path)}), cancel=cancel))
    await asyncio.sleep(0.02)
    cancel.set()
    during = await asyncio.wait_for(task, 10)
    before = await in_child("sleep", json.dumps({"folder": str(tmp_path)}), cancel=cancel)
    assert (during.status, before.status) == ("canceled", "canceled")
    assert (before.pid, before.duration) == (None, 0.0)
    assert not (tmp_path / "up").exists()


async def test_a_cancelled_task_ends_when_the_child_has(tmp_path: Path) -> None:
    task = asyncio.create_task(in_child("tidy", json.dumps({"folder": str(tmp_path)})))
    await aeventually((tmp_path / "up").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (tmp_path / "out").read_text() == "cleaned up"


async def test_a_sigterm_from_elsewhere_is_no_cancellation(tmp_path: Path) -> None:
    task = asyncio.create_task(in_child("tidy", json.dumps({"folder": str(tmp_path)})))
    await aeventually((tmp_path / "up").exists)
    for child in offspring():
        if "postmill.engine.child" in child.cmdline():
            child.terminate()
    result = await task
    assert (result.status, result.signal) == ("died", signal.SIGTERM)
    assert (tmp_path / "out").read_text() == "cleaned up"


async def test_a_killed_guard_is_a_death_of_the_child(tmp_path: Path) -> None:
    task = asyncio.create_task(in_child("sleep", json.dumps({"folder": str(tmp_path)})))
    await aeventually((tmp_path / "up").exists)
    (guard,) = offspring(recursive=False)
    pids = [guard.pid, *(child.pid for child in guard.children())]
    guard.kill()
    result = await asyncio.wait_for(task, 10)
    assert result.status == "died"
    assert "the guard process was killed by signal 9" in str(revive(result))
    await asyncio.to_thread(wait_ended, pids)


async def test_tasks_that_a_handler_leaves_are_ended_in_time(tmp_path: Path) -> None:
    result = await in_child("leave_tasks", json.dumps({"folder": str(tmp_path)}))
    assert (result.status, result.result) == ("succeeded", b'"answer"')
    assert (tmp_path / "out").read_text() == "task ended"


WORKER = """
import asyncio, json, sys
from postmill.engine.child_spec import ChildSpec
from postmill.engine.process import run_in_child
payload = json.dumps({"folder": sys.argv[1], "leave": False}).encode()
spec = ChildSpec(("tests.engine.process_jobs",), "spawn", payload, {}, "dbname=nowhere")
asyncio.run(run_in_child(spec, timeout=None, grace=600))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_the_child_dies_with_its_worker(how: signal.Signals, tmp_path: Path) -> None:
    """Child, guard, and what the handler had started, in its session or another."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    with subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path)], env=environment) as worker:
        eventually(
            lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text().count("\n") == 1, 20
        )
        everybody = [process.pid for process in psutil.Process(worker.pid).children(recursive=True)]
        worker.send_signal(how)
    assert len(everybody) == 4
    wait_ended(everybody)
