"""The mailbox by itself."""

from __future__ import annotations

import ssl
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from examples.homepage.mail.imap import Mailbox
from examples.homepage.mail.settings import MailSettings
from examples.upstreams.mail.imap import ImapServer


def test_a_look_reads_no_certificates(imap: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one every minute, and reading those that the machine trusts takes ten times as long; here there is no TLS."""
    monkeypatch.setattr(ssl, "create_default_context", None)
    [(user, password)] = imap.accounts.items()
    url = SecretStr(f"imap://{user}:{quote(password)}@127.0.0.1:{imap.port}/INBOX")
    mailbox = Mailbox(MailSettings(imap_url=url))
    mailbox.open()
    try:
        assert mailbox.after(0) == []
    finally:
        mailbox.close()
