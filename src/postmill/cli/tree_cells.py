"""The commands about cells."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group


def add_cells(app: typer.Typer, tenants_app: typer.Typer, panel: str) -> None:
    """Adds `cells`, and `tenants move`."""
    cells_app = group("Cells: several databases, in one of which each tenant lives.")
    app.add_typer(cells_app, name="cells", rich_help_panel=panel)
    command(cells_app, "list", examples=["postmill cells list"])("cells.list_")
    command(
        cells_app,
        "each",
        examples=[
            "postmill cells each migrate",
            "postmill cells each doctor",
            "postmill cells each top -- --once",
        ],
        passes_options=True,
    )("cells.each")
    command(cells_app, "tenants", examples=["postmill cells tenants --in b"])("cells.tenants")
    command(cells_app, "where", examples=["postmill cells where bakery"])("cells.where")
    command(cells_app, "place", examples=["postmill cells place bakery --in b"])("cells.place")
    command(cells_app, "moves", examples=["postmill cells moves"])("cells.list_moves")
    command(cells_app, "show", examples=["postmill cells show 0198f3a2-7c11-7abc-8def-0123456789ab"])(
        "cells.show"
    )
    command(cells_app, "resume", examples=["postmill cells resume 0198f3a2-7c11-7abc-8def-0123456789ab"])(
        "cells.resume"
    )
    command(cells_app, "abort", examples=["postmill cells abort 0198f3a2-7c11-7abc-8def-0123456789ab"])(
        "cells.abort"
    )
    command(
        tenants_app,
        "move",
        examples=[
            "postmill tenants move bakery --to b --preview",
            "postmill tenants move bakery --to b --json",
        ],
    )("cells.move")
