"""`/sitemap.xml` and the files that it names."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import APIRouter, HTTPException, status
from fastapi.responses import FileResponse

from examples.homepage.directory.generation import INDEX
from examples.homepage.directory.settings import from_environment

sitemaps = APIRouter(tags=["sitemaps"])

_NAME = re.compile(r"sites-[0-9a-f]{32}\.xml\.gz")


@sitemaps.get("/sitemap.xml")
def sitemap_index() -> FileResponse:
    """The index of the generation that is published."""
    return _file(INDEX, "application/xml")


@sitemaps.get("/sitemaps/{name}")
def sitemap(name: str) -> FileResponse:
    """A file of this generation, or of the one before."""
    if not _NAME.fullmatch(name):
        raise HTTPException(status.HTTP_404_NOT_FOUND, "there is no such sitemap")
    return _file(name, "application/gzip")


def _file(name: str, kind: str) -> FileResponse:
    path = Path(from_environment().sitemap_folder) / name
    if not path.is_file():
        raise HTTPException(status.HTTP_404_NOT_FOUND, "there is no such sitemap")
    return FileResponse(path, media_type=kind)
