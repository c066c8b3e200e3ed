"""Python's collector of cycles, told that the hot path of a worker, and a request, make next to none."""

from __future__ import annotations

import gc


def calm() -> None:
    """Take what is loaded out of the collector's sight and let it look more rarely. For a worker or server process, once.

    Its looks took 2.4 of 9.2 us a job: every 700 new objects it walked the young ones, which all go by counting. In a server
    each look at all that is loaded took 130 ms of somebody's request, every twelfth page of a large workflow.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
