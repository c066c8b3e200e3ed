"""The providers of a tenant that one `zoltag sync-dropbox` is about; what is wrong with one keeps no other from its turn."""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID, uuid4, uuid5

from psycopg import Connection

from examples.photos.commands.sync_dropbox import Folder, Sync, folder_to_sync
from examples.photos.dropbox.client import Dropbox
from examples.photos.dropbox.errors import DropboxError, Unauthorized
from examples.photos.exits import NO_INPUT, NO_PERMISSION, UNAVAILABLE, refuse
from examples.photos.library import Library
from examples.photos.settings import Settings
from examples.photos.statements import run
from examples.photos.tokens import TokenUnreadable, unseal


def sync_providers(
    conn: Connection[Any],
    settings: Settings,
    tenant_id: UUID,
    provider_id: UUID | None,
    path_prefix: str | None,
) -> int:
    """Sync them one after another; the exit code. `provider_id` None means all of the tenant's."""
    providers = run(conn, "provider", tenant_id=tenant_id, provider_id=provider_id).fetchall()
    if provider_id is not None and not providers:
        return refuse(NO_INPUT, f"tenant {tenant_id} has no provider {provider_id}")
    # A job's later attempts go on with the same ingest.
    job = UUID(os.environ["POSTMILL_JOB_ID"]) if "POSTMILL_JOB_ID" in os.environ else uuid4()
    codes = [0]
    for id, connected, sealed in providers:
        path = folder_to_sync(connected, path_prefix)
        if path is None:
            codes.append(refuse(NO_INPUT, f"provider {id} is connected to {connected}, not to {path_prefix}"))
        else:
            codes.append(_sync(conn, settings, Folder(tenant_id, id, path, uuid5(job, str(id))), sealed))
    return max(codes)


def _sync(conn: Connection[Any], settings: Settings, folder: Folder, sealed: bytes) -> int:
    try:
        token = unseal(sealed, settings.secret_key.get_secret_value())
        with Dropbox(
            token, api_url=settings.api_url, content_url=settings.content_url, page=settings.page
        ) as dropbox:
            done = Sync(conn, dropbox, Library(settings.library, folder.tenant_id), folder)()
    except (TokenUnreadable, Unauthorized) as fault:
        return refuse(NO_PERMISSION, f"provider {folder.provider_id}: {fault}")
    except DropboxError as fault:
        return refuse(UNAVAILABLE, f"provider {folder.provider_id}: {fault}")
    print(f"provider {folder.provider_id}: {done}")
    return 0
