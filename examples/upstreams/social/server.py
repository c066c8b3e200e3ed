"""A network in the shapes of X's API v2: `POST /2/oauth2/token` (refresh tokens are good for once) and posts of an account.

/2/users/ID/tweets      needs a bearer token that is good, else 401

The code `code-of-ID` is what somebody has brought along who has just signed in as ID.
"""

from __future__ import annotations

import base64
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from examples.upstreams.rest import Request, RestServer

CLIENT = ("client-of-the-stand-in", "secret-of-the-stand-in")
LIFETIME = 7200


class SocialServer(RestServer):
    """An account comes to be by `connect`. A refresh token that is used twice ends all that its account has.

    Attributes:
        access: good access tokens, and whose they are.
        refresh: good refresh tokens, and whose they are.
        refreshes: how often each account's tokens were renewed.
        posts: by account, the latest first.
        open: while it is not set, the token endpoint has renewed, and its answer waits.
        issued: every secret that has ever been given out.
        lifetime: seconds of an access token.
    """

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port=port)
        self.access: dict[str, str] = {}
        self.refresh: dict[str, str] = {}
        self.refreshes: dict[str, int] = {}
        self.posts: dict[str, list[dict[str, str]]] = {}
        self.open = threading.Event()
        self.open.set()
        self.renewed = threading.Event()
        self.issued: list[str] = []
        self.lifetime = LIFETIME
        self._used: dict[str, str] = {}

    def connect(self, account: str) -> dict[str, Any]:
        """What the token endpoint says when somebody connects an account."""
        number = len(self.issued)
        access, refresh = f"ACCESS-{account}-{number}-secret", f"REFRESH-{account}-{number}-secret"
        self.issued += [access, refresh]
        self.access[access], self.refresh[refresh] = account, account
        return {
            "token_type": "bearer", "expires_in": self.lifetime, "access_token": access, "refresh_token": refresh,
            "scope": "tweet.read users.read offline.access",
        }  # fmt: skip

    def revoke(self, account: str) -> None:
        """The account's owner takes back what was allowed."""
        for good in (self.access, self.refresh):
            for token in [token for token, whose in good.items() if whose == account]:
                del good[token]

    def respond(self, request: Request) -> tuple[int, Any]:
        """As the real service answers."""
        if request.path == "/2/oauth2/token":
            return self._token(request)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        _, _, kind, account, *what = [*request.path.split("/"), ""]
        if scheme != "Bearer" or self.access.get(token) != account:
            return 401, {
                "title": "Unauthorized",
                "type": "about:blank",
                "status": 401,
                "detail": "Unauthorized",
            }
        if kind != "users" or what[0] != "tweets":
            return 404, {"title": "Not Found", "status": 404}
        posts = self.posts.get(account, [])
        return 200, {"data": posts, "meta": {"result_count": len(posts)}} if posts else {
            "meta": {"result_count": 0}
        }

    def _token(self, request: Request) -> tuple[int, Any]:
        wanted = "Basic " + base64.b64encode(":".join(CLIENT).encode()).decode()
        if request.headers.get("authorization") != wanted:
            return 401, {"error": "invalid_client"}
        form = {name: values[0] for name, values in parse_qs(request.body).items()}
        if form.get("grant_type") == "authorization_code":
            return self._signed_in(form.get("code", ""))
        token = form.get("refresh_token", "")
        account = self.refresh.pop(token, None)
        if account is None:
            if token in self._used:
                self.revoke(self._used[token])
            return 400, {
                "error": "invalid_grant",
                "error_description": "Value passed for the token was invalid.",
            }
        self._used[token] = account
        self.access = {token: whose for token, whose in self.access.items() if whose != account}
        self.refreshes[account] = self.refreshes.get(account, 0) + 1
        made = self.connect(account)
        self.renewed.set()
        self.open.wait()
        return 200, made

    def _signed_in(self, code: str) -> tuple[int, Any]:
        kind, _, account = code.rpartition("-")
        if kind != "code-of" or not account:
            return 400, {"error": "invalid_grant", "error_description": "The code is invalid."}
        self.posts.setdefault(account, [_post(account, hour) for hour in range(3)])
        return 200, self.connect(account)


def _post(account: str, hours_ago: int) -> dict[str, str]:
    moment = datetime.now(UTC) - timedelta(hours=hours_ago)
    return {"id": f"{account}-{hours_ago}", "text": f"News of {account}", "created_at": moment.isoformat()}
