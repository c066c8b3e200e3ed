// One look after another at random pages: each is morphed into the next. Answers what went wrong first, or null.
(rounds, seed) => {
  let state = seed >>> 0;
  const random = (n) => { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
  const shuffled = (list) => { for (let i = list.length - 1; i > 0; i--) { const j = random(i + 1); [list[i], list[j]] = [list[j], list[i]]; } return list; };
  const some = (list) => list.filter(() => random(4));
  const noise = () => ["", "text ", "<p>a</p>", `<p class="x${random(3)}">b<b>c</b></p>`, "<!-- n -->", `<span title="${random(9)}">s</span>`][random(6)];
  const row = (id) => `<tr id="${id}"${random(2) ? ` class="c${random(3)}"` : ""}><td><input type="checkbox" id="${id}-box"${random(3) ? "" : " checked"}></td>`
    + `<td><a id="${id}-link" href="#${random(9)}">${id}</a>${noise()}</td><td id="${id}-log" style="display:block;height:20px;overflow:auto"><div>${"<br>".repeat(9)}${random(99)}</div></td>`
    + `<td><details id="${id}-more"><summary id="${id}-sum">more</summary>${noise()}</details></td><td><input id="${id}-text" value="${random(3)}"></td></tr>`;
  const section = (s) => `<section id="s${s}">${noise()}<h2>${random(5)}</h2>${noise()}<table><tbody>`
    + shuffled(some([0, 1, 2, 3, 4, 5])).map((r) => row(`s${s}r${r}`)).join("") + `</tbody></table>${noise()}</section>`;
  const look = () => noise() + shuffled(some([0, 1, 2])).map(section).join(noise()) + noise();
  const bare = (element) => {
    const copy = element.cloneNode(true);
    for (const one of copy.querySelectorAll("*")) for (const name of ["open", "checked", "value"]) one.removeAttribute(name);
    copy.normalize();
    return copy.innerHTML;
  };
  const place = document.body.appendChild(document.createElement("div"));
  place.append(parse(`<template data-part="all">${look()}</template>`).get("all").content);
  for (let round = 0; round < rounds; round++) {
    // Somebody does something …
    const all = [...place.querySelectorAll("[id]")];
    const boxes = new Map(), texts = new Map(), opened = new Map(), scrolled = new Map();
    for (const one of all) {
      if (one.type === "checkbox" && !random(4)) one.click();
      if (one.type === "text" && !random(6)) one.value = `typed ${round}`;
      if (one.localName === "details" && !random(4)) one.open = !one.open;
      if (one.id.endsWith("-log") && !random(4)) one.scrollTop = 10;
      if (one.type === "checkbox" && one.checked !== one.defaultChecked) boxes.set(one.id, one.checked);
      if (one.type === "text" && one.value !== one.defaultValue) texts.set(one.id, one.value);
      if (one.localName === "details") opened.set(one.id, one.open);
      if (one.scrollTop) scrolled.set(one.id, one.scrollTop);
    }
    const focusable = all.filter((one) => one.matches("a, input, summary"));
    const held = focusable[random(focusable.length + 1)];
    held?.focus();
    const before = new Map(all.map((one) => [one.id, one]));
    // … and the next look comes.
    const fresh = parse(`<template data-part="all">${look()}</template>`).get("all").content;
    const expected = document.createElement("div");
    expected.append(fresh.cloneNode(true));
    const frozen = !random(3);
    const ids = (root) => [...root.querySelectorAll("tbody")].map((body) => [body.closest("section").id, [...body.children].map((r) => r.id)]);
    const rowsBefore = new Map(ids(place));
    const began = performance.now();
    const left = morph(place, fresh, { frozen });
    globalThis.spent = (globalThis.spent ?? 0) + performance.now() - began;
    const wrong = (what) => `round ${round} of seed ${seed}, frozen ${frozen}: ${what}`;
    if (!frozen) {
      if (bare(place) !== bare(expected)) return wrong(`not alike\n${bare(place)}\n${bare(expected)}`);
      if (left.added || left.gone) return wrong("left something out");
    } else {
      for (const [id, rows] of ids(place)) {
        if (rowsBefore.get(id)?.length && rows.join() !== rowsBefore.get(id).join()) return wrong(`rows of ${id} moved: ${rowsBefore.get(id)} ${rows}`);
      }
    }
    const wanted = new Set([...expected.querySelectorAll("[id]")].map((one) => one.id));
    const same = (id) => before.has(id) && (wanted.has(id) || frozen) && document.getElementById(id) === before.get(id);
    for (const [id, one] of before) {
      // Its row and section are still there: so it must be the very same element.
      if (wanted.has(id) && document.getElementById(id) !== one) return wrong(`${id} was replaced`);
    }
    if (held && same(held.id) && document.activeElement !== held) return wrong(`${held.id} lost the focus`);
    for (const [id, checked] of boxes) if (same(id) && before.get(id).checked !== checked) return wrong(`${id} lost its tick`);
    for (const [id, text] of texts) if (same(id) && before.get(id).value !== text) return wrong(`${id} lost its text`);
    for (const [id, open] of opened) if (same(id) && before.get(id).open !== open) return wrong(`${id} was opened or closed`);
    for (const [id, top] of scrolled) if (Element.prototype.moveBefore && same(id) && before.get(id).scrollTop !== top) return wrong(`${id} was scrolled`);
    if (frozen) morph(place, expected.cloneNode(true)); // catch up
  }
  place.remove();
  return null;
}
