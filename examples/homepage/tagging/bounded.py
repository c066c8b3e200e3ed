"""The way to the model's service, with an end: what its client reads, it reads into memory, however much that is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

MOST_BYTES = 1024 * 1024
"""Of an answer. Tags are some hundred."""


async def bounded(response: httpx2.Response) -> None:
    """A hook of the client's: an answer of more bytes breaks off, and so does a packed one, which nobody asked for and which
    hides its size. Raises what the client takes for a broken connection."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx2.RemoteProtocolError("a packed answer, which was not asked for")
    response.stream = _Counted(response.stream)


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async for chunk in self._stream:
            came += len(chunk)
            if came > MOST_BYTES:
                raise httpx2.RemoteProtocolError(f"more than {MOST_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        """Close what is counted."""
        await self._stream.aclose()
