"""The files for Docker, Compose and systemd, each read by the program that is to read it."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import compose
import pytest
import yaml

from postmill.domain.settings_load import load
from postmill.version import VERSION
from tests.cli.commands import commands
from tests.deploy.chart import ROOT

DEPLOY = ROOT / "deploy"


def said(*argv: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["Dockerfile", "app.Dockerfile"])
def test_the_dockerfile_is_linted(name: str) -> None:
    assert said(Path(sys.executable).with_name("hadolint"), "--no-color", DEPLOY / "docker" / name) == ""


def test_the_image_is_pinned_small_and_not_root() -> None:
    stages = (DEPLOY / "docker/Dockerfile").read_text().split("\nFROM ")[1:]
    assert [re.match(r"python:3\.\d+\.\d+-slim-\w+", stage) is not None for stage in stages] == [True, True]
    final = stages[-1]
    assert "pip install" not in final
    assert "apt-get" not in final
    assert re.search(r"^USER \d+:\d+$", final, re.MULTILINE)
    assert re.search(
        r'^ENTRYPOINT \["postmill"\]$', final, re.MULTILINE
    )  # no shell that keeps signals to itself
    assert "HEALTHCHECK" in final
    extras = re.search(r"'\.\[([a-z,]+)\]'", stages[0])
    assert extras is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= set(known)
    for stage in stages:
        for words in re.findall(r"^COPY (?!--from)(.+) \S+$", stage, re.MULTILINE):
            assert all((ROOT / word).exists() for word in words.split())


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    """compose.yaml as Docker Compose itself understands it."""
    program = Path(compose.__file__).with_name("docker-compose")
    text = said(
        program, "--file", DEPLOY / "compose/compose.yaml", "config", "--format", "json",
        env={"POSTMILL_DB_PASSWORD": "a/b@c"},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(text)
    return found


def test_compose_runs_what_there_is(composed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    services = composed["services"]
    assert set(services) == {"db", "migrate", "server", "worker"}
    for name in ("migrate", "server", "worker"):
        service = services[name]
        assert (service["command"][0],) in commands()
        assert service["image"] == f"postmill:{VERSION}"
        assert Path(service["build"]["context"]) == ROOT
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        for key, value in service["environment"].items():
            monkeypatch.setenv(key, value)
        assert load(None).dsn == "postgresql://postmill@db/postmill"
    for name in ("server", "worker"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    # Neither is killed while it drains.
    assert services["worker"]["stop_grace_period"] == "45s"
    assert services["worker"]["environment"]["POSTMILL_WORKER__GRACE"] == "30s"
    [jobs] = services["worker"]["volumes"]
    compile(Path(jobs["source"]).read_text(), "jobs.py", "exec")


def test_compose_wants_a_password() -> None:
    program = Path(compose.__file__).with_name("docker-compose")
    env = {name: value for name, value in os.environ.items() if name != "POSTMILL_DB_PASSWORD"}
    argv = [program, "--file", DEPLOY / "compose/compose.yaml", "config", "--quiet"]
    done = subprocess.run(argv, capture_output=True, text=True, env=env)
    assert done.returncode != 0
    assert "write POSTMILL_DB_PASSWORD=" in done.stderr


UNITS = sorted((DEPLOY / "systemd").iterdir())


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_reads_the_units(unit: Path, tmp_path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(unit)
    service = parser["Service"]
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > 10
    assert (service["ExecStart"].split()[1],) in commands()
    if shutil.which("systemd-analyze") is None:
        return
    # As on a machine where the program is, and the network comes up.
    program = str(Path(sys.executable).resolve())  # a checkout may lie below a space, which units have quoted
    text = unit.read_text().replace("/srv/postmill/.venv/bin/postmill", program)
    copy = tmp_path / unit.name.replace("@", "@high")
    copy.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    complaints = [line for line in done.stderr.splitlines() if copy.name in line]
    assert complaints == []


def test_versions_agree() -> None:
    chart = yaml.safe_load((DEPLOY / "helm/postmill/Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    assert f"FROM postmill:{VERSION}\n" in (DEPLOY / "docker/app.Dockerfile").read_text()
