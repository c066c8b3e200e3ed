"""`python -m examples.upstreams.dropbox --account dbid:AAA=sl.token …`: the stand-in as a process of its own.

The first line on stdout is the address. It ends when its standard input does, so it never outlives the program that
started it.
"""

from __future__ import annotations

import argparse

from examples.upstreams.dropbox.account import Account
from examples.upstreams.dropbox.server import DropboxServer
from examples.upstreams.dropbox.webhooks import Webhooks
from examples.upstreams.process import serve
from examples.upstreams.script import SCRIPTS, load_script


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="dropbox", description="stand-in for the Dropbox API")
    parser.add_argument("--account", action="append", default=[], metavar="ID=TOKEN", help="an account")
    parser.add_argument("--webhook", metavar="URL", help="where the app takes notes of changes")
    parser.add_argument("--app-secret", default="", help="what signs them")
    parser.add_argument("--script", default="usual", help=f"{', '.join(SCRIPTS)}, or JSON (default: usual)")
    parser.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port (default: any free one)")
    options = parser.parse_args()
    try:
        script = load_script(options.script)
        pairs = [given.split("=", 1) for given in options.account]
        accounts = {token: Account(id) for id, token in pairs}
    except ValueError as fault:
        parser.error(str(fault))
    server = DropboxServer(accounts, script, host=options.host, port=options.port)
    if options.webhook:
        server.webhooks = Webhooks(options.webhook, options.app_secret)
        server.webhooks.start()
    serve(server, server.url)
    if server.webhooks is not None:
        server.webhooks.close()


if __name__ == "__main__":
    main()
