"""What a worker says to a schema that does not fit."""

from __future__ import annotations

import pytest

from postmill.domain.errors import PostmillError, SchemaMissing, SchemaTooNew, SchemaTooOld
from postmill.schema.migration import Migration
from postmill.schema.status import MigrationChanged, compare

KNOWN = [Migration(n, f"m{n}", False, str(n), "") for n in (1, 2, 3)]
ROWS = [(n, f"m{n}", False, str(n)) for n in (1, 2, 3)]


def test_the_same_is_fine() -> None:
    status = compare("postmill", ROWS, KNOWN)
    status.require()
    assert (status.version, status.pending, status.changed, status.unknown) == (3, (), (), ())


def test_newer_and_safe_is_fine() -> None:
    status = compare("postmill", [*ROWS, (4, "m4", False, "4")], KNOWN)
    status.require()
    assert [row.name for row in status.unknown] == ["m4"]


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (None, SchemaMissing, "no schema 'postmill' yet; run: postmill migrate"),
        ([], SchemaMissing, "no schema 'postmill' yet"),
        (ROWS[:2], SchemaTooOld, "at version 2, this Postmill needs 3; run: postmill migrate"),
        ([*ROWS, (4, "m4", True, "4")], SchemaTooNew, "does not know its breaking change 0004_m4: upgrade"),
        ([*ROWS[:2], (3, "m3", False, "other")], MigrationChanged, "0003_m3"),
    ],
)
def test_the_rest_is_refused_in_words_that_help(
    rows: list[tuple[int, str, bool, str]] | None, error: type[PostmillError], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare("postmill", rows, KNOWN).require()
