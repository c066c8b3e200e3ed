"""What a demo tells people to type next works where they are."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from examples.staging.programs import program, up


@pytest.fixture
def environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folders of two environments whose pythons are links to one file; this process is of the first."""
    folders = tmp_path / "my checkout/.venv/bin", tmp_path / "other/bin"
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "python").symlink_to(Path(sys.executable).resolve())
        (folder / "postmill").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folders[0] / "python"))
    monkeypatch.chdir(tmp_path)
    return folders


def test_by_its_name_where_its_environment_is_active(
    environments: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(environments[0]))
    assert (program("python"), program("postmill")) == ("python", "postmill")


@pytest.mark.parametrize("name", ["python", "postmill"])
def test_by_its_path_where_another_environment_is_active(
    environments: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(environments[1]))
    assert shlex.split(program(name)) == [f"my checkout/.venv/bin/{name}"]
    monkeypatch.chdir(environments[1])
    assert shlex.split(program(name)) == [str(environments[0] / name)], "quoted for a shell"


def test_the_data_and_the_settings_of_an_example(environments: tuple[Path, Path]) -> None:
    data = environments[0] / "data"
    words = shlex.split(up("planner", data))
    assert words[1:] == [
        "up", "examples.planner.jobs", "--config", "examples/planner/postmill.toml", "--data", str(data),
    ]  # fmt: skip


@pytest.mark.parametrize("example", ["enrichment", "planner", "yellowbook"])
def test_the_settings_are_there(example: str) -> None:
    assert (Path(__file__).parents[2] / example / "postmill.toml").is_file()
