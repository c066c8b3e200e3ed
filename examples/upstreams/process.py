"""A stand-in as a process of its own, which never outlives the program that started it."""

from __future__ import annotations

import signal
import sys
import threading
from socketserver import BaseServer
from types import FrameType


def serve(server: BaseServer, url: str) -> None:
    """Say the address on stdout, and serve until standard input ends or a signal comes."""

    def end(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=server.shutdown).start()

    def watch_input() -> None:
        sys.stdin.read()
        server.shutdown()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if not sys.stdin.isatty():
        threading.Thread(target=watch_input, daemon=True).start()
    print(url, flush=True)
    with server:
        server.serve_forever(poll_interval=0.1)
