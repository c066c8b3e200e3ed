"""`python -m examples.upstreams.mail --smtp 8025 --imap 8143`: a mail server as a process of its own.

All that it takes by SMTP is in the INBOX that it shows by IMAP; whoever wants to answer as one side writes to the masked address
that stands there. The first two lines on stdout are what goes into MAIL_SMTP_URL and MAIL_IMAP_URL. It ends when its
standard input does, or at a signal.
"""

from __future__ import annotations

import argparse
from urllib.parse import quote

from examples.upstreams.mail.imap import ImapServer
from examples.upstreams.mail.smtp import MailServer
from examples.upstreams.process import serve


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(prog="mail", description="stand-in for a mail server")
    parser.add_argument("--smtp", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--imap", type=int, default=0, help="the same")
    options = parser.parse_args()
    imap, smtp = ImapServer(options.imap), MailServer()
    smtp.deliver = lambda raw, recipients: imap.folder.add(b"Return-Path: <sent@here>\r\n" + raw)
    [(user, password)] = imap.accounts.items()
    print(smtp.start(options.smtp), flush=True)
    try:
        serve(imap, f"imap://{user}:{quote(password)}@127.0.0.1:{imap.port}/INBOX")
    finally:
        smtp.stop()


if __name__ == "__main__":
    main()
