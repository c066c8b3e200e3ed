"""Hosts of the tests: network namespaces, each on a cable of its own to this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Host:
    """A namespace with one network card. This machine is at `gateway`."""

    name: str
    cable: str
    gateway: str

    def within(self, *words: str) -> list[str]:
        """A command line that runs there."""
        return ["ip", "netns", "exec", self.name, *words]

    def cut(self) -> None:
        """Pull the cable: no packet comes or goes, and nobody is told."""
        _ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        """Put it back."""
        _ip("link", "set", self.cable, "up")


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """So many hosts, gone at the end. Skips the test where they cannot be made."""
    if shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        pytest.skip("not run: there is no ip (network namespaces); apt-get install iproute2")
    if os.geteuid() != 0:
        pytest.skip("not run: network namespaces need root; run the tests as root (apt-get install iproute2)")
    with ExitStack() as stack:
        yield [stack.enter_context(_host(number)) for number in range(count)]


@contextmanager
def _host(number: int) -> Iterator[Host]:
    # Every test process has names and a network of its own.
    mark = os.getpid()
    name, cable, there = f"mill-{mark}-{number}", f"pm{mark}h{number}", f"pm{mark}c{number}"
    network = f"10.{200 + number}.{mark // 64 % 256}.{mark % 64 * 4}"
    front, last = network.rsplit(".", 1)
    gateway, address = f"{front}.{int(last) + 1}", f"{front}.{int(last) + 2}"
    try:
        _ip("netns", "add", name)
    except subprocess.CalledProcessError as fault:
        pytest.skip(f"not run: network namespaces are not allowed here ({fault.stderr.strip()})")
    try:
        _ip("link", "add", cable, "type", "veth", "peer", "name", there)
        _ip("link", "set", there, "netns", name)
        _ip("addr", "add", f"{gateway}/30", "dev", cable)
        _ip("link", "set", cable, "up")
        for words in (f"addr add {address}/30 dev {there}", f"link set {there} up", "link set lo up"):
            _ip("-n", name, *words.split())
        yield Host(name, cable, gateway)
    finally:
        subprocess.run(["ip", "link", "del", cable], capture_output=True)
        _ip("netns", "del", name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
