"""Timeout and cancellation reach every process, and leave none behind (cases 79 and 107)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from postmill.engine.child_supervisor import Guarded, GuardLost
from postmill.engine.command import Command, CommandResult, run_command
from tests.engine.process_helpers import (
    Run,
    both_loops,
    gone,
    limited,
    offspring,
    pids_in,
    python,
    shell,
    wait_ended,
)
from tests.support.eventually import aeventually

STUBBORN = 'trap "" TERM; (sleep 600 & echo $! >>$D/pids; sleep 600 & echo $! >>$D/pids; wait)'
ON_AND_ON = "while :; do sleep 0.02; done"


def bash(script: str, folder: Path, **options: Any) -> Command:
    """A script whose $D is a folder that outlives it."""
    return Command(("bash", "-c", script), {"D": str(folder)}, **options)


async def canceled_once_up(script: str, folder: Path) -> CommandResult:
    """Run a script, and cancel it as soon as it has made the file `up`."""
    cancel = asyncio.Event()
    task = asyncio.create_task(run_command(bash(script, folder, grace=20), cancel=cancel))
    await aeventually((folder / "up").exists)
    cancel.set()
    return await task


@both_loops
def test_a_timeout_is_term_and_then_kill(run: Run, tmp_path: Path) -> None:
    """Case 79: even where all of them ignore SIGTERM."""
    began = time.monotonic()
    result = run(run_command(bash(STUBBORN, tmp_path, timeout=1, grace=0.3)))
    assert (result.exit_code, result.signal) == (None, signal.SIGKILL)
    assert (result.timed_out, result.canceled) == (True, False)
    assert 1.3 <= time.monotonic() - began < 1.3 + 30
    assert len(pids_in(tmp_path / "pids")) == 2
    assert gone(pids_in(tmp_path / "pids"))


@both_loops
def test_cancel_is_term_and_then_kill(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        cancel = asyncio.Event()
        job = asyncio.create_task(run_command(bash(STUBBORN, tmp_path, grace=0.2), cancel=cancel))
        await aeventually(lambda: len(pids_in(tmp_path / "pids")) == 2)
        cancel.set()
        result = await asyncio.wait_for(job, 0.2 + 30)
        assert (result.canceled, result.timed_out, result.signal) == (True, False, signal.SIGKILL)
        assert gone(pids_in(tmp_path / "pids"))

    run(main())


async def test_who_heeds_sigterm_can_clean_up_and_has_an_exit_code(tmp_path: Path) -> None:
    result = await canceled_once_up(
        "trap 'echo cleaned; exit 3' TERM; touch $D/up; sleep 600 & wait", tmp_path
    )
    assert (result.exit_code, result.signal, result.canceled) == (3, None, True)
    assert result.stdout_tail == "cleaned\n"
    assert result.duration < 15


async def test_grandchildren_have_the_grace_period_too(tmp_path: Path) -> None:
    """The program dies of SIGTERM at once; its child takes a moment to clean up."""
    child = (
        f"trap 'sleep 0.2; echo late >$D/out; exit' TERM; echo $BASHPID >>$D/pids; touch $D/up; {ON_AND_ON}"
    )
    result = await canceled_once_up(f"({child}) & wait", tmp_path)
    assert result.signal == signal.SIGTERM
    assert (tmp_path / "out").read_text() == "late\n"
    assert gone(pids_in(tmp_path / "pids"))


async def test_a_stopped_process_is_ended_too() -> None:
    result = await shell("kill -STOP $$", timeout=0.2, grace=10)
    assert result.signal == signal.SIGTERM
    assert result.duration < 9


async def test_who_left_the_group_is_found(tmp_path: Path) -> None:
    """Daemons of their own session, one with closed outputs, one below another."""
    script = """
        setsid -f bash -c 'echo $$ >>$D/pids; exec sleep 600' </dev/null >/dev/null 2>&1
        setsid -f bash -c 'trap "" TERM; echo $$ >>$D/pids; setsid sleep 600 & echo $! >>$D/pids; wait'
        while [ $(wc -l <$D/pids) -lt 3 ]; do sleep 0.01; done
        echo started
    """
    began = time.monotonic()
    result = await run_command(bash(script, tmp_path))
    assert result.exit_code == 0
    assert result.stdout_tail == "started\n"
    assert time.monotonic() - began < 60
    assert len(pids_in(tmp_path / "pids")) == 3
    assert gone(pids_in(tmp_path / "pids"))


async def test_open_pipes_of_grandchildren_do_not_hold_up_the_end(tmp_path: Path) -> None:
    result = await shell(
        f"sleep 600 & echo $! >{tmp_path}/pids; sleep 600 & echo $! >>{tmp_path}/pids; exit 7"
    )
    assert (result.exit_code, result.timed_out, result.canceled) == (7, False, False)
    assert result.duration < 30
    assert gone(pids_in(tmp_path / "pids"))


async def test_late_output_of_grandchildren_is_kept() -> None:
    result = await shell("(sleep 0.1; echo late) & echo early")
    assert result.stdout_tail == "early\nlate\n"


async def test_canceled_before_the_start_it_never_starts(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    cancel.set()
    result = await run_command(Command(("touch", f"{tmp_path}/ran")), cancel=cancel)
    assert (result.canceled, result.pid, result.exit_code) == (True, None, None)
    assert not (tmp_path / "ran").exists()


@both_loops
def test_a_cancelled_task_ends_when_the_command_has(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        script = f"trap 'sleep 0.2; echo done >$D/out; exit' TERM; touch $D/up; {ON_AND_ON}"
        job = asyncio.create_task(run_command(bash(script, tmp_path)))
        await aeventually((tmp_path / "up").exists)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert (tmp_path / "out").read_text() == "done\n"

    run(main())


async def test_a_second_cancellation_of_the_task_kills(tmp_path: Path) -> None:
    pids: list[int] = []
    script = f'trap "" TERM; touch $D/up; {ON_AND_ON}'
    job = asyncio.create_task(run_command(bash(script, tmp_path, grace=600), on_start=pids.append))
    await aeventually((tmp_path / "up").exists)
    job.cancel()
    await asyncio.sleep(0.05)
    assert not job.done()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(job, 60)
    assert gone(pids)


def test_the_end_of_the_loop_ends_its_commands() -> None:
    pids: list[int] = []

    async def main() -> None:
        task = asyncio.create_task(run_command(Command(("sleep", "600")), on_start=pids.append))
        await aeventually(lambda: pids)
        assert not task.done()

    asyncio.run(main())
    assert gone(pids)


@pytest.mark.parametrize("n", [30, pytest.param(1000, marks=pytest.mark.long)])
async def test_timeouts_leave_no_zombie(n: int) -> None:
    """Case 107."""
    command = Command(("bash", "-c", "sleep 600 & setsid sleep 600 & wait"), timeout=0.02, grace=5)
    results = await limited([lambda: run_command(command)] * n, most=10)
    assert all(result.timed_out for result in results)
    assert offspring() == []


async def test_an_order_that_crosses_with_the_report_loses_nothing() -> None:
    """The report is read late, after orders that reach a guard which has nothing left to guard."""
    async with Guarded(Command(("sh", "-c", "echo out; exit 3")).launch()) as guarded:
        assert guarded.pid is not None
        await aeventually(lambda: gone([guarded.pid or 0]))
        for order in (guarded.stop, guarded.kill, lambda: guarded.limit(None), lambda: guarded.ending(1)):
            order()
            await asyncio.sleep(0.02)
        ending = await guarded.ended()
    assert (ending.exit_code, ending.out.data) == (3, b"out\n")


async def test_a_killed_guard_takes_its_command_with_it(tmp_path: Path) -> None:
    pids: list[int] = []
    root = tmp_path / "scratch"
    root.mkdir()
    command = python("import time; time.sleep(600)", scratch_root=root)
    job = asyncio.create_task(run_command(command, on_start=pids.append))
    await aeventually(lambda: pids)
    guard = psutil.Process(pids[0]).ppid()
    assert guard != os.getpid()
    os.kill(guard, signal.SIGKILL)
    with pytest.raises(GuardLost, match="signal 9"):
        await asyncio.wait_for(job, 10)
    await asyncio.to_thread(wait_ended, [*pids, guard])
    assert list(root.iterdir()) == []


async def test_signals_from_outside_do_not_stop_the_guard() -> None:
    """Whoever stops a whole unit sends SIGTERM to each of its processes; the command itself may obey."""
    pids: list[int] = []
    job = asyncio.create_task(run_command(Command(("sleep", "600")), on_start=pids.append))
    await aeventually(lambda: pids)
    guard = psutil.Process(pids[0]).ppid()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ProcessLookupError):
            os.kill(guard, number)
    os.kill(pids[0], signal.SIGTERM)
    result = await asyncio.wait_for(job, 60)
    assert (result.signal, result.canceled, result.timed_out) == (signal.SIGTERM, False, False)
