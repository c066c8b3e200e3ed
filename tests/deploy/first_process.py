"""A command of ours as process 1, as in a container: what has no handler for a signal does not get it there."""

from __future__ import annotations

import ctypes
import os
import sys

from postmill.cli.main import main as command

_CLONE_NEWPID = 0x20000000


def main() -> None:
    """Run it in process ids of its own; says which number it has outside, and ends as it does."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWPID) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    inner = os.fork()
    if inner == 0:
        assert os.getpid() == 1
        command()
    sys.stdout.write(f"outside it is {inner}\n")
    sys.stdout.flush()
    _, status = os.waitpid(inner, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
