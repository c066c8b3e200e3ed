"""The collector looks at what the tests make, not at the thousands of modules and tests themselves, nor at what earlier
modules left in caches: else each look would take longer than the one before, a second in the end.
"""

from __future__ import annotations

import gc

import pytest

gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on it works."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """At the end of a module what is garbage goes, and what stays is not looked at again."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
