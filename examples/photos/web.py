"""The application's web server: it takes Dropbox's webhooks and publishes `provider.folder.updated`.

`python -m examples.photos.web --port 8080`; the first line on stdout is the address. DROPBOX_APP_SECRET is the app's secret.
"""

from __future__ import annotations

import argparse
import json
import os
import socket

import uvicorn
from psycopg import AsyncConnection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from examples.photos.dropbox.signature import signed
from examples.photos.statements import text
from postmill import apublish

PATH = "/dropbox/webhook"


def create_app(database_url: str, app_secret: str) -> Starlette:
    """The ASGI application."""

    async def challenge(request: Request) -> Response:
        """Dropbox asks once whether somebody is here."""
        echo = request.query_params.get("challenge", "")
        return PlainTextResponse(echo, headers={"X-Content-Type-Options": "nosniff"})

    async def changed(request: Request) -> Response:
        """Accounts have changed. What of them, the sync finds out."""
        body = await request.body()
        if not signed(body, request.headers.get("X-Dropbox-Signature", ""), app_secret):
            return PlainTextResponse("the signature does not fit", 403)
        try:
            accounts = [str(account) for account in json.loads(body)["list_folder"]["accounts"]]
        except (ValueError, KeyError, TypeError):
            return PlainTextResponse("list_folder.accounts is missing", 400)
        async with await AsyncConnection.connect(database_url) as conn:
            rows = await (await conn.execute(text("account_changed"), {"accounts": accounts})).fetchall()
            for provider, tenant, folder in rows:
                context = {"provider_id": str(provider), "folder_path": folder}
                await apublish(conn, "provider.folder.updated", context, tenant=tenant)
        return PlainTextResponse("")

    return Starlette(routes=[Route(PATH, challenge, methods=["GET"]), Route(PATH, changed, methods=["POST"])])


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m examples.photos.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        app = create_app(os.environ["ZOLTAG_DATABASE_URL"], os.environ["DROPBOX_APP_SECRET"])
    except KeyError as missing:
        parser.error(f"set {missing.args[0]}; see examples/photos/README.md")
    with socket.create_server((options.host, options.port)) as listener:
        host, port = listener.getsockname()[:2]
        print(f"http://{host}:{port}{PATH}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
