"""What is a proper migration file, and that ours are."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmill.domain.errors import SettingsError
from postmill.schema.migration import MigrationFaulty, known_migrations, latest, read_migrations


def put(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name.lstrip('_')}.sql").write_text(text)
    return folder


def test_those_of_the_package_are_numbered_from_one() -> None:
    known = known_migrations()
    assert [migration.version for migration in known] == list(range(1, len(known) + 1))
    assert latest(known) == len(known) > 0


def test_name_mark_and_checksum_are_read(tmp_path: Path) -> None:
    first, second = read_migrations(
        put(
            tmp_path,
            _0002_more_words="-- postmill: breaking\nb",
            _0001_word="-- postmill: safe\na {schema}.x",
        )
    )
    assert (first.version, first.name, first.breaking) == (1, "word", False)
    assert (second.version, second.name, second.breaking) == (2, "more_words", True)
    assert first.checksum != second.checksum
    assert first.sql("mill").endswith("a mill.x")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"_0001_a": "create table"}, "first line of 0001_a.sql"),
        ({"_0001_a": "-- postmill: harmless\n"}, "first line"),
        ({"_0001_a": " -- postmill: safe\n"}, "first line"),
        ({"_1_a": "-- postmill: safe\n"}, "1_a.sql is not named"),
        ({"_0001_A": "-- postmill: safe\n"}, "not named"),
        ({"_0001_a": "-- postmill: safe\n", "_0003_c": "-- postmill: safe\n"}, "migration 0002 is missing"),
        (
            {"_0001_a": "-- postmill: safe\n", "_0001_b": "-- postmill: safe\n"},
            "0002 is missing or there twice",
        ),
        ({"_0002_a": "-- postmill: safe\n"}, "migration 0001 is missing"),
    ],
)
def test_a_faulty_file_is_named(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(MigrationFaulty, match=words):
        read_migrations(put(tmp_path, **files))


@pytest.mark.parametrize("schema", ["", "Upper", "a b", 'a"; drop schema public', "1st", "x" * 49])
def test_a_schema_name_that_would_need_quotes_is_refused(tmp_path: Path, schema: str) -> None:
    (migration,) = read_migrations(put(tmp_path, _0001_a="-- postmill: safe\n{schema}"))
    with pytest.raises(SettingsError, match="not allowed"):
        migration.sql(schema)
