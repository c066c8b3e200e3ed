"""Why a job does not run, on a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.cli.tables import state
from postmill.cli.text import plain
from postmill.operate.why import Why


def why_page(found: Why) -> RenderableType:
    """The job, then a line for each reason, in order."""
    lines = [Text.assemble((str(found.id), "bold"), "  ", state(found.status))]
    for n, reason in enumerate(found.reasons, 1):
        number = f"{n}. " if len(found.reasons) > 1 else ""
        line = Text.assemble((f"  {number}", "dim"), plain(reason.text), (f"  ({reason.code})", "dim"))
        if reason.until is not None:
            line.append(
                f"\n     until {reason.until.astimezone().isoformat(sep=' ', timespec='seconds')}",
                style="dim",
            )
        lines.append(line)
    return Group(*lines)
