"""One PostgreSQL server in one data folder: started by argv without a shell, stopped by signals, kept."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

from postmill.local.cluster import SUPERUSER, lock_data, prepare
from postmill.local.launch import SIGNALS, StopMode, launch, listen_settings
from postmill.local.password import set_password
from postmill.local.runtime import socket_folder


class LocalServer:
    """A server on a private unix socket and, with `port`, on 127.0.0.1 (password in `data/password`).

    Args:
        data: the folder that keeps everything; made if missing, kept by `stop`. Any path, also with spaces.
        bindir: PostgreSQL programs to use; default: the wheel's, else the machine's own.
        settings: PostgreSQL settings of this run, such as `{"max_connections": "200"}`.
    """

    def __init__(
        self,
        data: str | Path,
        *,
        bindir: str | Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.data = Path(data).absolute()
        self.cluster = self.data / "postgres"
        self.log = self.data / "server.log"
        self.port = port
        self.settings = dict(settings or {})
        self._bindir = bindir
        self._lock: IO[str] | None = None
        self._sockets: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the running server, None when it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def lock(self) -> None:
        """Take the folder for this process, until `stop`; `LocalServerError` if another one has it."""
        self._lock = self._lock or lock_data(self.data)

    def start(self) -> Self:
        """Start, if it does not run, and wait until it takes connections; `LocalServerError` says why not."""
        if self.pid is None:
            self.lock()
            try:
                bindir, account = prepare(self.cluster, self._bindir)
                self._sockets = socket_folder(self.cluster, account)
                settings = self.settings | listen_settings(self._sockets, self.port)
                self._process = launch(bindir, self.cluster, self.log, account, settings)
                if self.port is not None:
                    set_password(self.data, self.dsn())
            except BaseException:
                self.stop("immediate")
                raise
        return self

    def stop(self, mode: StopMode = "fast", timeout: float = 60.0) -> None:
        """Stop in `timeout` s or raise `TimeoutExpired`; `smart` waits for clients, `immediate` crashes."""
        if self._process is not None:
            self._process.send_signal(SIGNALS[mode])
            self._process.wait(timeout)
        if self._sockets is not None:
            shutil.rmtree(self._sockets)
        if self._lock is not None:
            self._lock.close()
        self._process = self._sockets = self._lock = None

    def restart(self, mode: StopMode = "fast") -> None:
        """Stop and start again, on the same socket."""
        self.stop(mode)
        self.start()

    def kill(self) -> None:
        """SIGKILL the server, as a crash would; its folder stays ours. `start` recovers."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def dsn(self, dbname: str = "postgres") -> str:
        """Connection URL by the socket, for every driver."""
        if self._sockets is None:
            raise RuntimeError("the server has not been started")
        return f"postgresql://{SUPERUSER}@/{quote(dbname)}?host={self._sockets}&port={self.port or 5432}"

    __enter__ = start

    def __exit__(self, *error: object) -> None:
        self.stop()
