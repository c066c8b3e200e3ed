"""`postmill encryption new-key | rotate`: the keys of encrypted payloads."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from postmill.bind import drive
from postmill.cli.errors import CliError
from postmill.cli.progress import overseen, tallying
from postmill.cli.run import Run
from postmill.cli.text import one_line
from postmill.domain.encryption import is_key_name
from postmill.domain.encryption import new_key as make_key
from postmill.operate.encryption import rotate as rotate_payloads


def new_key(
    run: Run, name: Annotated[str, typer.Argument(metavar="NAME", help="How it will be called.")]
) -> None:
    """Make a key for the setting encryption.keys, and print it. Nothing is stored; put it first in the list."""
    if not is_key_name(name):
        raise CliError(
            f"expected a name of 1 to 64 letters, digits, _ . and -, got {one_line(name, 80)!r}",
            "as in: postmill encryption new-key 2031-05",
        )
    entry = f"{name}:{make_key()}"
    if run.out.as_json:
        run.out.document({"name": name, "entry": entry})
    run.out.copyable(entry)


def rotate(run: Run) -> None:
    """Put every encrypted payload under the first key of encryption.keys. It may be broken off and run again.

    Afterwards the other keys may be taken out of the setting, unless it says that some payloads were not opened.
    """
    ring = run.settings.encryption.ring
    if ring is None:
        raise CliError(
            "there are no keys", "make one: postmill encryption new-key NAME; then set encryption.keys"
        )
    with run.connect() as conn, tallying(run.out, "looked at") as looked_at:
        flow = overseen(rotate_payloads(ring, schema=run.schema), lambda part: looked_at(_looked_at(part)))
        done = drive(conn, flow)
    run.out.show(
        {"key": ring.current, "resealed": done.resealed, "unopened": done.unopened},
        lambda: Text(f"{done.resealed} payloads are under key {ring.current!r} now"),
    )
    if done.unopened:
        run.out.warn(
            f"{done.unopened} payloads were not opened by any key here",
            "put back the key they were sealed with",
        )
        raise typer.Exit(1)


def _looked_at(part: object) -> int:
    """How many payloads a step of the rotation read; its other steps write one each."""
    return len(part) if isinstance(part, list) else 0
