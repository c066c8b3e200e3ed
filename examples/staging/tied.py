"""A module run as a child that never outlives its parent: when standard input ends, it is asked to stop.

`python -m examples.staging.tied postmill worker …`. A worker on its own needs none of this; here it keeps a killed demo from
leaving workers behind.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def end_with_parent() -> None:
    """Wait for the end of standard input, then ask this process to drain and stop."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=False)
