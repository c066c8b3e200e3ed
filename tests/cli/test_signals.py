import asyncio
import contextlib
import os
import signal

import pytest

from postmill.cli.signals import Stopper, ended_by_signals


class Target:
    def __init__(self):
        self.calls = []
        self.changed = asyncio.Event()

    def drain(self):
        self.calls.append("drain")
        self.changed.set()

    def abort(self):
        self.calls.append("abort")
        self.changed.set()

    async def called(self):
        await asyncio.wait_for(self.changed.wait(), 60)
        self.changed.clear()


class Closing:
    def __init__(self, left):
        self.left = left

    def close(self):
        self.left.append("closed")


@pytest.fixture(autouse=True)
def handlers_as_before():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


async def test_the_first_drains_and_the_second_aborts():
    target = Target()
    told = []
    stopper = Stopper(target, told=told.append)
    stopper.install()
    os.kill(os.getpid(), signal.SIGTERM)
    await target.called()
    assert (target.calls, stopper.exit_code) == (["drain"], 0)
    os.kill(os.getpid(), signal.SIGINT)
    await target.called()
    assert target.calls == ["drain", "abort"]
    assert stopper.exit_code == 128 + signal.SIGINT
    assert "once more" in told[0]


async def test_what_came_early_counts_for_the_next_target():
    early, late = Target(), Target()
    stopper = Stopper(early)
    stopper.signaled(signal.SIGTERM)
    stopper.retarget(late)
    assert late.calls == ["drain"]
    stopper.signaled(signal.SIGTERM)
    stopper.retarget(last := Target())
    assert last.calls == ["drain", "abort"]


async def test_a_child_drains_when_its_parent_is_gone(monkeypatch):
    reader, writer = os.pipe()
    target = Target()
    stopper = Stopper(target, child=True)
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        stopper.install()
        os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C is for the parent, which hands it on
        os.close(writer)
        await target.called()
    assert target.calls == ["drain"]
    assert stopper.exit_code == 0


def test_sigterm_leaves_a_block_in_order():
    left = []
    with pytest.raises(KeyboardInterrupt), ended_by_signals(), contextlib.closing(Closing(left)):
        signal.raise_signal(signal.SIGTERM)
    assert left == ["closed"]
