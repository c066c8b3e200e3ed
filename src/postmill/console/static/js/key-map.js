// The keys: data-key="r" is pressed by r, data-go="j" by g and then j. Rows (tr[data-row], or any element with it)
// are walked with j and k. All of it can be switched off, in the settings (data-keys="off" on <body>).

{
  let prefix = "", prefixTimer = 0;
  const off = () => page.keys === "off";
  // What a closed menu holds has a place, and is not seen.
  const shown = (element) => element && element.getClientRects().length > 0 && element.checkVisibility() && !element.disabled;
  const rowsHere = () => [...document.querySelectorAll("[data-row]")].filter(shown);

  const current = () => {
    const focused = document.activeElement?.closest?.("[data-row]");
    return focused ?? document.querySelector("[data-row].current");
  };

  const walk = (step) => {
    const all = rowsHere();
    if (!all.length) return;
    const at = all.indexOf(current());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step))];
    for (const row of all) row.classList.toggle("current", row === next);
    const target = next.querySelector("a[href]") ?? next;
    if (target === next) next.tabIndex = -1;
    target.focus();
  };

  const openDialog = (dialog, opener) => {
    if (!dialog || dialog.open) return;
    dialog.showModal();
    dialog.addEventListener("close", () => opener?.focus({ preventScroll: true }), { once: true });
  };

  const isPanel = (details) => Boolean(details.closest("form") ?? details.querySelector("form"));

  // Whoever opens a panel is about to type: its first field takes what is typed, and no key does anything else meanwhile.
  const openPanel = (details) => {
    details.open = true;
    opened.add(details);
    const field = fieldOf(details);
    if (!field) return false;
    const body = field.closest("form");
    (details.contains(body) ? body : details).scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
    field.select?.();
    return true;
  };

  // What r replays: the chosen rows, else the one in focus; else it is pressed as other keys are: the whole list.
  const replayed = () => {
    const whole = document.querySelector("a[data-replay]");
    const chosen = [...document.querySelectorAll("[data-row] input[name=id]:checked")];
    const boxes = chosen.length ? chosen : [...(current()?.querySelectorAll("input[name=id]") ?? [])];
    if (!whole || !boxes.length) return false;
    const button = document.querySelector("[data-replay-chosen]");
    if (boxes.length > 12 && button) { // more than a query holds
      button.focus();
      tell(word("replayChosen", { n: boxes.length }));
      return true;
    }
    const to = new URL(whole.href);
    to.searchParams.set("q", `id:${boxes.map((box) => box.value).join(",")}`);
    location.assign(to.href);
    return true;
  };

  // Opens the actions of a menu, of a row, or of a place that holds several.
  const acts = (place) => {
    if (!shown(place)) return false;
    const row = place.matches("[data-row]");
    const menu = place.matches("details") ? place : row ? place.querySelector("details.menu") : null;
    const first = menu ? menu.querySelector("a, button") : [...place.querySelectorAll(row ? "button" : "button, summary, a[href]")].find(shown);
    if (!menu || !openPanel(menu)) first?.focus();
    return Boolean(menu ?? first);
  };

  const stretch = (step) => {
    const all = [...document.querySelectorAll("main nav[data-ranges] a")];
    const at = all.findIndex((one) => one.hasAttribute("aria-current"));
    const next = all[at < 0 ? (step > 0 ? all.length - 1 : 0) : at + step];
    if (next) next.click(); else tell(word(all.length ? "noRange" : "noRanges"));
  };

  const press = (key) => {
    if (key === "r" && replayed()) return true;
    const wanted = key.startsWith("g ") ? `[data-go="${CSS.escape(key.slice(2))}"]` : `[data-key="${CSS.escape(key)}"]`;
    // A link leads where it leads, also out of a closed menu.
    const all = [...document.querySelectorAll(wanted)];
    const target = all.find(shown) ?? all.find((one) => one.matches("a[href]"));
    if (!target) return false;
    if (target.matches("input, select, textarea")) { target.focus(); target.select?.(); } else target.click();
    return true;
  };

  const does = {
    j: () => walk(1),
    k: () => walk(-1),
    x: () => current()?.querySelector("input[type=checkbox]")?.click(),
    Enter: () => current()?.querySelector("a[href]")?.click(),
    ".": () => {
      const places = [...document.querySelectorAll(".when-chosen"), current(), ...document.querySelectorAll("main [data-actions]")];
      if (!places.some(acts)) tell(word("noActions"));
    },
    "[": () => stretch(-1),
    "]": () => stretch(1),
    "?": () => openDialog(document.getElementById("keys-help"), document.activeElement),
    "/": () => {
      const box = [...document.querySelectorAll("input[data-query], input[type=search]")].find(shown);
      box?.focus();
      box?.select();
    },
  };

  const escape = () => {
    const menu = document.querySelector("details.menu[open]") ?? panels().at(-1);
    if (menu) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    } else if (typing(document.activeElement)) document.activeElement.blur();
    else clearChosen();
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return; // it has keys of its own, and Escape closes it
    if (event.key === "Escape") return escape();
    if (off() || typing(event.target) || panels().length) return;
    // Enter on a control presses that control.
    if (event.key === "Enter" && event.target.closest?.("a, button, summary, input")) return;
    const key = prefix ? `${prefix} ${event.key}` : event.key;
    prefix = "";
    clearTimeout(prefixTimer);
    if (key === "g") {
      prefix = "g";
      prefixTimer = setTimeout(() => { prefix = ""; }, 1500);
      return;
    }
    if (press(key)) event.preventDefault();
    else if (does[key]) { event.preventDefault(); does[key](); }
  });

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest?.("[data-row]");
    if (row) for (const one of document.querySelectorAll("[data-row].current, [data-row]:focus-within")) one.classList.toggle("current", one === row);
  });

  document.addEventListener("click", (event) => {
    const panel = event.target.closest?.("summary")?.parentElement;
    if (panel && !panel.open && isPanel(panel)) {
      event.preventDefault(); // opened here and now: the next key that is pressed is for the field already
      openPanel(panel);
    }
    const opener = event.target.closest?.("[data-dialog]");
    if (opener) {
      event.preventDefault();
      openDialog(document.getElementById(opener.dataset.dialog), opener);
    }
    // A menu closes when something else is pressed.
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
}
