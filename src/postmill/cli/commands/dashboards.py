"""`postmill dashboards`: what Grafana and Prometheus need to watch a fleet, ready to be imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.telemetry.grafana import dashboard


class Kind(StrEnum):
    """What there is."""

    GRAFANA = "grafana"
    ALERTS = "alerts"
    RECORDING = "recording"
    SCRAPE = "scrape"


@dataclass(frozen=True, slots=True)
class Document:
    """A file to be given to somebody else's program."""

    file: str
    about: str
    text: Callable[[], str]


def _rules(name: str) -> Callable[[], str]:
    return lambda: (files("postmill") / "telemetry" / "rules" / name).read_text(encoding="utf-8")


DOCUMENTS: dict[Kind, Document] = {
    Kind.GRAFANA: Document(
        "postmill.json",
        "dashboard for Grafana: Dashboards, New, Import",
        lambda: json.dumps(dashboard(), indent=2) + "\n",
    ),
    Kind.ALERTS: Document("alerts.yml", "alert rules for Prometheus: rule_files", _rules("alerts.yml")),
    Kind.RECORDING: Document(
        "recording.yml", "recording rules: rates, shares and p50/p95/p99", _rules("recording.yml")
    ),
    Kind.SCRAPE: Document("prometheus.yml", "a prometheus.yml that scrapes a fleet", _rules("scrape.yml")),
}


def dashboards(
    run: Run,
    kind: Annotated[Kind | None, typer.Argument(metavar="WHICH", help=f"One of: {', '.join(Kind)}.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Write files there; all of them, or the named one."
        ),
    ] = None,
) -> None:
    """Print or write the Grafana dashboard, and Prometheus' alert and recording rules. Needs no database.

    Without WHICH it lists them. A file of the same name in DIR is replaced.
    """
    chosen = DOCUMENTS if kind is None else {kind: DOCUMENTS[kind]}
    if output is not None:
        _write(run, chosen, output)
    elif kind is None:
        data = [{"which": str(name), "file": one.file, "about": one.about} for name, one in DOCUMENTS.items()]
        run.out.show(
            data, lambda: table(("which", "file", "what it is"), [tuple(row.values()) for row in data])
        )
        run.out.note("print one: postmill dashboards alerts; write all: postmill dashboards --output DIR")
    elif run.out.as_json and kind is not Kind.GRAFANA:
        one = DOCUMENTS[kind]
        run.out.document({"which": str(kind), "file": one.file, "content": one.text()})
    else:
        run.out.console.file.write(DOCUMENTS[kind].text())
        run.out.console.file.flush()


def _write(run: Run, chosen: dict[Kind, Document], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for one in chosen.values():
        (folder / one.file).write_text(one.text(), encoding="utf-8")
    if run.out.as_json:
        run.out.document(
            [{"which": str(kind), "file": str(folder / one.file)} for kind, one in chosen.items()]
        )
    for one in chosen.values():
        run.out.say(f"written  {folder / one.file}", style="green")
