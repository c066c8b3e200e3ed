// <form data-bulk>: how many rows are chosen, all of them at once, and from one to another with Shift.

const boxesOf = (form) => [...form.querySelectorAll("tbody input[type=checkbox]")];

function countChosen(form) {
  const boxes = boxesOf(form);
  const n = boxes.filter((box) => box.checked).length;
  for (const place of form.querySelectorAll("[data-selected]")) place.textContent = word("selected", { n });
  for (const all of form.querySelectorAll("[data-select-all]")) {
    all.checked = n > 0 && n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
  }
  form.dataset.chosen = n;
}

{
  let last = null;
  document.addEventListener("click", (event) => {
    const box = event.target;
    const form = box.closest?.("form[data-bulk]");
    if (!form || box.type !== "checkbox") return;
    const boxes = boxesOf(form);
    if ("selectAll" in box.dataset) for (const one of boxes) one.checked = box.checked;
    else if (event.shiftKey && last && boxes.includes(last) && boxes.includes(box)) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
    }
    if (boxes.includes(box)) last = box;
    countChosen(form);
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("form[data-bulk]");
    if (!form) return;
    countChosen(form);
    // The bar has come, perhaps over the row itself.
    if (event.target.checked) event.target.scrollIntoView({ block: "nearest" });
  });
  for (const form of document.querySelectorAll("form[data-bulk]")) {
    for (const all of form.querySelectorAll("[data-select-all]")) all.hidden = false;
    countChosen(form);
  }
}

/** Chooses nothing any more. True: something had been chosen. */
function clearChosen() {
  let any = false;
  for (const form of document.querySelectorAll("form[data-bulk]")) {
    for (const box of boxesOf(form)) if (box.checked) { box.checked = false; any = true; }
    countChosen(form);
  }
  return any;
}
