"""Access tokens as the database keeps them: encrypted, under a key that it never sees."""

from __future__ import annotations

from cryptography.fernet import Fernet, InvalidToken


class TokenUnreadable(Exception):
    """The token was sealed under another key."""


def seal(token: str, key: str) -> bytes:
    """The token for the table. ValueError for what is no key."""
    return Fernet(key).encrypt(token.encode())


def unseal(sealed: bytes, key: str) -> str:
    """The token for the API. Raises TokenUnreadable."""
    try:
        return Fernet(key).decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise TokenUnreadable("ZOLTAG_SECRET_KEY is not the key that this token was sealed with") from None


if __name__ == "__main__":
    print(Fernet.generate_key().decode())
