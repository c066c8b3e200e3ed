"""The HTTP server in this process: event loop, signals, logs and the socket around the application."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import typer
import uvicorn
import uvloop
from fastapi import FastAPI
from pydantic import SecretStr

from postmill import connections
from postmill.api.backend import Backend
from postmill.api.beside import Worker
from postmill.api.cell_router import CellRouter
from postmill.bind import arun
from postmill.cli.address import address, is_loopback
from postmill.cli.database import normalized
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.logs import configure_logs
from postmill.cli.readiness import DatabaseWatch
from postmill.cli.run import Run
from postmill.cli.securing import SECURE
from postmill.cli.signals import PATIENCE, Stopper
from postmill.console.app import create_app
from postmill.domain.settings import Settings
from postmill.domain.settings_cells import directory_of
from postmill.engine.garbage import calm
from postmill.store.access import Entrances, entrances
from postmill.telemetry.bus import Bus


def run_server(run: Run, host: str | None, port: int | None, *, child: bool, worker: str | None) -> None:
    """Serves until it is told to stop; ends with the exit code."""
    given = {"host": host, "port": port}
    server = run.settings.server.model_copy(
        update={key: value for key, value in given.items() if value is not None}
    )
    settings = run.settings_here.model_copy(
        update={"server": server, "database_url": SecretStr(normalized(run.dsn)), "schema_name": run.schema}
    )
    process = ServerProcess(run, settings, child=child, worker=worker)
    raise typer.Exit(uvloop.run(process.main()))


class ServerProcess:
    """One server.

    Args:
        run, settings: of the command; `settings` has the database in it.
        child: a supervisor is the parent.
        worker: where the worker beside it answers /metrics and /readyz; None: there is none.
    """

    def __init__(self, run: Run, settings: Settings, *, child: bool, worker: str | None) -> None:
        self._run = run
        self._settings = settings
        self._child = child
        self._worker = worker
        self._watch = DatabaseWatch(str(settings.dsn), settings.schema_name, run.out.note)
        self._stopper = Stopper(self._watch, child=child, told=run.out.note, patience=PATIENCE)

    async def main(self) -> int:
        """The exit code: 0 after an orderly end, 128 + signal number if a second signal ended it."""
        self._stopper.install()
        bus = Bus()
        configure_logs(self._settings.log, bus)
        if not await self._watch.ready():
            return self._stopper.exit_code
        found = await self._entrances()
        check(found, self._settings)
        with self._listening() as listener:
            apps = self._apps(bus)
            for app in apps.values():
                app.state.worker = None if self._worker is None else Worker(self._worker)
            server = Server(apps, self._settings)
            self._stopper.retarget(server)
            if not self._child:
                self._tell(listener, found)
            calm()
            await server.serve(sockets=[listener])
        return self._stopper.exit_code

    def _apps(self, bus: Bus) -> dict[str, FastAPI]:
        """The application of each cell; with --cell, or without cells, only one."""
        cells = {} if self._run.given.cell is not None or self._run.given.dsn else self._settings.cells
        if not cells:
            return {"": create_app(self._settings, bus)}
        return {name: create_app(self._settings.in_cell(name), bus) for name in cells}

    def _tell(self, listener: socket.socket, found: Entrances) -> None:
        host, port = listener.getsockname()[:2]
        note = self._run.out.note
        note(f"API at {address(str(host), int(port))}{self._settings.server.root_path}/api/v1")
        if not found.login_configured and not self._settings.oidc.issuer:
            note("nobody can log in yet: postmill login prints a link, postmill keys create makes a key")

    async def _entrances(self) -> Entrances:
        conn = await connections.aconnect(str(self._settings.dsn), "postmill start")
        async with conn:
            return await arun(conn, entrances(schema=self._settings.schema_name))

    @contextlib.contextmanager
    def _listening(self) -> Iterator[socket.socket]:
        host, port = self._settings.server.host, self._settings.server.port
        try:
            family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = socket.create_server(place[:2], family=family, backlog=2048)
        except OSError as fault:
            raise CliError(
                f"cannot listen on {host}:{port}: {fault.strerror or fault}",
                "choose another --host or --port",
                ExitCode.FAILED,
            ) from None
        with listener:
            yield listener


class Server(uvicorn.Server):
    """uvicorn without its own handling of signals: those are the command's."""

    def __init__(self, apps: FastAPI | dict[str, FastAPI], settings: Settings) -> None:
        self._apps = [apps] if isinstance(apps, FastAPI) else list(apps.values())
        home = directory_of(settings.cells)
        app: Any = self._apps[0]
        if isinstance(apps, dict) and len(apps) > 1 and home is not None:
            app = CellRouter(apps, home, settings.oidc.tenant_claim)
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,  # addresses of login links hold secrets
                proxy_headers=False,
                server_header=False,
                date_header=True,
                timeout_graceful_shutdown=max(1, round(settings.server.grace)),
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield

    def drain(self) -> None:
        """Take no new connections, let requests end; those that wait for jobs, and live streams, end at once."""
        self.should_exit = True
        for app in self._apps:
            backend: Backend | None = getattr(app.state, "backend", None)
            if backend is not None:
                backend.desk.send_home()
            app.state.live.send_home()

    def abort(self) -> None:
        """End at once."""
        self.should_exit = self.force_exit = True


def check(found: Entrances, settings: Settings) -> None:
    """Raises CliError where this server must not start: requests would not be kept apart, or anybody could come in."""
    if found.unsecured is not None:
        raise CliError(
            f"requests cannot be kept within their tenants: {found.unsecured}",
            SECURE.format(schema=settings.schema_name),
            ExitCode.SCHEMA,
        )
    host = settings.server.host
    if not is_loopback(host) and not found.login_configured and not settings.oidc.issuer:
        raise CliError(
            f"no login is configured, so the server listens on this machine only, not on {host or 'every address'}",
            "make an API key first (postmill keys create NAME --role …), or set oidc; or leave out --host",
        )
