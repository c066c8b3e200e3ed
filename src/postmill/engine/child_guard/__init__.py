"""The guard: a small process between the worker and each process that the worker does not trust.

    worker ──control socket── guard ──fork, exec── program (a command, or a handler in a child of its own)
                                                     └─ whatever that starts

One guard per program. It starts the program in a session and (for commands) a scratch folder of its own, drains
both output pipes into bounded tails, keeps the timeout and the grace period, and at the end kills what is left,
reaps it, removes the folder and reports in one frame. Why a process and not a few lines in the worker:

- **Subreaper.** Only a process that adopts orphans finds those grandchildren that left the process group. In the
  worker itself this cannot be done cleanly: it would adopt the orphans of every subprocess that handlers start, and
  could not tell them from the children that a handler is about to wait for. The guard's children are all its own.
  So it also does not matter whether the worker is PID 1: orphans come to the guard, never to the worker.
- **No fork in a process with threads.** Limits and PR_SET_PDEATHSIG are set between fork and exec, in a process
  that has one thread; and PDEATHSIG, which fires when the parent *thread* ends, means what it says.
- **Death of the worker**, by whatever signal, is seen on a pidfd and on the control socket. The guard then kills
  everything, reaps it and removes the folder. Should the guard itself be killed, the kernel kills the program
  (PDEATHSIG), and the worker kills its group.
- **A busy worker.** 1 GB of output, a blocked event loop or a frozen worker delay no timeout and cost the worker
  nothing; its side of a program is one small frame, the same on asyncio and on uvloop.

The price is one bare Python process while the program runs (about 20 ms of CPU, 10 MB of memory, mostly shared).
It is started as `python -I -S`, so the modules of this package import nothing but cheap parts of the standard
library, and each other by relative names: here they are `child_guard`, not `postmill.engine.child_guard`, so that
no `__init__` of Postmill runs.

Off Linux there is neither subreaper nor PDEATHSIG: group kills and the death of the worker work, grandchildren that
leave the group escape.
"""
