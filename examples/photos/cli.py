"""`zoltag COMMAND --tenant-id UUID …`: the four commands, as jobs and people call them. For exit codes see `exits.py`.

Each command imports what it alone needs: a worker starts the program for every job.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from examples.photos.database import connect
from examples.photos.exits import NO_CONFIG, refuse
from examples.photos.library import Library
from examples.photos.settings import Settings, SettingsMissing, from_environment


def parser() -> argparse.ArgumentParser:
    """What can be said."""
    made = argparse.ArgumentParser(prog="zoltag", description="Sync pictures and tag them.")
    commands = made.add_subparsers(dest="command", required=True)
    for name, about in (
        ("sync-dropbox", "bring what has changed in Dropbox"),
        ("train-keyword-models", "learn keywords from the tenant's lists"),
        ("recompute-trained-tags", "tag by what was learned"),
        ("recompute-zeroshot-tags", "tag by the descriptions of keywords"),
    ):
        command = commands.add_parser(name, help=about)
        command.add_argument("--tenant-id", type=UUID, required=True)
        if name == "sync-dropbox":
            command.add_argument("--provider-id", type=UUID, help="default: all of the tenant")
            command.add_argument("--path-prefix", help="default: the folder that was connected")
        if name.startswith("recompute"):
            command.add_argument(
                "--ingest-id", type=UUID, help="only pictures that this brought; default: all"
            )
        if name in ("train-keyword-models", "recompute-trained-tags"):
            command.add_argument(
                "--model", default="siglip", help="name of the set of models (default: %(default)s)"
            )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    asked = parser().parse_args(arguments)
    try:
        settings = from_environment()
    except SettingsMissing as fault:
        return refuse(NO_CONFIG, fault)
    with connect(settings.database_url.get_secret_value()) as conn:
        if asked.command == "sync-dropbox":
            from examples.photos.commands.sync_providers import sync_providers

            return sync_providers(conn, settings, asked.tenant_id, asked.provider_id, asked.path_prefix)
        if asked.command == "train-keyword-models":
            return _train(asked, settings, conn)
        return _recompute(asked, settings, conn)


def _train(asked: argparse.Namespace, settings: Settings, conn: Connection[Any]) -> int:
    from examples.photos.commands.train_keyword_models import train_keyword_models

    library = Library(settings.library, asked.tenant_id)
    learned = train_keyword_models(conn, library, asked.tenant_id, asked.model)
    for model in learned:
        print(
            f"{model.keyword}: {model.accuracy:.3f} on held-out pictures, learned from {model.learned_from}"
        )
    print(f"{len(learned)} models of {asked.model}")
    return 0


def _recompute(asked: argparse.Namespace, settings: Settings, conn: Connection[Any]) -> int:
    from examples.photos.commands import recompute_tags
    from examples.photos.commands.train_keyword_models import kept_models

    source: recompute_tags.Source = "zeroshot"
    tags_of: recompute_tags.TagsOf = recompute_tags.by_description
    if asked.command == "recompute-trained-tags":
        models = kept_models(conn, asked.tenant_id, asked.model)
        print(f"{len(models)} models of {asked.model}")
        source, tags_of = "trained", recompute_tags.by_models(models)
    library = Library(settings.library, asked.tenant_id)
    seen, tagged = recompute_tags.recompute_tags(
        conn, library, asked.tenant_id, source, tags_of, asked.ingest_id
    )
    print(f"{seen} pictures, {tagged} tags")
    return 0


if __name__ == "__main__":
    sys.exit(main())
