"""A real Prometheus that scrapes a test's processes, and the shipped rules in its folder."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from postmill.cli.commands.dashboards import DOCUMENTS, Kind
from tests.support.eventually import eventually
from tests.support.ports import unused_port

EVERY = "250ms"
"""Between two scrapes, and two evaluations of the rules."""


def program(name: str) -> str:
    """Where `prometheus` or `promtool` is; skips the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"not run: there is no {name}; apt-get install prometheus")
    return found


def promtool(*words: str, stdin: bytes = b"") -> tuple[int, str]:
    """Exit code and output of promtool."""
    done = subprocess.run(
        [program("promtool"), *words], input=stdin, capture_output=True, check=False, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def write_rules(folder: Path) -> None:
    """The shipped files, as `postmill dashboards --output` writes them."""
    for document in DOCUMENTS.values():
        (folder / document.file).write_text(document.text(), encoding="utf-8")


class Prometheus:
    """One that runs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str, **parameters: str) -> Any:
        """`data` of an answer of its API."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as fault:
            raise AssertionError(f"{parameters}: {fault.read().decode()}") from None

    def query(self, expr: str) -> dict[str, float]:
        """Values of an instant query that are numbers, by their labels."""
        found = self.get("query", query=expr)["result"]
        values = {_labels(one["metric"]): float(one["value"][1]) for one in found}
        return {labels: value for labels, value in values.items() if not math.isnan(value)}


@contextmanager
def prometheus(folder: Path, targets: Mapping[str, Sequence[str]]) -> Iterator[Prometheus]:
    """The shipped prometheus.yml with these targets for its jobs, and a shorter interval."""
    words = [program("prometheus")]
    write_rules(folder)
    file = folder / DOCUMENTS[Kind.SCRAPE].file
    config = yaml.safe_load(file.read_text())
    config["global"] = {"scrape_interval": EVERY, "evaluation_interval": EVERY}
    for job in config["scrape_configs"]:
        job["static_configs"] = [{"targets": list(targets[job["job_name"]])}]
    file.write_text(yaml.safe_dump(config))
    port = unused_port()
    words += [f"--config.file={file}", f"--storage.tsdb.path={folder / 'tsdb'}"]
    words += [f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(os.environ)
        )
    try:
        made = Prometheus(f"http://127.0.0.1:{port}")
        eventually(lambda: _ready(made), 30, "Prometheus ready")
        yield made
    finally:
        process.terminate()
        process.wait(30)


def _ready(made: Prometheus) -> bool:
    try:
        with urllib.request.urlopen(f"{made.url}/-/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _labels(metric: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(metric.items()) if name != "__name__")
