// The one script of the console. Everything works without it; it keeps pages fresh and hands on the keys.
// What people read comes from the page (<div id="words" data-…>): the catalogue of texts is the server's.

const page = document.body.dataset; // what the server says of this page: scope, stream, preferences

/** A text of the page's own words, `{name}` replaced by what is given. */
function word(name, values = {}) {
  const text = document.getElementById("words")?.dataset[name] ?? "";
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
}

/** Says it to those who listen: at most one text in ten seconds, the last one wins. */
const say = (() => {
  let next = 0, timer = 0;
  return (text) => {
    const tell = () => {
      const place = document.getElementById("status");
      if (place) place.textContent = text;
      next = Date.now() + 10_000;
    };
    clearTimeout(timer);
    timer = setTimeout(tell, Math.max(0, next - Date.now()));
  };
})();

/** Says it, and shows it for a while at the foot of the page. */
const tell = (() => {
  let note = null, timer = 0;
  return (text) => {
    note?.remove();
    note = make("p", { className: "told", textContent: text });
    document.querySelector("main")?.append(note);
    say(text);
    clearTimeout(timer);
    timer = setTimeout(() => note.remove(), 5000);
  };
})();

/** An element with properties, made without HTML. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const typing = (target) =>
  target instanceof Element && (target.matches("input:not([type=checkbox], [type=radio]), textarea, select") || target.isContentEditable);

// Panels: <details> with fields in it, that somebody has opened.
const FIELDS = "input:not([type=hidden], [disabled]), select:not([disabled]), textarea:not([disabled])";
const opened = new WeakSet();
const fieldOf = (details) => [...details.querySelectorAll(FIELDS)].find((one) => one.getClientRects().length > 0) ?? null;
const panels = () => [...document.querySelectorAll("details[open]")].filter((one) => opened.has(one) && fieldOf(one));
