"""The names under which an error is known: in policies, metrics and the dead letters."""

from __future__ import annotations

from collections.abc import Iterator


def error_class_of(error: BaseException) -> str:
    """`TimeoutError` for built-in classes, `httpx.ConnectTimeout` for others."""
    return _full(type(error))


def class_names(error: BaseException | None, error_class: str | None) -> Iterator[str]:
    """Every name that fits the error, nearest first: full, then bare, then those of its base classes."""
    if error_class:
        yield error_class
        yield error_class.rpartition(".")[2]
    if error is not None:
        for cls in type(error).__mro__:
            if cls is object:
                return
            yield _full(cls)
            yield cls.__qualname__.rpartition(".")[2]


def _full(cls: type) -> str:
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"
