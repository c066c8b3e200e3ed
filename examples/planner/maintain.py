"""Tonight's housekeeping of every organization: `python -m examples.planner.maintain --at 2026-11-30T03:00:00Z`, once a day."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from psycopg import AsyncConnection

from examples.planner.caller import Caller
from examples.planner.jobs.maintenance import expired_keys, rebuild_search
from examples.planner.settings import from_environment
from examples.planner.statements import row, rows
from examples.planner.submit import submit

ACTOR = "nightly maintenance"


async def enqueue(dsn: str, at: datetime) -> int:
    """Two jobs for each organization, at this instant; those that a day has already are not made again. Returns the new ones."""
    made = 0
    run = f"maintenance-{uuid4()}"
    async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
        for org in await rows(conn, "organizations"):
            caller = Caller(org["org_id"], "system", ACTOR, run, run)
            async with conn.transaction():
                await row(conn, "scope", org=str(org["org_id"]))
                for kind in (expired_keys, rebuild_search):
                    job = kind.new(night=at.astimezone(UTC).date())
                    made += (await submit(conn, caller, job, scheduled_for=at)).created
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Says how many jobs it has made."""
    parser = argparse.ArgumentParser(prog="python -m examples.planner.maintain")
    parser.add_argument("--at", type=datetime.fromisoformat, required=True, help="RFC 3339, with a zone")
    options = parser.parse_args(words)
    if options.at.utcoffset() is None:
        parser.error("--at: needs a zone, as in 2026-11-30T03:00:00Z")
    made = asyncio.run(enqueue(from_environment().database_url.get_secret_value(), options.at))
    print(f"{made} jobs are due at {options.at.isoformat()}")
    return 0


if __name__ == "__main__":
    main()
