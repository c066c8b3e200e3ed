// Makes elements look like fresh ones without replacing them: what has the focus keeps it, what was opened stays open,
// what was ticked or typed stays so, and nothing loses its place. Elements are told apart by id; those without one by
// their place. Rows are another matter: while `frozen`, those of a table body are changed, never added, removed or moved.

const OWN = new Set(["open", "data-gone", "aria-selected"]); // attributes that belong to whoever looks, not to the server

/** Morphs the children of `parent` into those of `fresh`. Returns what was left out: `{ added, gone }`. */
function morph(parent, fresh, { frozen = false } = {}) {
  const look = { frozen, added: 0, gone: 0, ids: new Set([...fresh.querySelectorAll("[id]")].map((one) => one.id)) };
  children(parent, fresh, look);
  return { added: look.added, gone: look.gone };
}

function children(parent, fresh, look) {
  if (look.frozen && parent.matches?.("tbody, [data-rows]") && parent.querySelector(":scope > [id]")) return rows(parent, fresh, look);
  let here = parent.firstChild;
  for (const want of [...fresh.childNodes]) {
    const match = found(parent, here, want, look.ids);
    if (!match) {
      parent.insertBefore(document.importNode(want, true), here);
      continue;
    }
    if (match !== here) bring(parent, here, match, look.ids);
    node(match, want, look);
    here = match.nextSibling;
  }
  while (here) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

/** What is to become `want`, from `here` on: the one with its id, else one that holds the same ids, else one of its kind. */
function found(parent, here, want, ids) {
  const element = want.nodeType === Node.ELEMENT_NODE;
  const own = element ? (want.id ? want : want.querySelector("[id]")) : null;
  if (own) {
    for (const { id } of [own, ...(want.id ? [] : want.querySelectorAll("[id]"))]) {
      let one = document.getElementById(id);
      while (one && one.parentNode !== parent) one = one.parentNode;
      if (!one || !here || !(one === here || here.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      if (one.localName === want.localName && one.id === want.id) return one;
    }
    if (want.id) return null;
  }
  for (let one = here; one; one = one.nextSibling) {
    if (one.nodeName !== want.nodeName || one.id) continue;
    if (!element || !holds(one, ids)) return one; // what is inside of it will be wanted elsewhere
  }
  return null;
}

/** Whether it holds, or is, something that is wanted. */
function holds(one, ids) {
  return one.nodeType === Node.ELEMENT_NODE && (ids.has(one.id) || [...one.querySelectorAll("[id]")].some((inner) => ids.has(inner.id)));
}

/** Puts `match` before `here`. A moved element loses the focus where browsers have no moveBefore: then the others move. */
function bring(parent, here, match, ids) {
  if (parent.moveBefore) return parent.moveBefore(match, here);
  if (!match.contains(document.activeElement)) return parent.insertBefore(match, here);
  while (here !== match) {
    const next = here.nextSibling;
    if (holds(here, ids)) parent.append(here); else here.remove();
    here = next;
  }
}

function node(old, want, look) {
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
  children(old, want, look);
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
  for (const row of old) leave(row);
  return old.length ? { added: 0, gone: old.length } : null;
}

/** It is no longer there, and stays as it was: that stands in it (`data-gone`), whatever its figures say. */
function leave(row) {
  row.setAttribute("data-gone", word("old"));
}

function rows(parent, fresh, look) {
  const present = new Map();
  for (const row of fresh.children) if (row.id) present.set(row.id, row);
  for (const row of [...parent.children]) {
    const want = present.get(row.id);
    present.delete(row.id);
    row.removeAttribute("data-gone");
    if (want) node(row, want, look); else if (row.id) { leave(row); look.gone += 1; }
  }
  look.added += present.size;
}
