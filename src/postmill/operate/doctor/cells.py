"""The cells: does each of them answer, and is each tenant in the one that the directory names, and in no other?"""

from __future__ import annotations

from postmill import connections
from postmill.domain.settings_cells import directory_of
from postmill.operate.cells import PATIENCE, CellState, list_cells
from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row, ask

SHOWN = 5


def check_cells(probe: Probe) -> Finding:
    """Asks all cells, whichever one this round is about."""
    home = directory_of(probe.cells)
    if home is None:
        return Finding("cells", Level.OK, "there are none: one database has all tenants")
    cells = list_cells(probe.cells, schema=probe.schema)
    broken = [cell for cell in cells if cell.state is not CellState.ANSWERS]
    rows: list[Row] = [{"cell": cell.name, "state": cell.state.value, "error": cell.error} for cell in cells]
    if broken:
        told = "; ".join(f"cell {cell.name}: {cell.error}" for cell in broken)
        return Finding("cells", Level.FAIL, told, "see postmill cells list", rows)
    wrong = _wrong(probe, home)
    if not wrong:
        placed = sum(cell.tenants or 0 for cell in cells)
        said = f"{len(cells)} answer; each of {placed} tenants placed is in one"
        return Finding("cells", Level.OK, said, "", rows)
    more = f", and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return Finding(
        "cells",
        Level.FAIL,
        "; ".join(str(row["wrong"]) for row in wrong[:SHOWN]) + more,
        "; ".join(str(row["advice"]) for row in wrong[:SHOWN]),
        rows + wrong,
    )


def _wrong(probe: Probe, home: str) -> list[Row]:
    lives: dict[str, list[str]] = {}
    slugs: dict[str, str] = {}
    places: dict[str, Row] = {}
    for name, cell in probe.cells.items():
        with connections.connect(cell.dsn, "postmill doctor", connect_timeout=PATIENCE) as conn:
            for row in ask(conn, probe.schema, "doctor_residents"):
                slugs[row["id"]] = row["slug"]
                if row["stage"] not in ("arriving", "gone"):
                    lives.setdefault(row["id"], []).append(name)
            if name == home:
                places = {row["id"]: row for row in ask(conn, probe.schema, "doctor_places")}
    found = []
    for id in sorted(lives.keys() | places.keys()):
        place = places.get(id)
        if place is not None and place["moves"]:
            continue
        slug = slugs.get(id) or (place["slug"] if place else id)
        said = _judged(slug, lives.get(id, []), place["cell"] if place else None, home)
        if said is not None:
            found.append({"tenant": slug, "wrong": said[0], "advice": said[1]})
    return found


def _judged(slug: str, lives: list[str], placed: str | None, home: str) -> tuple[str, str] | None:
    """What is wrong with where a tenant lives, and what to do; None: nothing."""
    asked = placed or home
    if len(lives) > 1:
        others = [cell for cell in lives if cell != asked]
        return (
            f"tenant {slug} is in cells {', '.join(lives)}; requests go to {asked}",
            f"let nothing work for it elsewhere: postmill --cell {others[0]} tenants set {slug} --status suspended",
        )
    if not lives:
        return (
            f"tenant {slug} is in no cell, though the directory names {asked}",
            f"restore cell {asked}, or make it anew",
        )
    if lives[0] != asked:
        word = "the directory names" if placed else "the directory does not know it, and requests go to"
        return (
            f"tenant {slug} is in cell {lives[0]}, but {word} {asked}",
            f"postmill cells place {slug} --in {lives[0]}",
        )
    return None
