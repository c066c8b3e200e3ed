"""A synchronous program need not have greenlet, without which SQLAlchemy's asyncio package cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.databases import Database

PROGRAM = """
import sys
sys.modules["greenlet"] = None
import psycopg
from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from postmill import enqueue, job

@job
def send() -> None: ...

engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(sys.argv[1]))
with Session(engine) as session, session.begin():
    print(enqueue(session, send.new()).created)
with engine.begin() as conn:
    print(enqueue(conn, send.new()).created)
"""


def test_a_session_and_a_connection_enqueue(database: Database) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, database.dsn],
        check=False, env=os.environ, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True\nTrue\n"), done.stderr
