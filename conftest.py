"""Fixtures for tests/ and for the tests of examples/: see tests/support/fixtures.py."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what runs in its background; our processes would inherit it, and hear no Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "tests.support.garbage",
    "tests.support.memory",
    "tests.support.spawner",
    "tests.support.fixtures",
    "tests.support.leaks",
    "tests.support.budget",
]
