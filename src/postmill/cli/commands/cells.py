"""`postmill cells list | each | tenants | where | place | moves | show | resume | abort`, and `postmill tenants move`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

import typer

from postmill.cells import moves
from postmill.cells.moves import MoveStopped
from postmill.cells.preview import Preview
from postmill.cells.sides import directory_name
from postmill.cli.ages import length
from postmill.cli.completion import complete_cell, complete_tenant
from postmill.cli.database import described
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.family import child_command
from postmill.cli.progress import staging
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.who import who
from postmill.operate.cells import list_cells
from postmill.store.cells import Move

STEPS = ("prepare", "copy", "drain", "switch", "open", "clean", "done")
To = Annotated[
    str,
    typer.Option("--to", metavar="CELL", help="The cell to move it to.", autocompletion=complete_cell),
]
MoveId = Annotated[UUID, typer.Argument(metavar="MOVE", help="The id of the move.")]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]
OnlyLook = Annotated[
    bool, typer.Option("--preview", metavar="", help="Only say what it would carry, and what is in its way.")
]


def list_(run: Run) -> None:
    """List the cells: whether they answer, which version their schema has, how many tenants they have."""
    cells = run.settings.cells
    directory_name(cells)
    rows = [
        asdict(cell) | {"database": described(cells[cell.name].dsn)}
        for cell in list_cells(cells, schema=run.schema)
    ]

    def shown() -> Any:
        columns = ("cell", "database", "schema", "tenants placed", "moves", "state")
        return table(
            columns,
            [
                (
                    f"{row['name']} (directory)" if row["directory"] else row["name"],
                    row["database"],
                    row["version"],
                    row["tenants"],
                    _moves_of(row),
                    row["error"] or row["state"],
                )
                for row in rows
            ],
            right=("schema", "tenants placed"),
        )

    run.out.show(rows, shown)


def _moves_of(row: dict[str, Any]) -> str | None:
    said = [f"{row[way]} {way}" for way in ("leaving", "arriving") if row[way]]
    return ", ".join(said) or None


def each(
    run: Run,
    words: Annotated[list[str], typer.Argument(metavar="COMMAND...", help="A command, without postmill.")],
) -> None:
    """Run one command in every cell, one after the other; the exit code is the first that is not 0."""
    cells = run.settings.cells
    directory_name(cells)
    code = 0
    for name in cells:
        run.out.note(f"cell {name}:")
        given = run.given.overridden_by(type(run.given)(cell=name))
        line = child_command(words, given)
        if run.given.json:
            line.append("--json")
        sys.stdout.flush()
        code = code or subprocess.run(line, check=False).returncode
    raise typer.Exit(code)


def tenants(
    run: Run,
    cell: Annotated[
        str | None,
        typer.Option("--in", metavar="CELL", help="Only of this cell.", autocompletion=complete_cell),
    ] = None,
) -> None:
    """List the tenants of the directory, and where they live. Who is not in it lives in the directory's own cell."""
    found = moves.places(run.settings.cells, cell=cell, most=10_000, schema=run.schema)
    columns = ("tenant", "cell", "moves to", "step", "id")
    run.out.show(
        found,
        lambda: table(columns, [(p.slug, p.cell, p.moving_to, p.step, str(p.tenant_id)) for p in found]),
    )


def move(
    run: Run,
    tenant: Annotated[
        str, typer.Argument(metavar="TENANT", help="Its slug or id.", autocompletion=complete_tenant)
    ],
    to: To,
    preview: OnlyLook = False,
    reason: Reason = None,
) -> None:
    """Move a tenant to another cell with all that it has, while everything else goes on.

    New jobs of the tenant wait while those that run end; then, for about a second, nothing comes in for it, and it is
    in the other cell. If this command is stopped, nothing is lost: postmill cells resume MOVE goes on, and until the switch
    postmill cells abort MOVE puts everything back.
    """
    if preview:
        found = moves.look(run.settings.cells, tenant, to, schema=run.schema)
        run.out.show(found, lambda: _previewed(found))
        if found.blockers:
            raise typer.Exit(ExitCode.FAILED)
        return
    id = moves.begin(run.settings.cells, tenant, to, actor=who(), reason=reason, schema=run.schema)
    run.out.note(f"move {id}: if this is interrupted, postmill cells resume {id}")
    _go_on(run, id)


