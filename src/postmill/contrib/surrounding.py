"""Runs handlers inside what their framework needs: an application's context, connections that are looked after."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

from postmill.domain.registry import Registry


def surrounded(
    registry: Registry,
    around: Callable[[], AbstractContextManager[object]],
    around_async: Callable[[], AbstractAsyncContextManager[object]] | None = None,
) -> Registry:
    """The same job types; each call of a handler is inside `around()`, or inside `around_async()` if it is a coroutine.

    Without `around_async` coroutines, too, are inside `around()`.
    """

    def wrap(fn: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.iscoroutinefunction(fn):

            @functools.wraps(fn)
            def call(*args: Any, **kwargs: Any) -> Any:
                with around():
                    return fn(*args, **kwargs)

            return call

        @functools.wraps(fn)
        async def acall(*args: Any, **kwargs: Any) -> Any:
            if around_async is None:
                with around():
                    return await fn(*args, **kwargs)
            async with around_async():
                return await fn(*args, **kwargs)

        return acall

    return registry.with_calls(wrap)
