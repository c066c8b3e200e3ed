// <div id="part-x" data-live="x" data-topic="jobs errors">: is asked for when pinged, and now and then without; never while
// somebody selects, has a menu or a dialog open, or does not look. Those that are due at once are asked for at once. With
// data-with more is said when it is asked for, with data-morph its rows stay where they are; with data-morph="free" only while
// the pointer or the focus is among them.

const live = {
  regions: [],
  paused: page.liveOn === "off",
  interval: Number(page.interval) || 5, // seconds between two updates, at least
  updated: Date.now(),
  began: Date.now(),
  trouble: "",
  signedOut: false,
  changed() { document.dispatchEvent(new Event("console:live")); },
};

const POLL = 5; // seconds, where no pings come
const ANYWAY = 15; // seconds after which a region asks without a ping: times and heartbeats go on
const TOGETHER = 20; // ms for what is told at once to come in: then one request asks for all of it
const READ = 8_000; // ms in which a line can be read
const LONGEST = 60; // seconds between two tries when the server fails

/** Why nothing may change now: "paused", "held" (somebody is at work) or "". */
function stopped() {
  if (live.paused) return "paused";
  const selection = getSelection();
  const busy = document.querySelector(
    "dialog[open], details.menu[open], :is([popover]:popover-open), [role=combobox][aria-expanded=true], [data-bulk] tbody input[type=checkbox]:checked",
  );
  const chosen = selection && !selection.isCollapsed && document.querySelector("main")?.contains(selection.anchorNode);
  return busy || chosen || panels().length ? "held" : "";
}

class Region {
  constructor(element) {
    this.element = element;
    this.topics = (element.dataset.topic ?? "").split(/\s+/).filter(Boolean);
    this.etag = "";
    this.asked = Date.now();
    this.pinged = false;
    this.failures = 0;
    this.busy = false;
    this.over = false;
    this.button = null;
    this.waiting = null; // what it shows as soon as nobody is among its rows
  }

  /** Whether its rows stay where they are, as they are. */
  get still() {
    const { morph: how } = this.element.dataset;
    return how !== undefined && (how !== "free" || Boolean(this.element.querySelector("table:hover, tbody :focus")));
  }

  /** Nobody is among its rows any more: they come and go by themselves. */
  free() {
    if (this.waiting && !this.still) this.show(this.waiting, false);
  }

  hears(topic) {
    if (topic === null) return true;
    const [name, scope] = topic.split(":");
    const own = page.scope ?? "ops";
    return this.topics.includes(name) && (scope === own || (scope === "*" && own !== "ops"));
  }

  /** When it may ask again, in ms since 1970. */
  get due() {
    if (this.failures) return this.asked + Math.min(LONGEST, Math.max(live.interval, POLL) * 2 ** this.failures) * 1000;
    const gap = this.pinged ? live.interval : bus.live ? Math.max(live.interval, ANYWAY) : Math.max(live.interval, POLL);
    return this.asked + gap * 1000;
  }

  begin() {
    this.busy = true;
    this.pinged = false;
    this.asked = Date.now();
  }

  /** What came of it: its tag and, where it is another one than before, its template. */
  take(tag, part) {
    if (part && "over" in part.dataset) return this.end();
    if (part) {
      this.etag = tag;
      this.show(part.content, this.still);
    }
    this.failures = 0;
    this.element.classList.remove("stale");
  }

  /** It was taken away: what is here is old for good. */
  end() {
    this.over = true;
    this.element.classList.add("stale");
  }

  failed() {
    this.failures += 1;
    live.trouble = word("trouble");
    if (this.failures > 1) this.element.classList.add("stale");
  }

  show(fresh, frozen) {
    const within = this.element.contains(document.activeElement);
    const kept = frozen && !fresh.querySelector("tbody > [id]") ? allGone(this.element) : null;
    const left = kept ?? morph(this.element, fresh.cloneNode(true), { frozen });
    if (within && !this.element.contains(document.activeElement)) {
      this.element.tabIndex = -1; // what had the focus is gone: stay near
      this.element.focus({ preventScroll: true });
    }
    tellTimes(this.element);
    this.offer(left, fresh);
    const summary = this.element.querySelector("[data-say]")?.textContent.trim();
    if (summary && summary !== this.summary) {
      if (this.summary !== undefined) say(summary);
      this.summary = summary;
    }
  }

