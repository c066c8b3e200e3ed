"""`python -m examples.upstreams.nws`: the stand-in as a process of its own. `PUT /days` makes bad days.

The first line on stdout is the address. It ends when its standard input does, so it never outlives the program that started
it.
"""

from __future__ import annotations

import argparse

from examples.upstreams.nws.server import WeatherServer
from examples.upstreams.process import serve


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="nws", description="stand-in for api.weather.gov and Open-Meteo")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    server = WeatherServer(port=parser.parse_args().port)
    serve(server, server.url)


if __name__ == "__main__":
    main()
