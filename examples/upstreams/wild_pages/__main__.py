"""`python -m examples.upstreams.wild_pages --port 8084`: the stand-in as a process of its own.

The first line on stdout is the address; what lies below it is said in `server.py` and `pages.py`. It ends when its standard
input does, so it never outlives the program that started it.
"""

from __future__ import annotations

import argparse

from examples.upstreams.process import serve
from examples.upstreams.wild_pages.server import WildPages


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="wild_pages", description="stand-in for the pages of the world")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    server = WildPages(port=parser.parse_args().port)
    serve(server, server.url)


if __name__ == "__main__":
    main()
