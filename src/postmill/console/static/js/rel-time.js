// <time data-rel-time datetime="…">: how long ago, or until when, by the server's clock (data-now on <body>), in the words
// of the server ("since": without ago). <time data-abs-time>: by this browser's clock where that was chosen.

const clockOffset = (() => {
  const now = Date.parse(page.now ?? "");
  const [arrival] = performance.getEntriesByType("navigation");
  return Number.isNaN(now) ? 0 : now - (performance.timeOrigin + (arrival?.responseStart ?? 0));
})();

const UNITS = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** A length of time as the server writes it: `1.2 s`, `48 s`, `3 min 10 s`, `5 h 2 min`, `12 d 4 h`. */
function lengthOf(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const place = UNITS.findIndex(([size]) => whole >= size);
  const [size, unit] = UNITS[place];
  const count = Math.floor(whole / size);
  const [smaller, name] = UNITS[place + 1] ?? [1, ""];
  const second = name ? Math.floor((whole % size) / smaller) : 0;
  return second && count < 20 ? `${count} ${unit} ${second} ${name}` : `${count} ${unit}`;
}

/** How far a moment is from now: in whole seconds, for tenths that run would be read by nobody. */
function inWords(apart, since = false) {
  const far = Math.abs(apart);
  if (far < 1 && !since) return word("now");
  const time = far < 9.95 ? `${Math.round(far)} s` : lengthOf(far);
  return since ? time : word(apart > 0 ? "ago" : "in", { time });
}

function tellTimes(within = document) {
  const now = Date.now() + clockOffset;
  for (const time of within.querySelectorAll("time[data-rel-time]")) {
    const apart = (now - Date.parse(time.dateTime)) / 1000;
    if (Number.isNaN(apart)) continue;
    const text = inWords(apart, time.dataset.relTime === "since");
    if (time.textContent !== text) time.textContent = text;
  }
  if (page.clock !== "local") return;
  for (const time of within.querySelectorAll("time[data-abs-time]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const parts = moment.toLocaleString("sv-SE", { timeZoneName: "short" }); // 2026-11-28 10:41:07 CET
    if (time.textContent !== parts) time.textContent = parts;
  }
}
