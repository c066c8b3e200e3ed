// The only place where text becomes elements: answers of this console's own server, fetched with the login of this page.
// The headers let nothing else do it (require-trusted-types-for 'script'; trusted-types console).

const policy = globalThis.trustedTypes?.createPolicy("console", { createHTML: (html) => html });

/** The parts of an answer by their names, as templates, so that rows need no table around them. */
function parse(html) {
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
  const parts = new Map();
  for (const part of page.querySelectorAll("template[data-part]")) {
    for (const script of part.content.querySelectorAll("script")) script.remove();
    parts.set(part.dataset.part, part);
  }
  return parts;
}
