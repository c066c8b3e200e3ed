"""`/api/yellow-books`: what everybody may do."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Request, Response, status
from psycopg import AsyncConnection

from examples.yellowbook import entries
from examples.yellowbook.search import Mode, search
from examples.yellowbook.shapes import Entry, EntryChanges, NewEntry, Results
from examples.yellowbook.statements import row

books = APIRouter(prefix="/api/yellow-books", tags=["yellow books"])
PATH = "/{business}"


@books.post("", status_code=status.HTTP_201_CREATED)
async def create(request: Request, response: Response, entry: NewEntry) -> Entry:
    """List a business. Its embedding is made in the background, if it has a description."""
    async with request.app.state.pool.connection() as conn:
        saved = await entries.create(conn, entry.model_dump())
        response.headers["Location"] = f"{request.url.path}/{saved.id}"
        return await read(conn, saved.id)


@books.get("/search")
async def find(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=400)],
    mode: Mode = "semantic",
    limit: Annotated[int, Query(ge=1, le=40)] = 10,
) -> Results:
    """Search by meaning, or by the words; by the words, too, while the API does not answer."""
    state = request.app.state
    found = await search(state.pool, state.gemini, q, mode=mode, most=limit)
    return Results.model_validate(found, from_attributes=True)


@books.get(PATH)
async def show(request: Request, business: UUID) -> Entry:
    """One business, and how its embedding stands."""
    async with request.app.state.pool.connection() as conn:
        return await read(conn, business)


@books.patch(PATH)
async def change(request: Request, business: UUID, changes: EntryChanges) -> Entry:
    """Change what is given. A description that is given is embedded anew, if that makes another text."""
    async with request.app.state.pool.connection() as conn:
        if await entries.change(conn, business, changes.model_dump(exclude_unset=True)) is None:
            raise _unknown(business)
        return await read(conn, business)


@books.delete(PATH, status_code=status.HTTP_204_NO_CONTENT)
async def remove(request: Request, business: UUID) -> None:
    """Take a business out of the book."""
    async with request.app.state.pool.connection() as conn:
        if not await entries.delete(conn, business):
            raise _unknown(business)


async def read(conn: AsyncConnection[Any], business: UUID) -> Entry:
    """The entry as the API answers it. Raises 404."""
    found = await row(conn, "read_entry", id=business)
    if found is None:
        raise _unknown(business)
    return Entry.model_validate(found)


def _unknown(business: UUID) -> HTTPException:
    return HTTPException(status.HTTP_404_NOT_FOUND, f"there is no business {business}")
