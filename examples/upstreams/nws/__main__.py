"""`python -m examples.upstreams.nws`: the stand-in as a process of its own. `PUT /days` makes bad days.

The first line on stdout is the address. It ends when its standard input does, so it never outlives the program that started
it.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta

from examples.upstreams.nws.server import WeatherServer, alert
from examples.upstreams.process import serve


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="nws", description="stand-in for api.weather.gov and Open-Meteo")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--alert", action="append", default=[], metavar="LAT,LON", help="a place that is warned of something"
    )
    options = parser.parse_args()
    server = WeatherServer(port=options.port)
    for number, place in enumerate(options.alert, 1):
        server.alerts[place] = [alert(number, until=datetime.now(UTC) + timedelta(hours=6))]
    serve(server, server.url)


if __name__ == "__main__":
    main()
