"""A small IMAP4rev1 server: as much as a program needs that reads a mailbox by UID, and bad days by a plan.

CAPABILITY, NOOP, LOGIN, SELECT, EXAMINE, UID SEARCH, UID FETCH, UID STORE, CLOSE, LOGOUT; arguments as atoms, quoted or as
literals. `accounts` are who may log in.
"""

from __future__ import annotations

import contextlib
import socketserver
import threading

from examples.upstreams.mail.folder import Folder
from examples.upstreams.mail.session import Session


class _Handler(socketserver.StreamRequestHandler):
    # An answer is several short lines: each would wait for the other side to have said that it has the one before.
    disable_nagle_algorithm = True

    def handle(self) -> None:
        server = self.server
        assert isinstance(server, ImapServer)
        with contextlib.suppress(ConnectionError, ValueError):  # the other side has gone
            Session(server, self.rfile, self.wfile).run()


class ImapServer(socketserver.ThreadingTCPServer):
    """Listens on 127.0.0.1.

    `cut`: at the first command that begins so (`UID FETCH 2`, as it came) the line breaks in the middle of the answer, and
    the plan is over. `stalled`: at a command that begins so nothing is said until `go_on` is set; `waiting` tells that it
    is so. `refusing`: nobody is let in. `commands` are all that came, without those that hold passwords.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.accounts = {"relay": 's3cret pass"word'}
        self.folder = Folder()
        self.refusing = False
        self.cut: str | None = None
        self.stalled: str | None = None
        self.waiting = threading.Event()
        self.go_on = threading.Event()
        self.commands: list[str] = []

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def server_close(self) -> None:
        """Also lets go whoever is kept waiting."""
        self.go_on.set()
        super().server_close()
