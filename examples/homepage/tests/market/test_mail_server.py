"""The stand-in speaks IMAP as Python's own client does, and more of it than that client asks for."""

from __future__ import annotations

import imaplib
import smtplib
import socket
import subprocess
import sys
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import pytest

from examples.upstreams.mail.imap import ImapServer


def test_words_as_literals_and_states(imap: ImapServer) -> None:
    """A password in a literal; nothing before LOGIN, nothing without SELECT, nothing that is not known."""
    with socket.create_connection(("127.0.0.1", imap.port), timeout=10) as line, line.makefile("rwb") as file:
        [(user, password)] = imap.accounts.items()

        def say(text: str) -> str:
            file.write(text.encode() + b"\r\n")
            file.flush()
            return file.readline().decode().strip()

        assert file.readline().startswith(b"* OK [CAPABILITY IMAP4rev1")
        assert say('1 SELECT "INBOX"') == "1 BAD SELECT is not for this state"
        assert say("2 DANCE") == "2 BAD DANCE is not known here"
        assert say(f"3 LOGIN {user} {{{len(password)}}}") == "+ go on"
        assert say(password) == "3 OK logged in"
        assert say("4 UID SEARCH UID 1:*") == "4 BAD UID SEARCH is not for this state"
        assert say("5 SELECT Sent").startswith("5 NO [NONEXISTENT]")
        assert say("6 LOGIN {4+}\r\nsome {2+}\r\none").startswith("6 NO [AUTHENTICATIONFAILED]")


def test_flags_ranges_and_parts(imap: ImapServer) -> None:
    """STORE with and without an answer; UIDs that are gone; a part of a mail."""
    for text in (b"A: 1\n\none", b"A: 2\n\ntwo", b"A: 3\n\nthree"):
        imap.folder.add(text)
    imap.folder.delete(2)
    with imaplib.IMAP4("127.0.0.1", imap.port, timeout=10) as client:
        client.login(*next(iter(imap.accounts.items())))
        assert client.select() == ("OK", [b"2"])
        assert client.uid("SEARCH", "UID 1,3:*")[1] == [b"1 3"]
        assert client.uid("STORE", "3", "+FLAGS", r"(\Seen)")[1] == [rb"2 (UID 3 FLAGS (\Seen))"]
        assert client.uid("STORE", "3", "-FLAGS.SILENT", r"(\Seen)")[1] == [None]
        assert client.uid("FETCH", "1:*", "(UID BODY.PEEK[]<6.3>)")[1][0] == (
            b"1 (UID 1 BODY[]<6> {3}",
            b"\r\no",
        )
        assert client.uid("FETCH", "3", "(BODY[HEADER])")[1][0] == (
            b"2 (UID 3 BODY[HEADER] {8}",
            b"A: 3\r\n\r\n",
        )


@pytest.mark.long  # its imports are half a second of processor
def test_as_a_process() -> None:
    """What goes out by SMTP is there by IMAP; it ends with its standard input."""
    command = [sys.executable, "-m", "examples.upstreams.mail"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        smtp, imap = (urlsplit(server.stdout.readline().strip()) for _ in range(2))
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@b.example", "c@d.example", "Hello"
        mail.set_content("you")
        with smtplib.SMTP("127.0.0.1", smtp.port or 0, timeout=10) as sender:
            sender.send_message(mail)
        with imaplib.IMAP4("127.0.0.1", imap.port or 0, timeout=10) as client:
            client.login(unquote(imap.username or ""), unquote(imap.password or ""))
            assert client.select() == ("OK", [b"1"])
            found = client.uid("FETCH", "1", "(BODY.PEEK[])")[1][0]
        assert b"Subject: Hello" in found[1]
        server.stdin.close()
        assert server.wait(10) == 0
