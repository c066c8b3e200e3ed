// <input data-query data-facets="…">: completes the term at the caret. An ARIA combobox with a list of its own; the
// server answers [{"text": "state:dead_letter", "note": "1,204"}] for ?term=…, out of its small table of facets.

class QueryBox {
  constructor(input) {
    this.input = input;
    this.list = make("ul", { id: `${input.id || "query"}-options`, className: "options", role: "listbox", hidden: true });
    this.list.setAttribute("aria-label", word("suggestions"));
    this.at = -1;
    input.after(this.list);
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id, autocomplete: "off",
    })) input.setAttribute(name, value);
    input.addEventListener("input", () => this.later());
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the box keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.take(option);
    });
  }

  /** Where the term at the caret begins and ends. Quotes hold blanks together. */
  span() {
    const { value, selectionStart: caret } = this.input;
    let start = 0, quoted = false;
    for (let i = 0; i < caret; i += 1) {
      if (value[i] === '"') quoted = !quoted;
      else if (/\s/.test(value[i]) && !quoted) start = i + 1;
    }
    let end = caret;
    while (end < value.length && (quoted || !/\s/.test(value[end]))) {
      if (value[end] === '"') quoted = !quoted;
      end += 1;
    }
    return [start, end];
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 120);
  }

  async ask() {
    const [start] = this.span();
    const term = this.input.value.slice(start, this.input.selectionStart);
    this.asking?.abort();
    this.asking = new AbortController();
    const url = new URL(this.input.dataset.facets, location.href);
    url.searchParams.set("term", term);
    try {
      const answer = await fetch(url, { signal: this.asking.signal, redirect: "manual" });
      if (!answer.ok) return this.close();
      this.offer(await answer.json());
    } catch { /* typed on, or no answer: there is nothing to offer */ }
  }

  offer(options) {
    if (document.activeElement !== this.input || !Array.isArray(options) || !options.length) return this.close();
    this.at = -1;
    this.list.replaceChildren(...options.slice(0, 12).map((option, i) => {
      const item = make("li", { id: `${this.list.id}-${i}`, role: "option" }, option.text);
      item.dataset.text = option.text;
      item.setAttribute("aria-selected", "false");
      if (option.note) item.append(make("span", { textContent: option.note }));
      return item;
    }));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    say(word("suggested", { n: this.list.children.length }));
  }

  move(step) {
    this.wait(); // what is offered stays while somebody chooses
    const options = [...this.list.children];
    options[this.at]?.setAttribute("aria-selected", "false");
    this.at = (this.at + step + options.length + (this.at < 0 && step < 0 ? 1 : 0)) % options.length;
    options[this.at].setAttribute("aria-selected", "true");
    options[this.at].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", options[this.at].id);
  }

  take(option) {
    const [start, end] = this.span();
    const { text } = option.dataset;
    const blank = text.endsWith(":") ? "" : " "; // a name wants its value next
    this.input.setRangeText(text + blank, start, end, "end");
    this.close();
    if (!blank) this.later();
  }

  /** Ask for nothing more, and hear no answer that is under way. */
  wait() {
    clearTimeout(this.timer);
    this.asking?.abort();
  }

  close() {
    this.wait();
    this.at = -1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const open = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (open) this.move(event.key === "ArrowDown" ? 1 : -1); else this.ask();
    } else if (open && event.key === "Enter" && this.at >= 0) {
      event.preventDefault();
      this.take(this.list.children[this.at]);
    } else if (open && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }
}

for (const input of document.querySelectorAll("input[data-query][data-facets]")) new QueryBox(input);
