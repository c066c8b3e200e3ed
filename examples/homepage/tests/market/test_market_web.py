"""`/listings`: what members ask, show and renew, what is refused with which words, and who may say who they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from pydantic import SecretStr

from examples.homepage.marketplace import inquiries, web
from examples.homepage.settings import from_environment
from examples.homepage.tests.market import pictures
from examples.homepage.tests.market.market import Market, written
from examples.homepage.tests.site import serving
from tests.support.workers import until


async def asked(
    market: Market, path: str, status: int, *, listing: UUID | None = None, **request: Any
) -> Any:
    """What a request below a listing is answered."""
    url = f"/listings/{listing or market.listing}/{path}"
    answer = await market.site.http.post(url, **request)
    assert answer.status_code == status, answer.text
    return answer.json() if status < 300 else answer.json()["detail"]


def question(member: UUID, **fields: str) -> dict[str, Any]:
    """The body of an inquiry."""
    return {"json": {"member_id": str(member), "subject": "Your bicycle", "text": "Is it there?"} | fields}


async def test_a_question_reaches_the_seller(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await asked(market, "inquiries", 202, **question(market.buyer))
    assert (await market.message(UUID(made["message_id"])))["kind"] == "inquiry"
    await market.work()
    [mail] = market.smtp.messages
    assert (mail["To"], mail["Subject"], written(mail)) == (
        "sam@seller.example",
        "Your bicycle",
        "Is it there?",
    )
    for fields in ({"text": ""}, {"text": " "}, {"text": "x" * 100_001}, {"text": "\N{EURO SIGN}" * 50_000},
                   {"text": "a\0"}, {"subject": "a\nb"}, {"subject": "x" * 201}, {"subject": " "}, {"copy_to": "x"}):  # fmt: skip
        await asked(market, "inquiries", 422, **question(market.buyer, **fields))
    not_for_sale = "this listing is not for sale to this member"
    for member, listing in ((market.seller, None), (uuid4(), None), (market.buyer, uuid4())):
        assert await asked(market, "inquiries", 409, listing=listing, **question(member)) == not_for_sale
    monkeypatch.setattr(inquiries, "MOST_IN_AN_HOUR", 2)
    await asked(market, "inquiries", 202, **question(market.buyer))
    await asked(market, "inquiries", 429, **question(market.buyer))
    assert len(await market.site.rows("select id from mail_messages")) == 2


async def test_a_picture_is_made_into_sizes(
    market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Larger than bodies of other requests may be; at most so many, in all; of one's own, while it is for sale."""
    monkeypatch.setenv("IMAGE_MAX_BYTES", str(3 * 1024 * 1024))
    monkeypatch.setattr(web, "MOST_IMAGES", 2)
    own: dict[str, Any] = {"params": {"member": str(market.seller)}}
    padded = pictures.camera() + b"\0" * 2 * 1024 * 1024
    made = await asked(market, "images", 202, content=padded, **own)
    await market.work()
    image = await market.site.row("select status, bytes from listing_images where id = %s", made["image_id"])
    assert image == {"status": "ready", "bytes": len(padded)}
    kept = sorted((tmp_path / "images").rglob("*"))

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1024 * 1024

    assert (
        await asked(market, "images", 413, content=endless(), **own) == "a picture has at most 3145728 bytes"
    )
    await asked(market, "images", 413, content=b"x" * (4 * 1024 * 1024), **own)
    await asked(market, "images", 422, content=b"", **own)
    await asked(market, "images", 422, content=padded)
    stranger: dict[str, Any] = {"params": {"member": str(market.buyer)}}
    assert await asked(market, "images", 404, content=b"x", **stranger) == "this member sells no such listing"
    assert sorted((tmp_path / "images").rglob("*")) == kept, "nothing is kept of what is refused"
    await asked(market, "images", 202, content=b"no picture", **own)
    assert "at most 2 pictures" in await asked(market, "images", 409, content=b"x", **own)
    await market.work()
    await asked(market, "images", 202, content=b"x", **own)
    await market.site.conn.execute(b"update marketplace_listings set status = 'sold'")
    assert await asked(market, "images", 409, content=b"x", **own) == "the listing is sold"


async def test_pictures_that_come_together_are_counted(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for one another, and the second sees the first."""
    monkeypatch.setattr(web, "MOST_IMAGES", 1)
    where, own = f"/listings/{market.listing}/images", {"member": str(market.seller)}

    async def both_wait() -> bool:
        found = await market.site.row("select count(*) as n from pg_locks where not granted")
        return bool(found["n"] >= 2)

    async with market.site.conn.transaction():
        await market.site.conn.execute("select from marketplace_listings for update")
        both = [asyncio.create_task(market.site.http.post(where, params=own, content=b"x")) for _ in range(2)]
        await until(both_wait)
    assert sorted([(await one).status_code for one in both]) == [202, 409]
    await market.work()


async def test_more_time_for_a_listing(market: Market) -> None:
    """In the last of its terms, or when it is over; no term is given twice by two clicks."""
    own: dict[str, Any] = {"json": {"member_id": str(market.seller)}}
    renewed = await asked(market, "renewals", 200, **own)
    assert renewed["term"] == 2
    assert await asked(market, "renewals", 409, **own) == "it has more than 30 days left"
    query = "update marketplace_listings set status = %s, expires_at = postmill.now() - interval '1 day'"
    await market.site.conn.execute(query.encode(), ["expired"])
    assert (await asked(market, "renewals", 200, **own))["term"] == 3
    row = await market.site.row(
        "select status, expires_at - postmill.now() as left from marketplace_listings"
    )
    assert (row["status"], round(row["left"].total_seconds() / 86400)) == ("active", 30)
    await market.site.conn.execute(query.encode(), ["removed"])
    assert await asked(market, "renewals", 409, **own) == "the listing is removed"
    await asked(market, "renewals", 404, json={"member_id": str(market.buyer)})
    await asked(market, "renewals", 422, json={"member_id": "me"})


async def test_only_the_portals_server_says_who_asks(market: Market) -> None:
    """It has the token: whoever else named a member could be anybody."""
    closed = from_environment().model_copy(
        update={"admin_token": SecretStr("s3cret"), "database_url": SecretStr(market.site.dsn)}
    )
    async with serving(closed) as http:
        for path in ("inquiries", "images", "renewals"):
            answer: httpx.Response = await http.post(f"/listings/{market.listing}/{path}", content=b"x" * 10)
            assert answer.status_code == 401, path
        token = {"Authorization": "Bearer s3cret"}
        body = {"member_id": str(market.seller)}
        assert (await http.post(f"/listings/{market.listing}/renewals", json=body, headers=token)).is_success
