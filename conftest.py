"""Fixtures for tests/ and for the tests of examples/: see tests/support/fixtures.py."""

pytest_plugins = [
    "tests.support.memory",
    "tests.support.fixtures",
    "tests.support.spawner",
    "tests.support.leaks",
]
