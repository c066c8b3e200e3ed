"""The signature of a webhook."""

from __future__ import annotations

import hashlib
import hmac


def signed(body: bytes, signature: str, app_secret: str) -> bool:
    """Whether the header X-Dropbox-Signature is right: HMAC-SHA256 of the body under the app's secret, in hex."""
    return hmac.compare_digest(
        hmac.new(app_secret.encode(), body, hashlib.sha256).hexdigest().encode(), signature.encode()
    )
