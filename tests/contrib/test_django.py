"""Django 5.2 with the backport of `django.tasks`, or Django 6: a real project, its requests, commands and worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.databases import Database
from tests.support.spawner import ROOT

SHOP = Path(__file__).parent / "projects/shop"


@pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["", "with processes of single jobs"]
)
def test_a_project(empty_database: Database, tmp_path: Path, whole: bool) -> None:
    folder = tmp_path / "a shop"
    subprocess.run(["cp", "-r", SHOP, folder], check=True)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            folder,
            "facts.py",
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "SHOP_DATABASE": empty_database.dsn,
            "SHOP_WHOLE": "1" if whole else "",
            "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
