"""How many captures a worker could begin now."""

from __future__ import annotations

from examples.homepage.job_types import JobType
from postmill import Worker


def available_screenshot_slots(worker: Worker) -> int:
    """Free permits of this worker process; those in use are the gauge `screenshot_concurrency_utilization`.

    Raises LookupError: the worker does not serve SCREENSHOT_CAPTURE, or has not started yet.
    """
    return worker.counters.gauges.limits()[JobType.SCREENSHOT_CAPTURE].available
