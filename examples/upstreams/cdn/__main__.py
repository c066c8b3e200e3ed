"""`python -m examples.upstreams.cdn --days '[{"status": 503}]'`: the stand-in as a process of its own.

The first line on stdout is the address of its zone. It ends when its standard input does, so it never outlives the program
that started it.
"""

from __future__ import annotations

import argparse

from pydantic import TypeAdapter

from examples.upstreams.cdn.server import KEY, CdnServer
from examples.upstreams.process import serve
from examples.upstreams.script import Answer

DAYS = TypeAdapter(list[Answer])


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="cdn", description="stand-in for Bunny's Storage API")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--key", default=KEY, help="what callers must send (default: %(default)s)")
    parser.add_argument(
        "--days", type=DAYS.validate_json, default=[], metavar="JSON", help="answers that come first"
    )
    options = parser.parse_args()
    server = CdnServer(key=options.key, port=options.port)
    server.days += options.days
    serve(server, server.url)


if __name__ == "__main__":
    main()
