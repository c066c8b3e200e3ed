// The control in the top bar: Live · Paused · Stale, when the last update was, how often, and a button to stop it all.

{
  const control = document.getElementById("live");
  const mode = control?.querySelector("output");
  const button = control?.querySelector("button");
  const choice = control?.querySelector("select");
  const STALE = 30_000;

  const show = () => {
    if (!mode) return;
    const why = stopped();
    const old = Date.now() - live.updated > Math.max(STALE, 3000 * live.interval);
    const now = why || (old || live.signedOut ? "stale" : "live");
    control.dataset.mode = now;
    const text = [word(now), live.trouble, word("ago", { time: lengthOf((Date.now() - live.updated) / 1000) })].filter(Boolean).join(" · ");
    if (mode.textContent !== text) mode.textContent = text;
    button?.setAttribute("aria-pressed", String(live.paused));
  };

  live.toggle = () => {
    live.paused = !live.paused;
    try { sessionStorage.setItem("postmill-paused", live.paused ? "1" : ""); } catch { /* for this page, then */ }
    say(word(live.paused ? "paused" : "live"));
    beat();
  };

  const wished = Number(memory.get("interval"));
  if ([2, 5, 15, 60].includes(wished)) live.interval = wished;
  try { live.paused = sessionStorage.getItem("postmill-paused") === "1"; } catch { /* not paused */ }
  if (control && live.regions.length) {
    control.hidden = false;
    if (choice) choice.value = String(live.interval);
    button?.addEventListener("click", live.toggle);
    choice?.addEventListener("change", () => {
      live.interval = Number(choice.value) || 2;
      memory.set("interval", String(live.interval));
      beat();
    });
    document.addEventListener("console:live", show);
    show();
  }
}
