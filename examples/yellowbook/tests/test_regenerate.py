"""The batch command: which businesses it takes, in how few calls, and what becomes of one that the service refuses."""

from __future__ import annotations

import asyncio

import pytest

from examples.yellowbook.regenerate import main
from examples.yellowbook.tests.book import Book


async def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says."""
    assert await asyncio.to_thread(main, arguments) == 0
    return capsys.readouterr().out.splitlines()[-1]


async def calls(book: Book) -> int:
    """How many the service has answered well."""
    return book.service.answers[200]


async def test_missing_stale_and_all(book: Book, capsys: pytest.CaptureFixture[str]) -> None:
    silent = [await book.add(name=f"Silent bakery {number}", description=None) for number in range(3)]
    told = await book.add()
    await book.run()
    assert await calls(book) == 1
    assert await ask(capsys, "--missing") == "3 businesses will be embedded anew"
    await book.run()
    rows = [await book.entry(entry) for entry in silent]
    assert all(row["embedded_hash"] == row["wanted_hash"] for row in rows)
    assert await calls(book) == 2, "one call for all of them"
    assert (await book.entry(told))["embedded_at"] < min(row["embedded_at"] for row in rows)
    assert await ask(capsys, "--missing") == "0 businesses will be embedded anew"

    await book.change(told, name="Crumb & Ember")
    assert await ask(capsys, "--stale") == "1 business will be embedded anew"
    await book.run()
    shown = (await book.http.get(f"/api/yellow-books/{told['id']}")).json()
    assert shown["embedding"] == "ready"
    assert any(text.startswith("Crumb & Ember") for text in book.service.embedded)

    # One is too long for the service: the others do not suffer, and it is the only dead letter.
    await book.conn.execute(
        "update yellow_book_entry set description = repeat('x', 9000) where id = %s", [silent[0]["id"]]
    )
    assert await ask(capsys, "--all") == "4 businesses will be embedded anew"
    await book.run()
    letters = (await book.admin("GET", "/api/admin/dlq")).json()
    assert [(one["payload"]["businessId"], one["error"]["status"]) for one in letters] == [
        (silent[0]["id"], 400)
    ]
    states = [(await book.http.get(f"/api/yellow-books/{one['id']}")).json() for one in (*silent[1:], told)]
    assert {one["embedding"] for one in states} == {"ready"}
    refused = (await book.http.get(f"/api/yellow-books/{silent[0]['id']}")).json()
    assert refused["embedding"] == "failed"
    assert await ask(capsys, told["id"], silent[1]["id"]) == "2 businesses will be embedded anew"
    await book.run()
    with pytest.raises(SystemExit):
        main(["--all", told["id"]])
