"""Loads the modules that the worker was started with."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from postmill.domain.errors import DefinitionError
from postmill.domain.registry import Registry


def load(modules: Sequence[str]) -> Registry:
    """Their job types and resources. Raises what the import raises, or DefinitionError."""
    return Registry.collect(*(_module(given) for given in modules))


def _module(given: str) -> str | ModuleType:
    if not (given.endswith(".py") or os.sep in given):
        return given  # the registry imports it
    path = Path(given).absolute()
    path = path / "__init__.py" if path.is_dir() else path
    name = _dotted(path)
    if name is not None:
        return importlib.import_module(name)
    # Outside of sys.path: a script that was run by its path. It is not `__main__` here, so it starts nothing.
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise DefinitionError(f"there is no Python file {given!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _dotted(path: Path) -> str | None:
    """The name under which the worker has imported this file, if it lies below a folder of `sys.path`."""
    parts = path.parent.parts if path.name == "__init__.py" else (*path.parent.parts, path.stem)
    for entry in sys.path:
        root = Path(entry or ".").absolute()
        if not path.is_relative_to(root):
            continue
        below = parts[len(root.parts) :]
        name = ".".join(below)
        if below and all(part.isidentifier() for part in below) and _finds(name, path):
            return name
    return None


def _finds(name: str, path: Path) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).absolute() == path
