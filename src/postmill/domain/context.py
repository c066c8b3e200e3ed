"""The mark by which a handler's context parameter is known."""

from __future__ import annotations


class HandlerContext:
    """Base of the context that the engine gives to handlers.

    A parameter annotated with a subclass receives the context and is no argument of the job. The base lives
    here so that `@job` can type such handlers without importing the engine.
    """

    __slots__ = ()
