// How a Node.js peer's program talks with the harness: the same lines as wire.py.
import { createInterface } from "node:readline";

const REPORT_EVERY_MS = 10;

export const now = () => process.hrtime.bigint();
export const settings = JSON.parse(process.env.PEER_SETTINGS);

/** Writes one JSON line for the harness; times are nanoseconds of the monotonic clock. */
export function say(fields) {
  const text = JSON.stringify(fields, (_, value) => (typeof value === "bigint" ? Number(value) : value));
  process.stdout.write(`${text}\n`);
}

/** Counts the jobs that this process's handler has seen. */
export class Tally {
  count = 0;
  first = 0n;
  #told = 0;

  constructor(trace) {
    this.trace = trace;
  }

  hit(number) {
    if (this.trace || this.count === 0) {
      const at = now();
      if (this.count === 0) this.first = at;
      if (this.trace) say({ started: number, at });
    }
    this.count += 1;
  }

  report() {
    return setInterval(() => {
      if (this.count === this.#told) return;
      this.#told = this.count;
      say({ count: this.count, first: this.first });
    }, REPORT_EVERY_MS);
  }
}

async function timed(jobs, call) {
  const begin = now();
  await call();
  say({ jobs, seconds: Number(now() - begin) / 1e9 });
}

async function* lines() {
  for await (const line of createInterface({ input: process.stdin })) yield line.trim();
}

async function work(peer, tally) {
  let stop;
  let timer;
  say({ ready: true });
  for await (const line of lines()) {
    if (line === "go") {
      stop = await peer.work(tally);
      timer = tally.report();
    } else if (line === "stop") break;
  }
  if (stop) await stop();
  clearInterval(timer);
  say({ count: tally.count, first: tally.first });
}

/** Does what the command line says: install, bulk N, single N, ping, work [trace]. */
export async function serve(peer) {
  const [verb, argument] = process.argv.slice(2);
  await peer.open(verb);
  if (verb === "install") {
    say({ installed: true });
  } else if (verb === "bulk") {
    const jobs = Number(argument);
    await timed(jobs, () => peer.bulk(jobs));
  } else if (verb === "single") {
    await peer.one(0);
    await timed(Number(argument) - 1, async () => {
      for (let number = 1; number < Number(argument); number += 1) await peer.one(number);
    });
  } else if (verb === "ping") {
    say({ ready: true });
    for await (const line of lines()) {
      const called = now();
      await peer.one(Number(line));
      say({ sent: Number(line), called, returned: now() });
    }
  } else {
    await work(peer, new Tally(argument === "trace"));
  }
  await peer.close();
  // An open pipe would keep the process alive.
  process.stdin.destroy();
}
