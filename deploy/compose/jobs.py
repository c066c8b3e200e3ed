"""The job types of compose.yaml's workers: put yours here."""

import asyncio

from postmill import Context, job


@job
async def greet(ctx: Context, name: str, times: int = 3) -> str:
    """Says hello, a second at a time."""
    for n in range(times):
        ctx.progress(n, times, f"greeting {name}")
        await asyncio.sleep(1)
    return f"Hello {name}, {times} times!"
