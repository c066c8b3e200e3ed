// <input data-confirm-count="1181">: the form goes only when the count was typed. The server asks the same.

function checkCount(input) {
  const typed = input.value.replace(/[\s,.'’_]/g, "");
  input.setCustomValidity(typed === input.dataset.confirmCount ? "" : word("count", { n: input.dataset.confirmCount }));
}

document.addEventListener("input", (event) => {
  if (event.target.matches?.("input[data-confirm-count]")) checkCount(event.target);
});
for (const input of document.querySelectorAll("input[data-confirm-count]")) checkCount(input);
