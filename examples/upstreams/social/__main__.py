"""`python -m examples.upstreams.social`: the stand-in as a process of its own. `PUT /days` makes bad days.

The first line on stdout is the address. It ends when its standard input does, so it never outlives the program that started
it.
"""

from __future__ import annotations

import argparse

from examples.upstreams.process import serve
from examples.upstreams.social.server import LIFETIME, SocialServer


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(
        prog="social", description="stand-in for a network with OAuth 2 and posts"
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--lifetime", type=int, default=LIFETIME, help="seconds of access tokens (default: %(default)s)"
    )
    options = parser.parse_args()
    server = SocialServer(port=options.port)
    server.lifetime = options.lifetime
    serve(server, server.url)


if __name__ == "__main__":
    main()
