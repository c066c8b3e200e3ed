"""How much memory a process takes; RLIMIT_AS for the handler of a child process, with something left for the report of its
MemoryError.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from postmill.domain.errors import DefinitionError

_RESERVE = 64 << 20


def memory_limit(limit: int | None) -> None:
    """From now on this process may have `limit` bytes of address space. Raises DefinitionError if it has more."""
    if limit is None:
        return
    have = _size()
    if have >= limit:
        raise DefinitionError(
            f"a memory limit of {limit >> 20} MiB is below what the child process has before the handler starts "
            f"({have >> 20} MiB of address space)"
        )
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    hard = limit + _RESERVE if most == resource.RLIM_INFINITY else min(most, limit + _RESERVE)
    resource.setrlimit(resource.RLIMIT_AS, (min(limit, hard), hard))


def lift_memory_limit() -> None:
    """The handler has ended: let its report have the reserve."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _size() -> int:
    """Bytes of address space in use; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def resident() -> int | None:
    """Bytes of memory that this process really takes; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
