// The control in the top bar: Live · Paused · Stale, when the last update was, how often, and a button to stop it all. What is
// chosen is kept as the form without the script would keep it.

{
  const control = document.querySelector("[data-live-control]");
  const state = control?.querySelector("[data-live-state]");
  const button = control?.querySelector("[data-live-toggle]");
  const choice = control?.querySelector("[data-live-interval]");
  const STALE = 30_000;

  const show = () => {
    if (!state) return;
    const age = Date.now() - live.updated;
    const old = live.signedOut || age > Math.max(STALE, 3000 * live.interval);
    const mode = stopped() || (old ? "stale" : "live");
    control.dataset.mode = mode;
    const text = [word(mode === "live" ? "fresh" : mode), live.trouble, inWords(age / 1000)].filter(Boolean).join(" · ");
    if (state.textContent !== text) state.textContent = text;
    const label = word(live.paused ? "resume" : "pause");
    if (button.textContent !== label) button.textContent = label;
  };

  const keep = () => {
    control.elements.live.value = live.paused ? "off" : "on";
    fetch(control.action, { method: "POST", body: new URLSearchParams(new FormData(control)), redirect: "manual" }).catch(() => {});
  };

  if (control) {
    control.addEventListener("submit", (event) => {
      event.preventDefault();
      live.paused = !live.paused;
      say(word(live.paused ? "paused" : "fresh"));
      keep();
      beat();
    });
    choice?.addEventListener("change", () => {
      live.interval = Number(choice.value);
      keep();
      beat();
    });
    document.addEventListener("console:live", show);
    if (live.regions.length) show(); else control.hidden = true; // nothing on this page is live
  }
}
