"""The API's own description."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import JSONResponse, Response

from postmill.api.asked import Asked, may
from postmill.api.document import document
from postmill.api.routing import new_router

router = new_router("meta")


@router.get("/openapi.json", include_in_schema=False)
async def get_openapi(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Response:
    """The OpenAPI document, for whoever may come in."""
    return JSONResponse(document(request.app))
