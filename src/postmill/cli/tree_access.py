"""The part of the tree of commands that is about who may do what, and who did."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group
from postmill.cli.tree_cells import add_cells


def grow(app: typer.Typer, panel: str) -> None:
    """Adds `tenants`, `cells`, `keys`, `logins`, `login` and `audit`."""
    tenants_app = group("Tenants and their projects.")
    keys_app = group("API keys.")
    logins_app = group("Logins of the console.")
    audit_app = group("What was done, by whom.")
    app.add_typer(tenants_app, name="tenants", rich_help_panel=panel)
    command(tenants_app, "list", examples=["postmill tenants list"])("tenants.list_")
    command(tenants_app, "show", examples=["postmill tenants show bakery"])("tenants.show")
    command(
        tenants_app,
        "create",
        examples=['postmill tenants create bakery --name "Ada\'s bakery" --timezone Europe/Amsterdam'],
    )("tenants.create")
    command(
        tenants_app,
        "set",
        examples=[
            "postmill tenants set bakery --weight 3 --max-running 20",
            "postmill tenants set bakery --raise-to 60 --for 2h --reason 'catching up'",
            "postmill tenants set bakery --status suspended --reason 'unpaid'",
        ],
    )("tenants.set_")
    command(tenants_app, "projects", examples=["postmill tenants projects bakery"])("tenants.projects")
    command(tenants_app, "create-project", examples=["postmill tenants create-project bakery wedding-cakes"])(
        "tenants.create_project"
    )

    add_cells(app, tenants_app, panel)
    app.add_typer(keys_app, name="keys", rich_help_panel=panel)
    command(keys_app, "list", examples=["postmill keys list", "postmill keys list --tenant bakery --all"])(
        "keys.list_"
    )
    command(
        keys_app,
        "create",
        examples=[
            "postmill keys create 'nightly import' --role operator --tenant bakery --for 90d",
            "postmill keys create prometheus --role platform_viewer",
        ],
    )("keys.create")
    command(keys_app, "revoke", examples=["postmill keys revoke pm_4f7dZ8 --reason 'left in a repository'"])(
        "keys.revoke"
    )
    app.add_typer(logins_app, name="logins", rich_help_panel=panel)
    command(logins_app, "list", examples=["postmill logins list"])("keys.list_logins_")
    command(logins_app, "end", examples=["postmill logins end 0198f3a2-7c11-7abc-8def-0123456789ab"])(
        "keys.end_login"
    )
    command(
        app,
        "login",
        brief="Print a link that logs somebody in, once.",
        panel=panel,
        examples=["postmill login", "postmill login --as ada --role operator --tenant bakery"],
    )("keys.login")

    app.add_typer(audit_app, name="audit", rich_help_panel=panel)
    command(audit_app, "list", examples=["postmill audit list", "postmill audit list --action keys.revoke"])(
        "audit.list_"
    )
    command(
        audit_app,
        "export",
        examples=[
            "postmill audit export > audit.ndjson",
            "postmill audit export --kind job --since 2031-05-17T00:00Z",
        ],
    )("audit.export")
    command(
        audit_app,
        "verify",
        examples=["postmill audit verify", "postmill audit verify --anchor 1024:9f86d081…"],
    )("audit.verify")
