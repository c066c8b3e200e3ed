"""`/listings`: inquiries, pictures and renewals, for the portal's own server, which knows its members and says who asks."""

from __future__ import annotations

import re
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Request, status

from examples.homepage.admin.access import administrator
from examples.homepage.images.settings import image_settings
from examples.homepage.images.upload import upload
from examples.homepage.marketplace.inquiries import InquiryRefused, NotForSale, TooMany, inquire
from examples.homepage.marketplace.renewal import TERM, renew
from examples.homepage.marketplace.shapes import Asked, NewInquiry, NewTerm, Renewed, Uploaded
from examples.homepage.statements import row

listings = APIRouter(prefix="/listings", tags=["marketplace"], dependencies=[Depends(administrator)])

UPLOADS = re.compile(r"/listings/[^/]+/images")
"""Paths whose bodies have a bound of their own."""
MOST_IMAGES = 20
"""Of a listing; those that were refused do not count."""

_STRANGE = "this member sells no such listing"


@listings.post("/{listing}/inquiries", status_code=status.HTTP_202_ACCEPTED)
async def ask(request: Request, listing: UUID, new: NewInquiry) -> Asked:
    """Pass a question on to the seller, who sees a mask in place of the member's address."""
    try:
        async with request.app.state.pool.connection() as conn, conn.transaction():
            made = await inquire(
                conn, listing_id=listing, buyer_id=new.member_id, subject=new.subject, text=new.text
            )
    except NotForSale as fault:
        raise HTTPException(status.HTTP_409_CONFLICT, str(fault)) from None
    except TooMany as fault:
        raise HTTPException(status.HTTP_429_TOO_MANY_REQUESTS, str(fault), {"Retry-After": "3600"}) from None
    except InquiryRefused as fault:
        raise HTTPException(status.HTTP_422_UNPROCESSABLE_CONTENT, str(fault)) from None
    return Asked(message_id=made)


@listings.post("/{listing}/images", status_code=status.HTTP_202_ACCEPTED)
async def picture(request: Request, listing: UUID, member: UUID) -> Uploaded:
    """Take a picture of one's own listing in: the body is the file. One that is none is refused by its job, which tells why."""
    settings = image_settings()
    data = await _body(request, settings.most_bytes)
    async with request.app.state.pool.connection() as conn, conn.transaction():
        found = await row(conn, "listing_for_images", id=listing, seller_id=member)
        if found is None:
            raise HTTPException(status.HTTP_404_NOT_FOUND, _STRANGE)
        if found["status"] != "active":
            raise HTTPException(status.HTTP_409_CONFLICT, f"the listing is {found['status']}")
        there = await row(conn, "count_images", id=listing)
        if there is None or there["images"] >= MOST_IMAGES:
            raise HTTPException(status.HTTP_409_CONFLICT, f"a listing has at most {MOST_IMAGES} pictures")
        return Uploaded(image_id=await upload(conn, listing, data, settings))


@listings.post("/{listing}/renewals")
async def more_time(request: Request, listing: UUID, new: NewTerm) -> Renewed:
    """Give one's own listing another term, also if it has expired; not before its last term has begun."""
    async with request.app.state.pool.connection() as conn:
        found = await renew(conn, listing, new.member_id)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, _STRANGE)
    if not found["renewed"]:
        over = found["status"] not in ("active", "expired")
        why = f"the listing is {found['status']}" if over else f"it has more than {TERM} days left"
        raise HTTPException(status.HTTP_409_CONFLICT, why)
    return Renewed(term=found["term"], expires_at=found["expires_at"])


async def _body(request: Request, most: int) -> bytes:
    """All of it, before anything is locked for it. Raises 413, as soon as it is too much, and 422."""
    too_large = HTTPException(status.HTTP_413_CONTENT_TOO_LARGE, f"a picture has at most {most} bytes")
    told = request.headers.get("Content-Length", "")
    if told.isdecimal() and int(told) > most:
        raise too_large
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > most:
            raise too_large
    if not data:
        raise HTTPException(
            status.HTTP_422_UNPROCESSABLE_CONTENT, "the body is the picture, and there is none"
        )
    return bytes(data)
