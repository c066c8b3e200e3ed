// pg-boss under the benchmark: full batches fetched without a pause, and LISTEN/NOTIFY for the idle pick-up.
import { PgBoss } from "pg-boss";
import { serve, settings } from "./wire.mjs";

const QUEUE = "noop";
let boss;

await serve({
  async open(verb) {
    const upkeep = verb === "work" || verb === "install";
    boss = new PgBoss({
      max: settings.pool,
      supervise: upkeep,
      schedule: upkeep,
      migrate: verb === "install",
      useListenNotify: verb === "work",
    });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    if (verb === "install") await boss.createQueue(QUEUE, { notify: true });
  },
  async bulk(jobs) {
    const size = settings.insertBatch;
    for (let start = 0; start < jobs; start += size) {
      const length = Math.min(size, jobs - start);
      await boss.insert(QUEUE, Array.from({ length }, (_, i) => ({ data: { n: start + i } })));
    }
  },
  async one(n) {
    await boss.send(QUEUE, { n });
  },
  async work(tally) {
    await boss.work(QUEUE, settings.work, async (jobs) => {
      for (const job of jobs) tally.hit(job.data.n);
    });
    return () => boss.offWork(QUEUE);
  },
  async close() {
    await boss.stop({ graceful: true });
  },
});
