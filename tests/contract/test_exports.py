"""The public names: exactly these, each found, none of them dear to import."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import postmill
from tests.support.reference import modules

NAMES = [
    *(
        "job",
        "JobType",
        "resource",
        "Registry",
        "Queue",
        "Boost",
        "Exponential",
        "Steps",
        "Constant",
        "ByErrorClass",
        "Classifier",
        "Idempotency",
        "Mode",
        "Limit",
        "Rate",
    ),
    *("schedule", "on_event"),
    *("enqueue", "aenqueue", "enqueue_many", "aenqueue_many", "publish", "apublish", "cancel", "acancel"),
    *("Workflow", "Batch", "start_workflow", "astart_workflow", "start_batch", "astart_batch"),
    *("Client", "AsyncClient", "Cells", "AsyncCells"),
    *("NewJob", "Enqueued", "JobView", "stable_hash"),
    *(
        "Context",
        "Artifact",
        "Worker",
        "Settings",
        "Retry",
        "Snooze",
        "Cancel",
        "Bury",
        "Fail",
        "BudgetDeferred",
        "BudgetExhausted",
    ),
    *("PostmillError", "EnqueueRefused"),
]

MODULES = {
    "postmill.metrics": ["counter", "gauge", "timer", "Bounded"],
    "postmill.connections": ["pool", "apool", "connect", "aconnect"],
    "postmill.retrying": ["retry_after", "delay_of"],
    "postmill.text": ["clean"],
    "postmill.typing": ["JobTypeOptions", "Decorator", "DeclaredTrigger", "Budget"],
    "postmill.settings": ["load"],
    "postmill.local": ["LocalDatabase", "LocalServerError"],
}


def test_the_list_is_the_list() -> None:
    assert postmill.__all__ == NAMES
    assert set(NAMES) <= set(dir(postmill))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_explained(name: str) -> None:
    assert getattr(postmill, name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_the_names_of_a_module(name: str) -> None:
    module = import_module(name)
    assert module.__all__ == MODULES[name]
    assert module.__doc__
    assert [one for one in MODULES[name] if not getattr(module, one).__doc__] == []
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Clint'"):
        module.Clint  # noqa: B018


def test_the_modules_are_those_of_the_reference() -> None:
    assert tuple(MODULES) == modules.MODULES


def test_star_import_gives_them_all() -> None:
    given: dict[str, object] = {}
    exec("from postmill import *", given)
    assert set(NAMES) <= set(given)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'postmill' has no attribute 'Clint'"):
        postmill.Clint  # noqa: B018
    with pytest.raises(ImportError):
        from postmill import Clint  # noqa: F401


def test_importing_the_package_loads_nothing_else() -> None:
    program = (
        "import sys, importlib, typing; old = {*sys.modules}; import postmill; print(*{*sys.modules} - old)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert set(found.stdout.split()) - {"__future__"} == {"postmill"}, found.stderr
