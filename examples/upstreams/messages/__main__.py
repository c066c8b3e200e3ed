"""All of them in one process: the first line on stdout is the HTTP services' address and the mail server's."""

from __future__ import annotations

from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.messages.server import MessageServer
from examples.upstreams.process import serve

if __name__ == "__main__":
    mailbox = Mailbox()
    smtp = mailbox.start()
    try:
        server = MessageServer()
        serve(server, f"{server.url} {smtp}")
    finally:
        mailbox.stop()
