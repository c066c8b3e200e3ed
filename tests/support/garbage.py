"""The collector rests while thousands of tests are imported, and never looks at them again: a tenth of a test's time."""

from __future__ import annotations

import gc

import pytest

gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on it works, on what the tests make."""
    gc.freeze()
    gc.enable()
