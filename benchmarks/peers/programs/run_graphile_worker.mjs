// graphile-worker under the benchmark: local queue and batched completion, as its page on performance advises.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { serve, settings } from "./wire.mjs";

const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});
const worker = {
  concurrentJobs: settings.concurrentJobs,
  maxPoolSize: settings.maxPoolSize,
  localQueue: settings.localQueue,
  completeJobBatchDelay: settings.completeJobBatchDelay,
  failJobBatchDelay: settings.failJobBatchDelay,
};

let utils;

await serve({
  async open(verb) {
    if (verb === "work") return;
    utils = await makeWorkerUtils({ logger });
    if (verb === "install") await utils.migrate();
  },
  async bulk(jobs) {
    const size = settings.enqueueBatch;
    for (let start = 0; start < jobs; start += size) {
      const length = Math.min(size, jobs - start);
      await utils.addJobs(Array.from({ length }, (_, i) => ({ identifier: "noop", payload: { n: start + i } })));
    }
  },
  async one(n) {
    await utils.addJob("noop", { n });
  },
  async work(tally) {
    const taskList = { noop: async ({ n }) => tally.hit(n) };
    const runner = await run({ logger, taskList, noHandleSignals: true, preset: { worker } });
    return () => runner.stop();
  },
  async close() {
    await utils?.release();
  },
});
