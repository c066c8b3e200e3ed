"""How pages and acts are declared: a path below the scope, what the role must be allowed, and a function of the visit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from postmill.api.asked import Asked
from postmill.api.problems import Problem, unauthorized
from postmill.console.frame import headers, preferences, rendering
from postmill.console.frame.arguments import Arguments
from postmill.console.frame.banner import notices
from postmill.console.frame.cells import offered
from postmill.console.frame.compression import compressed
from postmill.console.frame.forms import check_token, read_form
from postmill.console.frame.parts import asked_for
from postmill.console.frame.scope import OPS, TENANT, entered
from postmill.console.frame.view_as import viewed
from postmill.console.frame.visit import Visit
from postmill.domain.access import Action, Principal

Handler = Callable[[Visit], Awaitable[Response]]


class PageRoute(APIRoute):
    """Ends the visit's reading before its answer is sent: a slow client must not hold a connection to the database."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler around FastAPI's own."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                answer = await handle(request)
            finally:
                visit: Visit | None = getattr(request.state, "visit", None)
                if visit is not None:
                    await visit.close()
            return compressed(request, headers.secure(answer))

        return handled


class Pages(APIRouter):
    """The pages of one kind of thing."""

    def __init__(self) -> None:
        super().__init__(route_class=PageRoute, include_in_schema=False)

    def page(
        self, path: str, action: Action | None, *, ops: bool = True, tenant: bool = True
    ) -> Callable[[Handler], Handler]:
        """A page at `path` below the scopes that have it, for roles that may `action` (None: everybody who is somebody)."""
        return self._at(["GET", "HEAD"], path, action, ops, tenant)

    def act(
        self,
        path: str,
        action: Action | None,
        *,
        ops: bool = True,
        tenant: bool = True,
        viewing: bool = False,
    ) -> Callable[[Handler], Handler]:
        """What a form does; it answers with `visit.done(…)` as a rule, or with the page and what is wrong in it.

        `viewing`: also for who only looks at a tenant's pages, since nothing of the tenant's is changed.
        """
        return self._at(["POST"], path, action, ops, tenant, viewing)

    def _at(
        self,
        methods: list[str],
        path: str,
        action: Action | None,
        ops: bool,
        tenant: bool,
        viewing: bool = False,
    ) -> Callable[[Handler], Handler]:
        def declared(handler: Handler) -> Handler:
            # A default, since FastAPI cannot look up names of this function in an annotation.
            async def endpoint(visit: Visit = Depends(visiting(action))) -> Response:  # noqa: B008
                if visit.scope.viewing and "POST" in methods and not viewing:
                    raise Problem(403, "forbidden", "who views as a tenant only reads: end it first")
                if "GET" not in methods:
                    try:
                        return await handler(visit)
                    finally:
                        rendering.forget(visit)
                if visit.parts:
                    return await rendering.parts(visit, handler)
                visit.notices = await notices(visit)
                return await handler(visit)

            for prefix in ([OPS] if ops else []) + ([TENANT] if tenant else []):
                name = f"console {handler.__module__.rpartition('.')[2]}.{handler.__name__}"
                self.add_api_route(
                    prefix + path, endpoint, methods=methods, name=name, response_class=Response
                )
            return handler

        return declared


def visiting(action: Action | None) -> Callable[[Request], Awaitable[Visit]]:
    """The dependency of every page: who was authenticated, in the scope of the path, allowed to do this.

    Raises:
        Problem: 404 for a scope that is not the caller's; 403 where the role may not, which is audited, and for a form
            that is not ours.
    """

    async def visit(request: Request) -> Visit:
        principal = cast(Principal | None, getattr(request.state, "principal", None))
        if principal is None:
            raise unauthorized("log in")
        if "\0" in request.scope["path"]:
            raise Problem(404, "not-found", "there is no such page")
        outside = Asked(principal, request.state.request_id, request.app.state.backend)
        scope, asked = await entered(outside, request.path_params.get("slug"), viewed(request))
        form = Arguments()
        if request.method not in ("GET", "HEAD"):
            form = await read_form(request)
            check_token(request, form)
        if action is not None and not asked.principal.may(action):
            detail = f"the role {asked.principal.role} may not {action}"
            raise await asked.denied(action, detail, target=f"{request.method} {request.url.path}")
        args = Arguments.parsed(request.url.query)
        made = Visit(request, asked, scope, args, form, preferences.read(request))
        if request.method == "GET":
            made.parts = asked_for(request)
        request.state.visit = made
        backend = asked.backend
        if backend.settings.cells and principal.platform:
            made.cells = offered(
                backend.settings, await backend.cells.get(), request.scope.get("root_path", "")
            )
        return made

    visit.action = action  # type: ignore[attr-defined]
    return visit
