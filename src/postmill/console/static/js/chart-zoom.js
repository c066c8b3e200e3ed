// Charts whose bars lead to lists of a span of time: to drag over several leads to the list of them all. The links stay:
// whoever does not drag presses the first bar, and changes until: in the query.

{
  let first = null, begun = 0, chosen = null, box = null;

  /** The list from the beginning of one bar to the end of another; null: they lead to no span. */
  const within = (one, other) => {
    const [url, end] = [one, other].map((bar) => new URL(bar.getAttribute("href"), location.href));
    const [q, until] = [url, end].map((each) => /(?:^|\s)until:(\S+)/.exec(each.searchParams.get("q") ?? ""));
    if (!q || !until) return null;
    url.searchParams.set("q", url.searchParams.get("q").replace(/(^|\s)until:\S+/, `$1until:${until[1]}`));
    return url;
  };
  const barsOf = (svg) => [...svg.querySelectorAll("a[href]")].filter((bar) => within(bar, bar));
  const stop = () => { first = chosen = null; box?.remove(); box = null; };

  document.addEventListener("pointerdown", (event) => {
    const bar = event.target.closest?.("svg a[href]");
    if (!bar || event.button !== 0 || event.pointerType === "touch" || !within(bar, bar)) return;
    first = bar;
    begun = event.clientX;
  });
  document.addEventListener("pointermove", (event) => {
    if (!first || (!box && Math.abs(event.clientX - begun) < 6)) return;
    const all = barsOf(first.ownerSVGElement).map((bar) => [bar, bar.getBoundingClientRect()]);
    const [left, right] = [begun, event.clientX].sort((a, b) => a - b);
    const under = all.filter(([, at]) => at.right > left && at.left < right).sort(([, a], [, b]) => a.left - b.left);
    if (!under.length) return;
    chosen = [under[0][0], under.at(-1)[0]];
    if (!box) document.body.append((box = make("div", { className: "zoom" })));
    const [from, to] = [under[0][1], under.at(-1)[1]];
    box.style.left = `${from.left}px`;
    box.style.top = `${from.top}px`;
    box.style.width = `${to.right - from.left}px`;
    box.style.height = `${from.height}px`;
  });
  document.addEventListener("pointerup", () => {
    const to = box && chosen && within(...chosen);
    if (box) addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); }, { capture: true, once: true });
    stop();
    if (to) location.assign(to);
  });
  document.addEventListener("dragstart", (event) => { if (first) event.preventDefault(); }); // a link would be carried away
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && first) stop(); });
}
