"""Runs Postmill and its peers on one PostgreSQL server and writes the comparison.

``python benchmarks/peers/run.py [--jobs N] [--only NAME] [--json]``; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import chart
from benchmarks.peers import measure, own, table
from benchmarks.peers.peers import PEERS
from benchmarks.peers.place import served
from benchmarks.peers.toolchain import prepare

ROOT = Path(__file__).resolve().parents[2]
POSTMILL = "postmill"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    names = [POSTMILL, *(peer.name.lower() for peer in PEERS)]
    parser = argparse.ArgumentParser(description="Postmill and its peers on one PostgreSQL server.")
    parser.add_argument(
        "--jobs", type=int, default=100_000, help="no-op jobs to drain (default: %(default)s)"
    )
    parser.add_argument(
        "--commits", type=int, default=3000, help="single-row enqueues (default: %(default)s)"
    )
    parser.add_argument("--samples", type=int, default=200, help="idle pick-ups (default: %(default)s)")
    parser.add_argument("--only", action="append", type=str.lower, choices=names, help="may be repeated")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, not as a table")
    parser.add_argument("--dsn", help="a PostgreSQL server to use, as a superuser (default: its own)")
    parser.add_argument(
        "--work", type=Path, default=ROOT / ".cache" / "peers", help="where peers are installed (%(default)s)"
    )
    return parser.parse_args(given)


async def run(wanted: argparse.Namespace) -> dict[str, Any]:
    """The whole run; returns the results."""
    peers = [peer for peer in PEERS if not wanted.only or peer.name.lower() in wanted.only]
    toolchain = prepare(wanted.work) if peers else None
    size = measure.Size(wanted.jobs, wanted.commits, wanted.samples)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    with served(wanted.dsn, wanted.work / "server") as place:
        results: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "memory_gib": round(memory), "system": platform.system()},
            "server": place.facts(),
            "run": {"jobs": size.jobs, "commits": size.commits, "samples": size.samples},
            "systems": [],
        }
        if not wanted.only or POSTMILL in wanted.only:
            results["systems"] += await own.measure(place, size)
        for peer in peers:
            assert toolchain is not None
            results["systems"].append(await measure.measure(peer, toolchain, place, size))
    return results


def without_paths(results: dict[str, Any], *folders: Path) -> dict[str, Any]:
    """The results with this machine's folders taken out of the reasons that programs gave."""
    text = json.dumps(results)
    for folder in folders:
        text = text.replace(json.dumps(f"{folder}/")[1:-1], "")
    clean: dict[str, Any] = json.loads(text)
    return clean


def write(results: dict[str, Any], into: Path, assets: Path) -> None:
    """Writes the JSON, the table and the chart."""
    for folder in (into, assets):
        folder.mkdir(parents=True, exist_ok=True)
    (into / "latest.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    (assets / "peers.md").write_text(table.markdown(results), encoding="utf-8")
    (assets / "peers.svg").write_text(chart.svg(results), encoding="utf-8")


def main() -> int:
    """Runs, writes and prints; 1 when a peer's case failed, 2 when the peers cannot be installed."""
    wanted = arguments()
    try:
        results = asyncio.run(run(wanted))
    except subprocess.CalledProcessError as error:
        print(
            f"the peers could not be installed: {error.cmd[0]} ended with {error.returncode}", file=sys.stderr
        )
        return 2
    results = without_paths(results, Path(sys.executable).parent, wanted.work.absolute(), ROOT, Path.home())
    if wanted.only:
        # A partial run never replaces the published comparison.
        write(results, wanted.work / "partial", wanted.work / "partial")
    else:
        write(results, ROOT / "benchmarks" / "results", ROOT / "docs" / "assets")
    print(json.dumps(results, indent=2) if wanted.json else table.markdown(results), end="")
    failed = any(s["not_run"] for s in results["systems"] if not s["name"].startswith("Postmill"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
