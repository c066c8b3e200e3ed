"""Every operation of the document, fuzzed over a socket: no answer is a fault of the server's, none is undocumented,
nothing that the document forbids is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.databases import Database


@pytest.fixture
def served(database: Database, tmp_path: Path) -> Iterator[Any]:
    # Only here: every test process reads this file, and one runs it.
    from tests.api.fuzzing import Served

    with Served(database, tmp_path) as made:
        yield made


def test_no_answer_is_a_fault_of_ours(served: Any) -> None:
    """What goes beyond the document at each single place of it; always the same requests."""
    served.fuzz("coverage", mode="negative", seed=1, every=5).check(least=420)


@pytest.mark.long
def test_every_answer_is_as_documented(served: Any) -> None:
    found = served.fuzz("examples", "coverage", "fuzzing", "stateful", examples=150)
    found.check(least=12_000)
    operations = {label for label, _ in found.statuses}
    went_well = {label for label, status in found.statuses if status < 400}
    assert len(went_well) > 0.8 * len(operations), sorted(operations - went_well)
