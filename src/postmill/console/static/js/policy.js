// The only place where text becomes elements: answers of this console's own server, fetched with the login of this page.
// The headers let nothing else do it (require-trusted-types-for 'script'; trusted-types console).

const policy = globalThis.trustedTypes?.createPolicy("console", { createHTML: (html) => html });

/** The elements of an answer, as a fragment; within a template, so that rows need no table around them. */
function parse(html) {
  const wrapped = `<template>${html}</template>`;
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(wrapped) : wrapped, "text/html");
  const { content } = page.querySelector("template");
  for (const script of content.querySelectorAll("script")) script.remove();
  return content;
}