def resume(run: Run, move: MoveId) -> None:
    """Go on with a move whose mover was stopped."""
    moves.note_resumed(run.settings.cells, move, actor=who(), schema=run.schema)
    _go_on(run, move)


def abort(run: Run, move: MoveId, reason: Reason = None) -> None:
    """Take a move back: both cells are as before. Not possible once the tenant lives in the other cell."""
    ended = moves.abort(run.settings.cells, move, actor=who(), reason=reason, schema=run.schema)
    _show(run, ended)


def place(
    run: Run,
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="Its slug or id.")],
    cell: Annotated[
        str,
        typer.Option("--in", metavar="CELL", help="The cell it lives in.", autocompletion=complete_cell),
    ],
    reason: Reason = None,
) -> None:
    """Put the directory right: say that a tenant lives in the cell where it does. Moves nothing; see postmill doctor."""
    placed = moves.place(run.settings.cells, tenant, cell, actor=who(), reason=reason, schema=run.schema)
    run.out.show(placed, lambda: pairs([("tenant", placed.slug), ("cell", placed.cell)]))


def where(
    run: Run,
    tenant: Annotated[
        str, typer.Argument(metavar="TENANT", help="Its slug or id.", autocompletion=complete_tenant)
    ],
) -> None:
    """Say in which cell a tenant lives, and whether it is being moved."""
    found = moves.where(run.settings.cells, tenant, schema=run.schema)
    going = None if found.moving_to is None else f"{found.moving_to}, at step {found.step}: {found.move_id}"
    run.out.show(
        found,
        lambda: pairs(
            [("tenant", found.slug), ("cell", found.cell), *([("moves to", going)] if going else [])]
        ),
    )


def list_moves(run: Run) -> None:
    """List the moves, the latest first."""
    found = moves.moves(run.settings.cells, most=200, schema=run.schema)
    columns = ("move", "tenant", "from", "to", "step", "status", "closed for", "note")
    run.out.show(
        found,
        lambda: table(
            columns,
            [
                (
                    str(m.id),
                    m.tenant,
                    m.from_cell,
                    m.to_cell,
                    m.step,
                    m.status,
                    None if m.closed_seconds is None else length(m.closed_seconds),
                    m.note,
                )
                for m in found
            ],
        ),
    )


def show(run: Run, move: MoveId) -> None:
    """Show one move: where it stands, what it waits for, how many rows it has carried."""
    _show(run, moves.move(run.settings.cells, move, schema=run.schema))


def _go_on(run: Run, id: UUID) -> None:
    with staging(run.out, "moving", STEPS) as told:
        try:
            ended = moves.resume(
                run.settings.cells,
                id,
                told=lambda m: told(m.step, f"{m.step}: {m.note}" if m.note else m.step),
                schema=run.schema,
            )
        except MoveStopped as stopped:
            raise CliError(str(stopped), f"postmill cells show {id}", ExitCode.FAILED) from None
    _show(run, ended)


def _show(run: Run, move: Move) -> None:
    data = asdict(move) | {"closed_seconds": move.closed_seconds}
    closed = move.closed_seconds
    run.out.show(
        data,
        lambda: pairs(
            [
                ("move", str(move.id)),
                ("tenant", move.tenant),
                ("from", move.from_cell),
                ("to", move.to_cell),
                ("status", move.status if move.status != "running" else f"at step {move.step}"),
                ("nothing came in for", "not yet" if closed is None else length(closed)),
                *(
                    [("of that", ", ".join(f"{k} {length(v)}" for k, v in move.parts.items()))]
                    if move.parts
                    else []
                ),
                ("rows", ", ".join(f"{n:,} {name}" for name, n in move.carried.items() if n) or "none"),
                *([("note", move.note)] if move.note else []),
            ]
        ),
    )


def _previewed(found: Preview) -> Any:
    return pairs(
        [
            ("tenant", found.tenant),
            ("from", found.from_cell),
            ("to", found.to_cell),
            ("jobs", f"{found.jobs:,}, {found.running:,} of them run"),
            ("dead letters", f"{found.dead_letters:,}"),
            ("triggers", f"{found.triggers:,}"),
            ("idempotency keys", f"{found.keys:,}"),
            ("definitions made there", ", ".join(found.definitions) or "none"),
            ("in its way", "; ".join(found.blockers) or "nothing"),
        ]
    )
