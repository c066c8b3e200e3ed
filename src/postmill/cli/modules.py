"""MODULE on the command line: a file (`jobs.py`) or a dotted name (`shop.jobs`), from the current folder."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from postmill.cli.errors import CliError
from postmill.cli.text import one_line
from postmill.domain.errors import DefinitionError
from postmill.domain.registry import Registry
from postmill.domain.settings import Settings
from postmill.domain.suggest import suggest


def load_registry(modules: Sequence[str], settings: Settings | None = None) -> Registry:
    """The job types of these modules; what a type leaves open (retry, lane) follows the settings.

    Raises CliError (usage) for a module that does not exist, that cannot be imported (with the line that
    failed), or that holds no `@job`; DefinitionError where two types have one name, or the database could
    not hold one.
    """
    see_current_folder()
    loaded = [load_module(name) for name in modules]
    for given, module in zip(modules, loaded, strict=True):
        found = _collect(given, module)
        if not (found or found.resources):
            raise CliError(
                f"{given} defines no job type",
                "put @job (from postmill import job) above a function at its top level; see: postmill init",
            )
    found = Registry.collect(*loaded)
    for job_type in found:
        # Told here, once: a worker's processes would each fail to register the type, and be started again and again.
        job_type.definition()
    if settings is None:
        return found
    retry = settings.retry
    settled = found.with_retry(retry.policy, retry.max_attempts).with_lanes(
        lambda queue: settings.queue(queue).lane
    )
    return settled.with_fleet_limits(settings.limits_of).with_queues(settings.declared_queues)


def load_module(given: str) -> ModuleType:
    """Import one module, given as a path or a dotted name."""
    name, file = _named(given)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as fault:
        if fault.name is not None and (name == fault.name or name.startswith(f"{fault.name}.")):
            raise _not_found(given) from None
        raise CliError(
            f"{given} cannot be imported: {fault} ({_place(fault)})", "is that package installed here?"
        ) from fault
    except Exception as fault:
        raise CliError(f"{given} cannot be imported: {_said(fault)}") from fault
    found = getattr(module, "__file__", None)
    if file is not None and (found is None or not os.path.samefile(found, file)):
        raise CliError(
            f"{given} cannot be imported: another module is called {name!r} ({found or 'built in'})",
            "rename the file",
        )
    return module


def see_current_folder() -> None:
    """Put the current folder in front of `sys.path`, as `python -m` does."""
    here = str(Path.cwd())
    if not sys.path or sys.path[0] not in ("", here):
        sys.path.insert(0, here)


def _named(given: str) -> tuple[str, Path | None]:
    """The dotted name, and the file where one was given."""
    if not (given.endswith(".py") or os.sep in given):
        return given, None
    path = Path(given).absolute()
    if not path.exists():
        raise _not_found(given)
    file = path / "__init__.py" if path.is_dir() else path
    parts = [path.name.removesuffix(".py")]
    root = path.parent
    here = Path.cwd()
    if root.is_relative_to(here):
        parts = [*root.relative_to(here).parts, *parts]
        root = here
    else:
        while (root / "__init__.py").exists():
            parts.insert(0, root.name)
            root = root.parent
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
    unfit = next((part for part in parts if not part.isidentifier()), None)
    if unfit is not None:
        raise CliError(
            f"{given} cannot be imported: {unfit!r} is no Python name", "rename the file or folder"
        )
    return ".".join(parts), file


def _not_found(given: str) -> CliError:
    here = Path.cwd()
    names = python_files()
    near = suggest(given.removesuffix(".py"), [name.removesuffix(".py") for name in names])
    meant = f"; did you mean {near + '.py' if given.endswith('.py') else near!s}?" if near else ""
    if given.endswith(".py") or os.sep in given:
        said = f"expected a file or package, but there is no {Path(given).absolute()}"
    else:
        path = given.replace(".", os.sep)
        said = (
            f"no module {given!r}: there is no {path}.py or {path}{os.sep} in {here}, and none is installed"
        )
    return CliError(f"{said}{meant}", what_to_give(names))


def python_files() -> list[str]:
    """Names of the files here that may hold job types."""
    return sorted(file.name for file in Path.cwd().glob("*.py") if file.name != "setup.py")


def what_to_give(names: Sequence[str]) -> str:
    """What to name as MODULE, where these files are."""
    return f"Python files here: {', '.join(names[:8])}" if names else "postmill init writes a first jobs.py"


def _collect(given: str, module: ModuleType) -> Registry:
    try:
        return Registry.collect(module)
    except DefinitionError:
        raise
    except Exception as fault:
        raise CliError(f"a module inside {given} cannot be imported: {_said(fault)}") from fault


def _said(fault: Exception) -> str:
    """Kind, message and place of an error; Python puts the place into a SyntaxError's message, too."""
    message = fault.msg if isinstance(fault, SyntaxError) else fault
    return f"{type(fault).__name__}: {one_line(message)} ({_place(fault)})"


def _place(fault: BaseException) -> str:
    """File and line where an import failed: the innermost frame that is not the import system's."""
    if isinstance(fault, SyntaxError) and fault.filename:
        return f"{Path(fault.filename).name}, line {fault.lineno}"
    frames = [
        frame for frame in traceback.extract_tb(fault.__traceback__) if "importlib" not in frame.filename
    ]
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "unknown line"
