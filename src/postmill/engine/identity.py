"""Who a worker process is: hostname, process id and a uuid of its own, so that no successor is taken for it."""

from __future__ import annotations

import os
import socket
import uuid


def new_worker_id() -> str:
    """`hostname:pid:boot-uuid`, another one at each call: a host and a pid may come back, a boot does not."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4()}"
