"""`python -m examples.upstreams.websites --port 8082`: the stand-in as a process; its pages are said in `server.py`."""

from __future__ import annotations

import argparse

from examples.upstreams.process import serve
from examples.upstreams.websites.server import WebsiteServer


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="websites", description="stand-in for other people's websites")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    options = parser.parse_args()
    server = WebsiteServer(port=options.port)
    serve(server, server.url)


if __name__ == "__main__":
    main()
