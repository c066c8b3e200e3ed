"""`postmill` in a shell, of a process that has it imported: the shell runs this file in place of it.

`sh` starts programs itself, so they cannot be forked from a zygote as what we start can. Beside the shell a fork of the
zygote waits at a desk, a socket whose name is in the environment. This file, as a program, needs 15 ms of processor: it
hands over its descriptors, words and variables there, and ends with the code of what was forked with them.
"""

import os
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Become = Callable[[dict[str, Any], list[int]], object]

NAME = "ZYGOTE_DESK"
LONGEST = 200_000


def open_desk(become: "Become") -> None:
    """Fork the process that waits; it goes when this one and all who come from it are gone."""
    near, far = socket.socketpair()
    name = f"postmill-desk-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as desk:
        desk.bind(f"\0{name}")
        desk.listen()
        if os.fork() == 0:
            near.close()
            _wait(desk, far, become)
    far.close()
    os.set_inheritable(near.detach(), True)
    os.environ[NAME] = name


def _wait(desk: socket.socket, far: socket.socket, become: "Become") -> "NoReturn":
    import select  # none of this in the program

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with open(os.devnull, "r+b") as nothing:
        for descriptor in range(3):
            os.dup2(nothing.fileno(), descriptor)
    while far not in select.select([desk, far], [], [])[0]:
        client = desk.accept()[0]
        if os.fork() == 0:
            _serve(client, become)
        client.close()
    os._exit(0)


def _serve(client: socket.socket, become: "Become") -> "NoReturn":
    import json

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, given, _, _ = socket.recv_fds(client, LONGEST, 3)
    pid = os.fork()
    if pid == 0:
        become(json.loads(text), given)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    client.send(str(code).encode())
    os._exit(0)


def main() -> None:
    import json

    order = {"argv": ["postmill", *sys.argv[1:]], "folder": os.getcwd(), "env": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as desk:
        desk.connect(f"\0{os.environ[NAME]}")
        socket.send_fds(desk, [json.dumps(order).encode()], [0, 1, 2])
        sys.exit(int(desk.recv(100)))


if __name__ == "__main__":
    main()
