"""A command of ours on a host of the tests (`tests/support/network.py`): first into its network, then as ever."""

from __future__ import annotations

import ctypes
import os

from postmill.cli.main import main as command

HOST = "MILL_HOST"
"""The environment variable that names the host."""

_CLONE_NEWNET = 0x40000000


def main() -> None:
    """Run it."""
    with open(f"/run/netns/{os.environ.pop(HOST)}") as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    command()
