"""The batch command: `python -m examples.yellowbook.regenerate --missing`, `--stale`, `--all`, or the ids of businesses."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from rich.progress import Progress

from examples.yellowbook import entries
from examples.yellowbook.gemini.client import MOST_IN_A_BATCH
from examples.yellowbook.settings import SettingsMissing, from_environment
from examples.yellowbook.statements import rows


async def regenerate(conn: AsyncConnection[Any], which: str, ids: Sequence[UUID] = ()) -> AsyncIterator[int]:
    """Ask for the embeddings of these businesses; gives the number of each batch.

    Args:
        which: missing, stale, all; `ids` where these are named.
    """
    if which == "ids":
        for at in range(0, len(ids), MOST_IN_A_BATCH):
            batch = ids[at : at + MOST_IN_A_BATCH]
            await entries.regenerate_many(conn, batch)
            yield len(batch)
        return
    after: UUID | None = None
    while True:
        page = await rows(conn, "entries_to_regenerate", which=which, after=after, most=MOST_IN_A_BATCH)
        if not page:
            return
        after = page[-1]["id"]
        await entries.regenerate_many(conn, [entry["id"] for entry in page])
        yield len(page)


async def _run(options: argparse.Namespace) -> int:
    url = from_environment().database_url.get_secret_value()
    which = "ids" if options.ids else options.which
    asked = 0
    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        total = await rows(conn, "count_to_regenerate", which=which, ids=list(options.ids))
        with Progress(transient=True, disable=not sys.stderr.isatty()) as progress:
            task = progress.add_task("asking", total=total[0]["count"])
            async for count in regenerate(conn, which, options.ids):
                asked += count
                progress.advance(task, count)
    print(f"{asked} business{'' if asked == 1 else 'es'} will be embedded anew")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and say of how many; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.yellowbook.regenerate")
    parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="businesses")
    chosen = parser.add_mutually_exclusive_group()
    for which, what in (
        ("missing", "those without an embedding"),
        ("stale", "those whose embedding is not of their present text"),
        ("all", "all of them, after another model, say"),
    ):
        chosen.add_argument(f"--{which}", dest="which", action="store_const", const=which, help=what)
    options = parser.parse_args(arguments)
    if bool(options.ids) == bool(options.which):
        parser.error("say which: --missing, --stale, --all, or ids")
    try:
        return asyncio.run(_run(options))
    except SettingsMissing as fault:
        parser.error(str(fault))


if __name__ == "__main__":
    sys.exit(main())