  /** "12 new – show": rows come and go only when somebody asks for it, or is gone. */
  offer({ added, gone }, fresh) {
    this.button?.remove();
    this.button = this.waiting = null;
    if (!added && !gone) return;
    if (this.element.dataset.morph === "free") this.waiting = fresh;
    const text = word(added && gone ? "newAndGone" : added ? "new" : "gone", { n: added || gone, gone });
    this.button = make("button", { type: "button", className: "btn btn-primary news", textContent: text });
    this.button.addEventListener("click", () => {
      this.show(fresh, false);
      this.element.tabIndex = -1;
      this.element.focus({ preventScroll: true });
    });
    this.element.before(this.button);
    say(text);
  }
}

/** One request for all of these regions. */
async function ask(regions) {
  const url = new URL(location.href);
  url.hash = "";
  for (const { element } of regions) {
    url.searchParams.append("_part", element.dataset.live);
    for (const [name, value] of new URLSearchParams(element.dataset.with)) url.searchParams.append(name, value);
  }
  const tags = regions.map((region) => region.etag);
  for (const region of regions) region.begin();
  try {
    const answer = await fetch(url, {
      headers: tags.some(Boolean) ? { "If-None-Match": `"${tags.join(".")}"` } : {},
      cache: "no-store",
      redirect: "manual",
      signal: AbortSignal.timeout(15_000),
    });
    await take(answer, regions);
  } catch {
    for (const region of regions) region.failed();
  }
  for (const region of regions) region.busy = false;
  beat(); // one of them may have been pinged meanwhile
}

async function take(answer, regions) {
  if (answer.status === 401 || answer.type === "opaqueredirect") return signOut();
  if (answer.status === 403 || answer.status === 404 || answer.status === 410) {
    for (const region of regions) region.end();
    return;
  }
  const same = answer.status === 304;
  const parts = same ? new Map() : parse(await answer.text());
  if (!same && (answer.status !== 200 || !parts.size)) throw new TypeError("no parts of this page, whatever it is");
  if (!same && (stopped() || document.hidden)) { // meanwhile somebody began to select
    for (const region of regions) region.pinged = true;
    return;
  }
  const tags = (answer.headers.get("etag") ?? "").replace(/^W\/|"/g, "").split(".");
  for (const [n, region] of regions.entries()) {
    try { region.take(tags[n] ?? "", parts.get(region.element.dataset.live)); } catch { region.failed(); }
  }
  live.updated = Date.now();
  if (!regions.some((region) => region.failures)) live.trouble = "";
  // What an act had to say was read by now; its place stays while the pointer is on the page: nothing moves under it.
  const said = document.querySelector(".flash");
  if (said && live.updated - live.began > READ) {
    if (document.querySelector("main:hover")) said.classList.add("read"); else said.remove();
  }
}

/** The login is over: the whole page goes to log in, once; where somebody is writing, a note says so instead. */
function signOut() {
  if (live.signedOut) return;
  live.signedOut = true;
  const writing = document.querySelector("dialog[open]")
    || [...document.querySelectorAll("main :is(textarea, input)")].some((box) => box.type !== "hidden" && touched(box));
  if (!writing) {
    location.reload(); // the server answers with the login, which leads back here
    return;
  }
  live.trouble = word("signedOut");
  say(live.trouble);
  live.changed();
}

let soon = 0; // the timer of a beat that comes before the next whole second

function beatIn(ms) {
  clearTimeout(soon);
  soon = setTimeout(beat, ms);
}

function beat() {
  if (document.hidden || live.signedOut) return;
  if (!live.paused) tellTimes();
  if (!stopped()) {
    const now = Date.now();
    for (const region of live.regions) region.free();
    const free = live.regions.filter((region) => !region.busy && !region.over);
    const due = free.filter((region) => region.due <= now);
    if (due.length) ask(due);
    const next = Math.min(...free.filter((region) => region.pinged).map((region) => region.due - now));
    if (next < 1000) beatIn(next);
  }
  live.changed();
}

bus.listeners.add((topic) => {
  for (const region of live.regions) if (region.hears(topic)) region.pinged = true;
  beatIn(TOGETHER);
});

live.regions = [...document.querySelectorAll("[data-live]")].map((element) => new Region(element));
setInterval(beat, 1000);
document.addEventListener("visibilitychange", beat);
