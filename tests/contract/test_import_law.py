"""The floors of the house hold, and the checker would notice if they did not."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

FLOORS = [
    "cli",
    "bench",
    "testing",
    "contrib",
    "console",
    "api",
    "http",
    "local",
    "cells",
    "operate",
    "alerts",
    "engine",
    "client",
    "bind",
    "schema",
    "connections",
    "archive",
    "artifacts",
    "store",
    "telemetry",
    "shapes",
    "domain",
]

CHECK = "import sys; from importlinter.cli import lint_imports_command as run; run(sys.argv[1:])"


def lint_imports(cwd: Path, config: Path, source: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package below `source`."""
    return subprocess.run(
        [sys.executable, "-c", CHECK, config, "--no-cache"],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )


def test_the_law_is_kept() -> None:
    done = lint_imports(ROOT, ROOT / "pyproject.toml", ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_floors_are_the_documented_ones() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [layer.strip("()") for layer in layers] == FLOORS


def test_an_import_upwards_is_refused(tmp_path: Path) -> None:
    """On a small house with the same law, in which domain reaches for the client."""
    house = tmp_path / "postmill"
    for room in ["", *FLOORS]:
        (house / room).mkdir(parents=True, exist_ok=True)
        (house / room / "__init__.py").touch()
    config = ROOT / "pyproject.toml"
    assert lint_imports(tmp_path, config, tmp_path).returncode == 0
    (house / "domain" / "job.py").write_text("import postmill.client\n")
    refused = lint_imports(tmp_path, config, tmp_path)
    assert refused.returncode != 0
    assert "postmill.domain is not allowed to import postmill.client" in refused.stdout
