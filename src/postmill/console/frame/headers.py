"""What every page's answer says to browsers."""

from __future__ import annotations

from starlette.responses import Response

# Trusted Types: what scripts put into a page goes through the one policy of ours (W3C Trusted Types).
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types console"
)

HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def secure(answer: Response, *, secret: bool = False) -> Response:
    """Adds them. Pages may be kept by the browser that got them, to be asked about again; those with secrets are not."""
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store" if secret else "private, no-cache")
    return answer
