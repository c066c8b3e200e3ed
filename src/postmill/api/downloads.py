"""An artifact as an answer: streamed, and cut off where it is not what was put."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from postmill.api.digests import digest_of
from postmill.artifacts.reading import AwaitedReading, Reading
from postmill.artifacts.storage import Storage
from postmill.artifacts.threads import in_thread
from postmill.domain.artifact import Artifact


async def download(request: Request, storage: Storage, artifact: Artifact) -> Response:
    """The bytes, or 304 where the client has them already.

    Its last chunk is sent when the checksum of the whole is right; else the connection breaks before the promised length.
    """
    headers = {
        "Content-Type": artifact.content_type,
        # Whatever a job made, no browser shows or runs it on our own pages.
        "Content-Disposition": disposition(artifact.name),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "ETag": f'"{artifact.sha256}"',
        "Cache-Control": "private, no-cache",
        "Accept-Ranges": "none",
    }
    if _known(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers={name: headers[name] for name in ("ETag", "Cache-Control")})
    reading = AwaitedReading(await in_thread(lambda: Reading(storage.opened(), artifact)))
    try:
        first = await reading.chunk()
    except BaseException:
        await reading.close()
        raise
    headers |= {"Content-Length": str(artifact.size), "Content-Digest": digest_of(artifact.sha256)}
    return StreamingResponse(_rest(first, reading), headers=headers)


async def _rest(first: bytes, reading: AwaitedReading) -> AsyncIterator[bytes]:
    try:
        yield first
        async for chunk in reading:
            yield chunk
    finally:
        await reading.close()


def disposition(name: str) -> str:
    """`Content-Disposition` for a file of this name (RFC 6266, with RFC 8187 for what is not ASCII)."""
    plain = "".join(char if char.isascii() and char not in '"\\%' else "_" for char in name)
    said = f'attachment; filename="{plain}"'
    return said if plain == name else f"{said}; filename*=UTF-8''{quote(name, safe='')}"


def _known(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names the tag; weakly compared (RFC 9110, section 13.1.2)."""
    if header is None:
        return False
    return header.strip() == "*" or etag in [one.strip().removeprefix("W/") for one in header.split(",")]
