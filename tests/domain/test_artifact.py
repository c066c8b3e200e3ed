"""Names, media types and references of artifacts: what can be kept so, and what is refused in words."""

from __future__ import annotations

from uuid import UUID

import pytest

from postmill.domain.artifact import artifact_id, check_content_type, check_name, made_at, place_of
from postmill.domain.errors import ArtifactRefused
from postmill.domain.settings_artifacts import ArtifactSettings

HOSTILE = [
    "", ".", "..", "/", "/etc/passwd", "../x", "a/b", "a\\b", "..\\..\\x", "C:\\x", "a\0b", "a\nb", "a\rb", "\x1b[2J", "a\x7f",
    " a", "a ", "\u202egpj.exe", "\ud800", "\u200b", "x" * 256, "ž" * 128, "\u2028",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_are_refused(name: str) -> None:
    with pytest.raises(ArtifactRefused, match="cannot be an artifact's"):
        check_name(name)


@pytest.mark.parametrize("name", [None, 7, b"a", ["a"]])
def test_what_is_no_text_is_no_name(name: object) -> None:
    with pytest.raises(ArtifactRefused, match="is a text"):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["a", "...", ".hidden", "a b.csv", "žluť 写真.png", "x" * 255, "-rf", "*", '"q"', "a%2Fb", "CON"]
)
def test_all_other_names_are_fine(name: str) -> None:
    assert check_name(name) == name


def test_media_types() -> None:
    assert check_content_type(None, "a.csv") == "text/csv"
    assert check_content_type(None, "a") == "application/octet-stream"
    for fine in ("text/csv", "text/plain; charset=utf-8", 'application/x.y+json; a="b c"; d=e'):
        assert check_content_type(fine, "a") == fine
    for bad in (
        "",
        "text",
        "text/",
        "text/csv\r\nX: y",
        "text/csv;",
        "text/csv; a",
        "text/ž",
        "a/" + "b" * 200,
        'text/csv; a="\0"',
    ):
        with pytest.raises(ArtifactRefused, match="no media type"):
            check_content_type(bad, "a")


def test_references() -> None:
    id = UUID("019c6d5e-2b7a-7c11-8abc-0242ac120002")
    assert [artifact_id(given) for given in (id, str(id), f"artifact:{id}")] == [id] * 3
    assert [artifact_id(given) for given in ("", "planning.csv", "artifact:x")] == [None] * 3


def test_places_are_made_of_ids_only() -> None:
    id, tenant = UUID("019c6d5e-2b7a-7c11-8abc-0242ac120002"), UUID(int=5)
    assert place_of(id, tenant) == f"{made_at(id):%Y-%m-%d}/{tenant}/{id}"


def test_options_are_an_object_and_never_shown() -> None:
    table = ArtifactSettings.model_validate({"options": {"secret": "hunter2-hunter2"}})
    text = ArtifactSettings.model_validate({"options": '{"secret": "hunter2-hunter2"}'})
    assert table.storage_options == text.storage_options == {"secret": "hunter2-hunter2"}
    assert "hunter2" not in repr(table)
    for bad in ("[]", "x", "7"):
        with pytest.raises(ValueError, match="must be an object"):
            ArtifactSettings.model_validate({"options": bad})
    whole = ArtifactSettings.model_validate({"url": "memory://x", "max_bytes": 7} | {"options": {"a": 1}})
    assert ArtifactSettings.model_validate(whole.clear()) == whole
