"""The worker dies, or is the first process of its container: nothing of its commands is left either way."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.process_helpers import pids_in, wait_ended
from tests.support.eventually import eventually

ROOT = Path(__file__).parents[2]

WORKER = """
import asyncio, sys
from pathlib import Path
from postmill.engine.command import Command, run_command

SCRIPT = '''
echo $$ >>pids; echo $PPID >>pids
sleep 600 & echo $! >>pids
setsid -f bash -c 'trap "" TERM; echo $$ >>pids; sleep 600 & echo $! >>pids; wait' </dev/null >/dev/null 2>&1
while [ $(wc -l <pids) -lt 5 ]; do sleep 0.01; done; touch ready
trap "" TERM; wait; sleep 600
'''.replace("pids", sys.argv[1] + "/pids").replace("ready", sys.argv[1] + "/ready")

root = Path(sys.argv[1], "scratch")
root.mkdir()
asyncio.run(run_command(Command(("bash", "-c", SCRIPT), scratch_root=root)))
"""

# A subreaper inherits orphans just as PID 1 does, and needs no rights for it.
FIRST_PROCESS = """
import asyncio, ctypes, os, signal, sys
import psutil
from postmill.engine.child_supervisor import GuardLost
from postmill.engine.command import Command, run_command

assert os.getpid() == 1 or ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0

async def main():
    script = "trap '' TERM; sleep 600 & setsid sleep 600 & setsid -f sleep 600; wait"
    stubborn = Command(("bash", "-c", script), timeout=.4, grace=.1)
    results = await asyncio.gather(*(run_command(stubborn) for _ in range(5)))
    assert all(result.timed_out and result.signal in (9, 15) for result in results), results
    careless = Command(("bash", "-c", "setsid -f sleep 600; sleep 600 & echo"))
    await asyncio.gather(*(run_command(careless) for _ in range(5)))
    pids = []
    lost = asyncio.ensure_future(run_command(Command(("sleep", "600")), on_start=pids.append))
    while not pids:
        await asyncio.sleep(.01)
    os.kill(psutil.Process(pids[0]).ppid(), signal.SIGKILL)
    try:
        await lost
    except GuardLost:
        pass
    left = psutil.Process().children(recursive=True)
    assert left == [], left

asyncio.run(main())
print("clean")
"""


def worker(code: str, *args: str) -> subprocess.Popen[str]:
    """A process of its own that runs this code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_a_command_dies_with_its_worker(how: signal.Signals, tmp_path: Path) -> None:
    """Program, guard, grandchild, and those who left the group; and the scratch folder goes."""
    with worker(WORKER, str(tmp_path)) as process:
        eventually((tmp_path / "ready").exists)
        assert list((tmp_path / "scratch").iterdir()) != []
        process.send_signal(how)
        process.communicate(timeout=10)
    wait_ended(pids_in(tmp_path / "pids"))
    eventually(lambda: list((tmp_path / "scratch").iterdir()) == [])


def test_the_first_process_of_a_container_inherits_nothing() -> None:
    with worker(FIRST_PROCESS) as process:
        output, _ = process.communicate(timeout=30)
    assert (output, process.returncode) == ("clean\n", 0)
