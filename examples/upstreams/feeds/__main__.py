"""`python -m examples.upstreams.feeds --port 8081`: the stand-in as a process of its own.

The first line on stdout is the address; what lies below it is said in `server.py`. It ends when its standard input does, so
it never outlives the program that started it.
"""

from __future__ import annotations

import argparse
import json

from examples.upstreams.feeds.server import FeedServer
from examples.upstreams.process import serve
from examples.upstreams.script import Answer


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="feeds", description="stand-in for the world's feeds")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--days",
        type=json.loads,
        default={},
        metavar="JSON",
        help="bad days: answers by path that come first",
    )
    options = parser.parse_args()
    server = FeedServer(port=options.port)
    for path, answers in options.days.items():
        server.days[path] += map(Answer.model_validate, answers)
    serve(server, server.url)


if __name__ == "__main__":
    main()
