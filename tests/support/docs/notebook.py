"""A page's Python: one process and one namespace for all its blocks. Runs in a child of the zygote.

Stdin is a socket. Orders come as JSON lines, `{"language", "text", "file", "line"}`, and answers go back the same way:
`{"output", "error"}`. A block may `await` at its top level.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import importlib
import inspect
import io
import json
import linecache
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any


def main() -> None:
    """Until stdin ends."""
    answers = os.fdopen(os.dup(0), "w", encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        order = json.loads(line)
        _forget(Path.cwd())
        output, error = io.StringIO(), None
        with contextlib.redirect_stdout(output):
            try:
                run = _session if order["language"] == "pycon" else _block
                run(order, namespace)
            except (Exception, SystemExit):
                error = traceback.format_exc()
        answers.write(json.dumps({"output": output.getvalue(), "error": error}) + "\n")
        answers.flush()


def check_module() -> None:
    """Import the module that sys.argv names, as a worker would."""
    importlib.import_module(sys.argv[1])


def run_script() -> None:
    """Run the file that sys.argv names, as `python FILE` would."""
    runpy.run_path(sys.argv[0], run_name="__main__")


def run_program() -> None:
    """Become the program that sys.argv names."""
    os.execvp(sys.argv[0], sys.argv)


def _block(order: dict[str, Any], namespace: dict[str, Any]) -> None:
    text = "\n" * (order["line"] - 1) + order["text"]
    linecache.cache[order["file"]] = (len(text), None, text.splitlines(keepends=True), order["file"])
    code = compile(text, order["file"], "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    answer = eval(code, namespace)
    if inspect.iscoroutine(answer):
        asyncio.run(answer)


def _session(order: dict[str, Any], namespace: dict[str, Any]) -> None:
    text = order["text"].replace("…", "...")
    test = doctest.DocTestParser().get_doctest(text, namespace, "session", order["file"], order["line"])
    test.globs = namespace
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told = io.StringIO()
    if runner.run(test, out=told.write, clear_globs=False).failed:
        raise AssertionError(told.getvalue())


def _forget(folder: Path) -> None:
    """Modules of the page's folder: a block above may have written them anew."""
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
