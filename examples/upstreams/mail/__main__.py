"""`python -m examples.upstreams.mail --smtp 8025 --imap 8143`: a mail server as a process of its own.

All that it takes by SMTP is in the INBOX that it shows by IMAP (with `--domain` only what is for addresses of that domain);
whoever wants to answer as one side writes to the masked address that stands there. The first two lines on stdout are what goes
into MAIL_SMTP_URL and MAIL_IMAP_URL. It ends when its standard input does, or at a signal.
"""

from __future__ import annotations

import argparse
import time
from urllib.parse import quote

from examples.upstreams.mail.imap import ImapServer
from examples.upstreams.mail.smtp import MailServer
from examples.upstreams.process import serve


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="mail", description="stand-in for a mail server")
    parser.add_argument("--smtp", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--imap", type=int, default=0, help="the same")
    parser.add_argument("--domain", default="", help="whose mail is in the INBOX (default: all)")
    options = parser.parse_args()
    imap, smtp = ImapServer(options.imap), MailServer()
    # Its UIDs begin at 1 again with each start, so they are others.
    imap.folder.validity = int(time.time())

    def deliver(raw: bytes, recipients: list[str]) -> None:
        if any(recipient.endswith(options.domain) for recipient in recipients):
            imap.folder.add(b"Return-Path: <sent@here>\r\n" + raw)

    smtp.deliver = deliver
    [(user, password)] = imap.accounts.items()
    print(smtp.start(options.smtp), flush=True)
    try:
        serve(imap, f"imap://{user}:{quote(password)}@127.0.0.1:{imap.port}/INBOX")
    finally:
        smtp.stop()


if __name__ == "__main__":
    main()
