"""A bucket of the S3 stand-in moto, which listens on a real port, with s3fs as its client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import fsspec.asyn
import pytest

OPTIONS = {"key": "an-access-key", "secret": "its-secret-key"}


@contextmanager
def bucket(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Settings of a store in an empty bucket: `url` and `options`."""
    from moto.server import ThreadedMotoServer  # two seconds, which only such a test pays

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    options = OPTIONS | {"endpoint_url": f"http://127.0.0.1:{port}"}
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    try:
        fs = fsspec.filesystem("s3", **options)
        name = f"bucket-{uuid4().hex}"  # moto forgets no bucket while the process lasts
        fs.mkdir(name)
        yield {"url": f"s3://{name}/kept", "options": options}
    finally:
        _end(fs)
        server.stop()


def _end(fs: Any) -> None:
    """fsspec keeps its clients, their sockets and a thread for all of them."""
    fs.close_session(fs.loop, fs._s3)
    type(fs).clear_instance_cache()
    loop, thread = fsspec.asyn.loop[0], fsspec.asyn.iothread[0]
    fsspec.asyn.loop[0] = fsspec.asyn.iothread[0] = None
    if loop is not None and thread is not None:
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
