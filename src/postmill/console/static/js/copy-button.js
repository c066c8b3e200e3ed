// <button data-copy="#id">: the text of an element to the clipboard; by the old way where the page came by plain HTTP.

async function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const held = document.activeElement;
  const box = make("textarea", { value: text, className: "visually-hidden", readOnly: true, tabIndex: -1 });
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  held?.focus({ preventScroll: true });
  if (!done) throw new Error("not copied");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  event.preventDefault();
  const source = document.querySelector(button.dataset.copy);
  if (!source) return;
  try {
    await copy(source.value ?? source.textContent);
    say(word("copied"));
    button.title = word("copied");
  } catch {
    getSelection().selectAllChildren(source); // at least it is chosen
    say(word("notCopied"));
  }
});
