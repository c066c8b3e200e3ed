"""One worker in this process: event loop, signals, logs and the HTTP endpoint around `engine.Worker`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import prometheus_client
import uvloop

from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.logs import configure_logs
from postmill.cli.readiness import DatabaseWatch
from postmill.cli.signals import PATIENCE, Stopper
from postmill.domain.settings import Settings
from postmill.engine.garbage import calm
from postmill.engine.worker import Worker
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import SessionOpened, WorkerStarted
from postmill.telemetry.http import MetricsServer
from postmill.telemetry.metrics import render
from postmill.telemetry.tracing import trace_jobs

MakeWorker = Callable[[Bus, Counters], Worker]
Summary = dict[str, int | float]

STARTS = (SessionOpened, WorkerStarted)
"""The events of a start."""

TIMES = ("seconds", "drain_seconds")
"""What a summary has beside counts."""


def times(began: float, stopper: Stopper) -> Summary:
    """How long it was up and, if a signal ended it, how long that took, in seconds."""
    took = stopper.draining
    return {
        "seconds": round(time.monotonic() - began, 3),
        **({} if took is None else {"drain_seconds": round(took, 3)}),
    }


class WorkerProcess:
    """Runs one worker until it has drained.

    Args:
        dsn, schema, settings: of the whole command.
        make: makes the worker on the bus and counters of this process, once the loop runs.
        port: where /metrics, /healthz and /readyz are; None for no endpoint.
        child: a supervisor is the parent.
        quiet_start: the start is told by somebody else, so the log does not.
        told: takes lines for people.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        settings: Settings,
        make: MakeWorker,
        *,
        port: int | None = None,
        child: bool = False,
        quiet_start: bool = False,
        told: Callable[[str], object] = lambda text: None,
    ) -> None:
        self._settings = settings
        self._make = make
        self._port = port
        self._told = told
        self._child = child
        self._quiet_start = quiet_start
        self._watch = DatabaseWatch(dsn, schema, told)
        self._stopper = Stopper(self._watch, child=child, told=told, patience=PATIENCE)
        self._worker: Worker | None = None
        self.summary: Summary = {}

    def run(self) -> int:
        """The exit code: 0 after a clean drain, 128 + signal number if a second signal ended it."""
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        try:
            return runner.run(self._main())
        finally:
            # Closing waits for every task, and for one that was abandoned nobody shall.
            if self._worker is None or not self._worker.summary.get("abandoned"):
                runner.close()

    async def _main(self) -> int:
        bus, counters = Bus(), Counters()
        self._stopper.install()
        configure_logs(self._settings.log, bus, untold=STARTS if self._quiet_start else ())
        trace_jobs(bus)
        with ExitStack() as stack:
            if self._port is not None:
                stack.callback(self._serve(counters, self._port).stop)
            if await self._watch.ready():
                self._worker = worker = self._make(bus, counters)
                self._stopper.retarget(worker)
                began = time.monotonic()
                calm()
                await worker.run()
                self.summary = {**worker.summary, **times(began, self._stopper)}
        return self._stopper.exit_code

    def _serve(self, counters: Counters, port: int) -> MetricsServer:
        host = self._settings.metrics.host
        server = MetricsServer(
            lambda: render(counters, prometheus_client.REGISTRY), host=host, port=port, health=self._health
        )
        try:
            server.start()
        except OSError as fault:
            raise CliError(
                f"cannot listen on {host}:{port}: {fault.strerror or fault}",
                "choose another port",
                ExitCode.FAILED,
            ) from None
        if not self._child:
            self._told(f"metrics at {server.url}/metrics")
        return server

    def _health(self) -> tuple[bool, dict[str, Any]]:
        worker, draining = self._worker, self._stopper.count > 0
        ready = worker is not None and worker.ready.is_set() and not draining
        return ready, {"worker_id": worker and worker.worker_id, "draining": draining}
