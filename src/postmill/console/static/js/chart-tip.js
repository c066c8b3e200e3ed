// [data-tip]: what a mark of a chart says, beside it at once. The pointer may go onto it, Escape sends it away.

{
  const tip = make("div", { className: "tip", role: "tooltip", hidden: true });
  let mark = null, title = null, timer = 0;

  const hide = () => {
    clearTimeout(timer);
    tip.hidden = true;
    if (mark && title) mark.prepend(title);
    mark = title = null;
  };
  const show = (found) => {
    clearTimeout(timer);
    if (found === mark) return;
    hide();
    mark = found;
    title = mark.querySelector(":scope > title"); // the browser's own tip would come on top of it
    title?.remove();
    tip.textContent = mark.dataset.tip;
    if (!tip.isConnected) document.body.append(tip);
    tip.hidden = false;
    const at = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(at.left + at.width / 2 - size.width / 2, innerWidth - size.width - 4));
    // Through the object model, which the policy of the page allows; an attribute it would not.
    tip.style.left = `${left}px`;
    tip.style.top = `${at.top > size.height + 8 ? at.top - size.height - 4 : at.bottom + 4}px`;
  };

  document.addEventListener("pointerover", (event) => {
    const found = event.target.closest?.("[data-tip]");
    if (found) show(found);
    else if (event.target === tip) clearTimeout(timer);
    else if (mark) { clearTimeout(timer); timer = setTimeout(hide, 300); }
  });
  document.addEventListener("focusin", (event) => {
    const found = event.target.closest?.("[data-tip]");
    if (found) show(found); else if (mark) hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && mark) hide(); });
  addEventListener("scroll", () => { if (mark) hide(); }, { passive: true, capture: true });
}
