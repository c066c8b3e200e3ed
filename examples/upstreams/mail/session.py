"""One connection to the IMAP server."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BufferedIOBase
from typing import TYPE_CHECKING

from examples.upstreams.mail.folder import Mail

if TYPE_CHECKING:
    from examples.upstreams.mail.imap import ImapServer

_LITERAL = re.compile(rb"\{(\d+)(\+?)\}\r?\n$")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_SECTION = re.compile(r"BODY(?:\.PEEK)?\[(HEADER)?\](?:<(\d+)\.(\d+)>)?", re.IGNORECASE)
_CAPABILITIES = "IMAP4rev1 LITERAL+"


class Cut(ConnectionError):
    """The line breaks here, by plan."""


class Session:
    """Reads commands and answers them, until LOGOUT or the end of the line."""

    def __init__(self, server: ImapServer, reader: BufferedIOBase, writer: BufferedIOBase) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._in = self._selected = False
        self._breaking = False

    def run(self) -> None:
        """Until the end."""
        self._write(f"* OK [CAPABILITY {_CAPABILITIES}] a small server")
        while (words := self._command()) is not None:
            tag, name, *arguments = [*words, "", ""][: max(len(words), 2)]
            answer = self._do(name.upper(), arguments)
            self._write(f"{tag} {answer}")
            if name.upper() == "LOGOUT":
                return

    def _command(self) -> list[str] | None:
        words: list[str] = []
        while line := self._reader.readline(65536):
            literal = _LITERAL.search(line)
            text = (line[: literal.start()] if literal else line).decode("utf-8", "replace").strip()
            words += [_unquoted(found) for found in _WORD.finditer(text)]
            if literal is None:
                return words
            if not literal[2]:
                self._write("+ go on")
            words.append(self._reader.read(int(literal[1])).decode("utf-8", "replace"))
        return None

    def _do(self, name: str, arguments: list[str]) -> str:
        said = " ".join([name, *([] if name == "LOGIN" else arguments)])
        self._server.commands.append(said)
        self._plan(said)
        if name == "UID" and arguments:
            name, arguments = f"UID {arguments[0].upper()}", arguments[1:]
        free: dict[str, Callable[[list[str]], str]] = {
            "CAPABILITY": self._capability, "NOOP": self._noop, "LOGIN": self._login, "LOGOUT": self._logout,
        }  # fmt: skip
        known: dict[str, Callable[[list[str]], str]] = {
            "SELECT": self._select, "EXAMINE": self._select, "CLOSE": self._close,
            "UID SEARCH": self._search, "UID FETCH": self._fetch, "UID STORE": self._store,
        }  # fmt: skip
        if name in free:
            return free[name](arguments)
        if name not in known:
            return f"BAD {name} is not known here"
        if not self._in or (name.startswith("UID") and not self._selected):
            return f"BAD {name} is not for this state"
        return known[name](arguments)

    def _plan(self, said: str) -> None:
        if self._server.stalled and said.startswith(self._server.stalled):
            self._server.waiting.set()
            self._server.go_on.wait()
        if self._server.cut and said.startswith(self._server.cut):
            self._server.cut, self._breaking = None, True

    def _capability(self, arguments: list[str]) -> str:
        self._write(f"* CAPABILITY {_CAPABILITIES}")
        return "OK done"

    def _noop(self, arguments: list[str]) -> str:
        return "OK done"

    def _login(self, arguments: list[str]) -> str:
        user, password = [*arguments, "", ""][:2]
        self._in = not self._server.refusing and self._server.accounts.get(user) == password
        return "OK logged in" if self._in else "NO [AUTHENTICATIONFAILED] who are you?"

    def _logout(self, arguments: list[str]) -> str:
        self._write("* BYE")
        return "OK done"

    def _close(self, arguments: list[str]) -> str:
        self._selected = False
        return "OK done"

    def _select(self, arguments: list[str]) -> str:
        if not arguments or arguments[0].upper() != "INBOX":
            return "NO [NONEXISTENT] there is only INBOX"
        self._selected, folder = True, self._server.folder
        self._write(f"* {len(folder.all())} EXISTS")
        self._write("* FLAGS (\\Seen \\Deleted)")
        self._write(f"* OK [UIDVALIDITY {folder.validity}] so it is")
        return "OK [READ-WRITE] selected"

    def _search(self, arguments: list[str]) -> str:
        ranges = arguments[1] if arguments[:1] == ["UID"] and len(arguments) == 2 else "1:*"
        self._write(
            " ".join(["* SEARCH", *(str(mail.uid) for _, mail in self._server.folder.within(ranges))])
        )
        return "OK done"

    def _fetch(self, arguments: list[str]) -> str:
        wanted = " ".join(arguments[1:])
        for number, mail in self._server.folder.within(arguments[0]):
            head = f"* {number} FETCH (UID {mail.uid}"
            if "RFC822.SIZE" in wanted.upper():
                head += f" RFC822.SIZE {len(mail.raw)}"
            section = _SECTION.search(wanted)
            if section is None:
                self._write(head + ")")
                continue
            self._literal(head, section, mail)
        return "OK done"

    def _literal(self, head: str, section: re.Match[str], mail: Mail) -> None:
        data = mail.header if section[1] else mail.raw
        mark = f"BODY[{section[1] or ''}]"
        if section[2]:
            begin = int(section[2])
            data, mark = data[begin : begin + int(section[3])], f"{mark}<{begin}>"
        self._write(f"{head} {mark} {{{len(data)}}}")
        if self._breaking:
            self._writer.write(data[: len(data) // 2])
            self._writer.flush()
            raise Cut
        self._writer.write(data)
        self._write(")")

    def _store(self, arguments: list[str]) -> str:
        change, flags = arguments[1].upper(), set(" ".join(arguments[2:]).strip("()").split())
        for number, mail in self._server.folder.within(arguments[0]):
            mail.flags = mail.flags - flags if change.startswith("-") else mail.flags | flags
            if not change.endswith(".SILENT"):
                self._write(f"* {number} FETCH (UID {mail.uid} FLAGS ({' '.join(sorted(mail.flags))}))")
        return "OK done"

    def _write(self, line: str) -> None:
        if self._breaking and not line.startswith("* "):
            raise Cut
        self._writer.write(line.encode() + b"\r\n")


def _unquoted(found: re.Match[str]) -> str:
    return found[2] if found[1] is None else re.sub(r"\\(.)", r"\1", found[1])
