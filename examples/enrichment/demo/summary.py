"""The last page of the demo: what came out, what went wrong on the way, what to try next."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from examples.enrichment.demo.display import Picture, duration
from examples.enrichment.demo.measure import Attempt, Card, Count, Measures, Retried
from examples.staging.programs import program, up

DEMO = "examples.enrichment.demo"
CARDS = 4
BAR = 14


async def print_summary(console: Console, measures: Measures, picture: Picture, data: Path) -> None:
    """Read everything once more and print it."""
    console.print()
    console.rule(Text(_headline(picture), "bold"))
    languages = _counts("Languages", await measures.languages())
    phrases = _counts("Key phrases in most items", await measures.top_phrases())
    side_by_side = Table.grid(padding=(1, 4))
    side_by_side.add_row(languages, phrases)
    console.print(side_by_side)
    for card in _chosen(await measures.cards()):
        console.print(_panel(card))
    retries = await measures.retries()
    if retries:
        console.print(_retries(retries))
        story = await measures.story()
        if story:
            console.print(_story(story))
    console.print(_times(picture))
    console.print(_next(data, picture), soft_wrap=True)


def _headline(picture: Picture) -> str:
    now = picture.progress
    ready = f"{now.enriched} items ready to confirm, {now.discarded} discarded"
    if now.failed:
        return f"{ready}, {now.failed} failed"
    left = now.captured - now.ended
    return f"{ready}, {left} not finished" if left else f"{ready}, none lost"


def _counts(title: str, counts: list[Count]) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 1)
    )
    most = max((count.items for count in counts), default=1)
    for count in counts[:12]:
        bar = "█" * max(1, round(BAR * count.items / most))
        name = Text(count.name, no_wrap=True, overflow="ellipsis")
        table.add_row(name, Text(bar, "cyan"), str(count.items))
    rest = counts[12:]
    if rest:
        table.add_row(f"{len(rest)} more", "", str(sum(count.items for count in rest)))
    return table


def _chosen(cards: list[Card]) -> list[Card]:
    """At most two in English, so that the others are seen."""
    english = [card for card in cards if card.language == "en"][:2]
    others = [card for card in cards if card.language != "en"]
    return (english + others)[:CARDS]


def _panel(card: Card) -> Panel:
    body = Text.assemble(card.summary, "\n", (" · ".join(card.key_phrases), "cyan"))
    return Panel(
        body,
        title=Text(card.title, "bold", overflow="ellipsis", no_wrap=True),
        title_align="left",
        subtitle=Text(f"{card.language} · {card.source}", "dim"),
        subtitle_align="right",
        padding=(0, 1),
    )


def _retries(retries: list[Retried]) -> Table:
    table = Table(
        title="What went wrong on the way, and what became of it", title_justify="left", title_style="bold"
    )
    table.add_column("error")
    table.add_column("attempts", justify="right")
    table.add_column("waited")
    table.add_column("made it all the same")
    for row in retries:
        low, high = duration(row.shortest_wait), duration(row.longest_wait)
        waited = "–" if row.longest_wait == 0 else low if low == high else f"{low} to {high}"
        made_it = Text(
            f"{row.recovered} of {row.items}", "green" if row.recovered == row.items else "bold red"
        )
        table.add_row(row.error.splitlines()[0][:60], str(row.attempts), waited, made_it)
    return table


def _story(attempts: list[Attempt]) -> Padding:
    lines = Text.assemble("The longest way had ", (f"“{attempts[0].title}”", "bold"), ":\n")
    for attempt in attempts:
        ended = attempt.error_text.splitlines()[0] if attempt.error_text else attempt.status
        style = "green" if attempt.status == "succeeded" else "yellow"
        lines.append(f"  {attempt.started:6.2f} s  attempt {attempt.attempt_no} → ")
        lines.append(f"{ended}\n", style)
    lines.right_crop(1)
    return Padding(lines, (1, 0))


def _times(picture: Picture) -> Text:
    times = picture.pick_up
    return Text.assemble(
        ("Times\n", "bold"),
        f"  {picture.progress.ended} jobs in {duration(picture.seconds)} ({picture.rate:.0f} a second)\n",
        f"  from commit to handler: p50 {duration(times.p50)}, p99 {duration(times.p99)}\n",
        f"  in the handler: p50 {duration(times.handler_p50)}\n",
        f"  from capture to enriched: p50 {duration(times.item_p50)}, at most {duration(times.item_max)}",
    )


def _next(data: Path, picture: Picture) -> Text:
    postmill, python = program("postmill"), program("python")
    text = Text.assemble(("\nEverything is kept in ", "bold"), (str(data), "cyan"), "\n")
    if picture.progress.failed:
        text.append("What failed, and how to run it again: postmill dead list, dead replay\n", "bold red")
    text.append("What to try next\n", "bold")
    for what, command in (
        (
            "Database and worker stay on:",
            up("enrichment", data),
        ),
        ("Then, in a second terminal, look into them:", f"{postmill} jobs list"),
        ("kill -9 a worker in mid-work, and lose nothing:", f"{python} -m {DEMO} --kill-worker"),
        ("Errors that cost the steps of 30 s and 5 min:", f"{python} -m {DEMO} --script rough"),
        ("Without notifications, the same but later:", f"POSTMILL_NOTIFY=off {python} -m {DEMO}"),
    ):
        text.append(f"  {what}\n")
        text.append(f"    {command}\n", "cyan")
    text.right_crop(1)
    return text
