"""`python -m examples.upstreams.anthropic --script usual`: the stand-in as a process of its own.

    POST /v1/messages        with the key as a bearer token or x-api-key, and anthropic-version

The first line on stdout is the address. It ends when its standard input does, so it never outlives the program that
started it.
"""

from __future__ import annotations

import argparse

from examples.upstreams.anthropic.server import KEY, AnthropicServer
from examples.upstreams.process import serve
from examples.upstreams.script import SCRIPTS, load_script


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(
        prog="anthropic", description="stand-in for the Anthropic API's messages"
    )
    parser.add_argument("--script", default="usual", help=f"{', '.join(SCRIPTS)}, or JSON (default: usual)")
    parser.add_argument("--key", default=KEY, help="API key that callers must send (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    options = parser.parse_args()
    try:
        script = load_script(options.script)
    except ValueError as fault:
        parser.error(str(fault))
    server = AnthropicServer(script, key=options.key, port=options.port)
    serve(server, server.url)


if __name__ == "__main__":
    main()
