// <time data-rel-time datetime="…">: how long ago, or until when, by the server's clock (data-now on <html>).

const clockOffset = (() => {
  const now = Date.parse(root.dataset.now ?? "");
  const [arrival] = performance.getEntriesByType("navigation");
  return Number.isNaN(now) ? 0 : now - (performance.timeOrigin + (arrival?.responseStart ?? 0));
})();

/** A length of time in words as the server writes them: `3 s`, `12 min`, `5 h`, `3 d`. */
function lengthOf(seconds) {
  const [size, unit] = seconds < 60 ? [1, "s"] : seconds < 3600 ? [60, "min"] : seconds < 172_800 ? [3600, "h"] : [86_400, "d"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function relative(moment, now = Date.now() + clockOffset) {
  const seconds = (now - moment) / 1000;
  return word(seconds < 0 ? "in" : "ago", { time: lengthOf(Math.abs(seconds)) });
}

function tellTimes(within = document) {
  if (!document.getElementById("words")?.dataset.ago) return;
  for (const time of within.querySelectorAll("time[data-rel-time]")) {
    const moment = Date.parse(time.dateTime);
    if (Number.isNaN(moment)) continue;
    const text = relative(moment);
    if (time.textContent !== text) time.textContent = text;
  }
}
