import sys

import pytest

from tests.cli.staging import Stage


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of the test's own, and the current one; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def stage(pg):
    """Jobs in any state."""
    return Stage(pg)
