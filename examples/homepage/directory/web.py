"""`/good-sites`: the directory, for everybody."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, Response, status
from psycopg import AsyncConnection
from pydantic import HttpUrl

from examples.homepage.admin.jobs import handlers
from examples.homepage.directory.rank import EPOCH, score
from examples.homepage.directory.settings import from_environment
from examples.homepage.directory.shapes import NewSite, Site, Submitted, Vote, Voted
from examples.homepage.job_types import JobType
from examples.homepage.previews.chain import preview
from examples.homepage.previews.settings import preview_settings
from examples.homepage.statements import Row, row, rows
from postmill import aenqueue, astart_workflow

good_sites = APIRouter(prefix="/good-sites", tags=["good sites"])

MOST_LISTED = 100


@good_sites.post("", status_code=status.HTTP_201_CREATED)
async def submit(request: Request, new: NewSite, response: Response) -> Submitted:
    """List a site; its picture is taken in the background. One that is listed already is answered as it is, with 200."""
    async with request.app.state.pool.connection() as conn, conn.transaction():
        site = await row(conn, "submit_site", **_values(new))
        # None: somebody else submits the same at this moment, and has not committed when this statement began.
        site = site or await row(conn, "submit_site", **_values(new))
        if site is None:
            raise HTTPException(status.HTTP_409_CONFLICT, "try again")
        if not site["made"]:
            response.status_code = status.HTTP_200_OK
            return Submitted(id=site["id"])
        return Submitted(id=site["id"], **await _picture(conn, site["id"]))


@good_sites.get("")
async def listed(request: Request) -> list[Site]:
    """The best sites that are alive."""
    async with request.app.state.pool.connection() as conn:
        return [_site(one) for one in await rows(conn, "list_sites", id=None, most=MOST_LISTED)]


@good_sites.get("/{site}")
async def one(request: Request, site: UUID) -> Site:
    """A site, and how it stands."""
    async with request.app.state.pool.connection() as conn:
        found = await row(conn, "list_sites", id=site, most=1)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"there is no site {site}")
    return _site(found)


@good_sites.post("/{site}/votes")
async def vote(request: Request, site: UUID, by: Vote) -> Voted:
    """Vote for a site, once for each visitor."""
    async with request.app.state.pool.connection() as conn:
        made = await row(conn, "vote_for_site", site_id=site, visitor=by.visitor)
    if made is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"there is no site {site}")
    return Voted(counted=made["counted"])


async def _picture(conn: AsyncConnection[Any], site: UUID) -> dict[str, UUID]:
    """In the transaction that lists the site: both are there, or none. With a CDN its picture goes there by a chain of jobs."""
    if JobType.SCREENSHOT_CAPTURE not in handlers().names:
        return {}
    capture = handlers()[JobType.SCREENSHOT_CAPTURE].new(site_id=site)
    if preview_settings().storage_url is None:
        return {"job_id": (await aenqueue(conn, capture)).id}
    return {"workflow_id": (await astart_workflow(conn, preview(site, capture))).id}


def _values(new: NewSite) -> Row:
    half_life = from_environment().decay.total_seconds()
    return {
        "url": str(new.url),
        "host": host_of(new.url),
        "title": new.title,
        "epoch": EPOCH,
        "half_life": half_life,
    }


def host_of(url: HttpUrl) -> str:
    """Host, and the port where it is not the scheme's own."""
    usual = {"http": 80, "https": 443}[url.scheme]
    return f"{url.host}" if url.port in (None, usual) else f"{url.host}:{url.port}"


def _site(found: Row) -> Site:
    shown: dict[str, Any] = {name: found[name] for name in Site.model_fields if name in found}
    return Site(**shown, score=score(found["rank"], found["moment"], from_environment().decay))
