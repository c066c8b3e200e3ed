"""`python -m examples.upstreams.alerts`: PagerDuty's and Slack's stand-in as a process of its own.

The first line on stdout is the address: events go to /v2/enqueue, webhooks of Slack are below /services/.
"""

from __future__ import annotations

import argparse
from typing import Any

from examples.upstreams.alerts import judges
from examples.upstreams.alerts.service import AlertService
from examples.upstreams.process import serve


def _either(path: str, body: Any) -> tuple[int, object]:
    judge = judges.pagerduty if path.startswith("/v2/") else judges.slack
    return judge(path, body)


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="alerts", description="stand-in for PagerDuty and Slack")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    server = AlertService(_either, port=parser.parse_args().port)
    serve(server, server.url)


if __name__ == "__main__":
    main()
