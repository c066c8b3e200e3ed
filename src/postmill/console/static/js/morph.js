// Makes elements look like fresh ones without replacing them: what has the focus keeps it, what was opened stays open,
// what was ticked or typed stays so, and nothing loses its place. Elements are told apart by id; those without one by
// their place. Rows are another matter: while `frozen`, those of a table body are changed, never added, removed or moved.

const OWN = new Set(["open", "data-gone", "aria-selected"]); // attributes that belong to whoever looks, not to the server

/** Morphs the children of `parent` into those of `fresh`. Returns what was left out: `{ added, gone }`. */
function morph(parent, fresh, { frozen = false } = {}) {
  const left = { added: 0, gone: 0 };
  children(parent, fresh, frozen, left);
  return left;
}

function children(parent, fresh, frozen, left) {
  if (frozen && parent.matches?.("tbody, [data-rows]") && parent.querySelector(":scope > [id]")) return rows(parent, fresh, left);
  const wanted = new Set();
  for (const child of fresh.children) if (child.id) wanted.add(child.id);
  let here = parent.firstChild;
  for (const want of [...fresh.childNodes]) {
    const match = found(parent, here, want, wanted);
    if (!match) {
      parent.insertBefore(document.importNode(want, true), here);
      continue;
    }
    if (match !== here) here = bring(parent, here, match, wanted);
    node(match, want, frozen, left);
    here = match.nextSibling;
  }
  while (here) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

/** What is to become `want`: by its id anywhere among the children still to come, else the next one of its kind. */
function found(parent, here, want, wanted) {
  if (want.nodeType === Node.ELEMENT_NODE && want.id) {
    for (let one = here; one; one = one.nextSibling) if (one.id === want.id) return one.localName === want.localName ? one : null;
    return null;
  }
  for (let one = here; one; one = one.nextSibling) {
    if (one.id && wanted.has(one.id)) return null; // its turn comes later
    if (one.id) continue;
    if (one.nodeName === want.nodeName) return one;
    if (one.nodeType === Node.ELEMENT_NODE && want.nodeType === Node.ELEMENT_NODE) return null;
  }
  return null;
}

/** Puts `match` where `here` is. A moved element loses the focus: if it holds that, the others move out of its way. */
function bring(parent, here, match, wanted) {
  if (!match.contains(document.activeElement)) {
    parent.insertBefore(match, here);
    return match;
  }
  while (here !== match) {
    const next = here.nextSibling;
    if (here.id && wanted.has(here.id)) parent.append(here); else here.remove();
    here = next;
  }
  return match;
}

function node(old, want, frozen, left) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== want.nodeValue) old.nodeValue = want.nodeValue;
    return;
  }
  if (old.isEqualNode(want) || old.hasAttribute("data-keep")) return;
  if (old.localName !== want.localName) {
    old.replaceWith(document.importNode(want, true));
    return;
  }
  const sameMoment = old.localName === "time" && old.dateTime === want.dateTime; // its words are the script's (rel-time)
  attributes(old, want);
  if (sameMoment || old.localName === "textarea" && touched(old)) return;
  children(old, want, frozen, left);
}

function attributes(old, want) {
  const kept = touched(old);
  for (const { name } of [...old.attributes]) {
    if (!want.hasAttribute(name) && !OWN.has(name) && !(kept && (name === "value" || name === "checked"))) old.removeAttribute(name);
  }
  for (const { name, value } of want.attributes) {
    if (name === "class") {
      const current = old.classList.contains("current");
      if (old.getAttribute("class") !== value) old.setAttribute("class", value);
      if (current) old.classList.add("current");
    } else if (!OWN.has(name) && !(kept && (name === "value" || name === "checked")) && old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
}

/** Whether somebody typed or ticked here, or is about to. */
function touched(element) {
  if (!element.matches("input, textarea, select, option")) return false;
  if (element === document.activeElement) return true;
  if (element.localName === "option") return element.selected !== element.defaultSelected;
  if (element.localName === "select") return false;
  if (element.type === "checkbox" || element.type === "radio") return element.checked !== element.defaultChecked;
  return element.value !== element.defaultValue;
}

/** The whole table went: its rows stay, marked. Null: there were none. */
function allGone(element) {
  const old = element.querySelectorAll("tbody > [id]");
  for (const row of old) row.setAttribute("data-gone", "");
  return old.length ? { added: 0, gone: old.length } : null;
}

function rows(parent, fresh, left) {
  const present = new Map();
  for (const row of fresh.children) if (row.id) present.set(row.id, row);
  for (const row of [...parent.children]) {
    const want = present.get(row.id);
    present.delete(row.id);
    row.toggleAttribute("data-gone", !want && Boolean(row.id));
    if (want) node(row, want, false, left); else if (row.id) left.gone += 1;
  }
  left.added += present.size;
}
