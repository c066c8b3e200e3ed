"""The path under which a proxy publishes the application (`server.root_path`)."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class RootPath:
    """Says so to whatever makes paths for clients, where no application above has said more.

    It does not matter whether the proxy takes the prefix off a request's path or leaves it there.
    """

    def __init__(self, app: ASGIApp, *, root_path: str) -> None:
        self.app = app
        self._root_path = "/" + root_path.strip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("root_path"):
            scope["root_path"] = self._root_path
        await self.app(scope, receive, send)


def own_path(scope: Scope) -> str:
    """The path below our own root, as routes are written. A mistake here opens nothing: `may` wants a principal."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(f"{root}/") else path
