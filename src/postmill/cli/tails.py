"""What the processes of a job's attempts printed: the end of it, as far as it was kept."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from postmill.cli.text import plain
from postmill.store.job_rows import AttemptView


def tails(attempts: Sequence[AttemptView], longest: int) -> list[RenderableType]:
    """A block for each output of each attempt that left one, at most its last `longest` characters."""
    parts: list[RenderableType] = []
    for attempt in attempts:
        for name, output in (("stdout", attempt.stdout_tail), ("stderr", attempt.stderr_tail)):
            if output and not output.isspace():
                parts += [Text(f"\nattempt {attempt.run}, {name}", style="dim"), Text(_end(output, longest))]
    return parts


def _end(output: str, longest: int) -> str:
    shown = plain(output.rstrip())
    if len(shown) <= longest:
        return shown
    return f"… {len(shown) - longest} characters before this: --json\n{shown[-longest:]}"
