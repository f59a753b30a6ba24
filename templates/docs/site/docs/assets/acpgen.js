// A table or a block of code that is larger than its place is scrolled; without a mouse, too. What fits today may not after the window
// is turned or resized, and what is folded has no width. All widths are read before anything is written, so that the page is laid out once.
function reach() {
  const all = [...document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")];
  const around = all.filter(each => !each.closest("details:not([open])"));
  const scrolls = around.map(each => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight);
  let tables = 0;
  around.forEach((each, index) => {
    const isTable = each.localName !== "code";
    if (scrolls[index]) {
      each.tabIndex = 0;
      if (isTable) each.setAttribute("role", "region");
      if (isTable) each.setAttribute("aria-label", `Table ${(tables += 1)}`);
    } else for (const name of isTable ? ["tabindex", "role", "aria-label"] : ["tabindex"]) each.removeAttribute(name);
  });
}
addEventListener("load", reach);

addEventListener("resize", reach);
addEventListener("toggle", reach, true);

// On a phone the cells of a row stand below one another, without the head of the table: each says itself what its column is called.
function label() {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const heads = [...table.querySelectorAll("thead th")].map(head => head.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.cells].forEach((cell, index) => {
        if (index && heads[index] && cell.childNodes.length) cell.dataset.acpHead = heads[index];
      });
  }
}

// Each field, value and variant has an address of its own: the empty anchor in its cell becomes a link to itself. It and the link of a
// heading are called by what they lead to, as a screen reader lists them.
function point() {
  for (const anchor of document.querySelectorAll(".md-typeset td > a[id]:not([href])")) {
    anchor.href = `#${anchor.id}`;
    anchor.className = "acp-permalink";
    anchor.setAttribute("aria-label", `Link to ${anchor.nextElementSibling ? anchor.nextElementSibling.textContent : anchor.id}`);
    anchor.textContent = "#";
  }
  for (const anchor of document.querySelectorAll(".md-typeset .headerlink"))
    anchor.setAttribute("aria-label", `Link to ${anchor.parentElement.textContent.slice(0, -anchor.textContent.length)}`);
}

// A long name in the navigation or a title is broken between its words, if it must be.
function part() {
  for (const name of document.querySelectorAll(".md-nav__link, .md-nav__link .md-ellipsis, .md-nav__link .md-ellipsis code, .md-typeset :is(h1, h2, h3) code")) {
    for (const text of [...name.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && /\S{18}/.test(node.data))) {
      const parts = text.data.split(/(?<=[/_.])(?=\w)|(?<=[a-z])(?=[A-Z])/);
      text.replaceWith(...parts.flatMap((each, index) => (index ? [document.createElement("wbr"), each] : [each])));
    }
  }
}

// A page of all rules holds an anchor for each rule beside the link to the page with the rule. An address of a rule leads on to it.
function lead() {
  const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const link = at && at.matches("li > a[id]:empty") && at.parentElement.querySelector("a[href]");
  if (link) location.replace(new URL(location.hash, link.href));
}
addEventListener("hashchange", lead);

// The page as Markdown, into the clipboard. A page from the disk cannot fetch; its link to the file stays.
function offer() {
  if (location.protocol === "file:" || !navigator.clipboard) return;
  for (const link of document.querySelectorAll(".acp-actions [type='text/markdown']")) {
    const button = acpElements.made("button", { class: "acp-copy", type: "button" }, "Copy as Markdown");
    link.after(button);
    button.addEventListener("click", () =>
      put(button, async () => {
        const answer = await fetch(link.href);
        if (!answer.ok) throw new Error(answer.statusText);
        return answer.text();
      }),
    );
  }
}

// What is copied, with a word about it on the button for a while.
async function put(button, text) {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(await text());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = said), 2000);
}

// A block of code has a button that copies it. The theme's own lays the page out once for each block.
function copied() {
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll(".md-typeset pre > code")) {
    code.parentElement.append(acpElements.made("button", { class: "acp-copy", type: "button" }, "Copy"));
  }
}
addEventListener("click", event => {
  const button = event.target instanceof Element && event.target.closest("pre > .acp-copy");
  if (button) put(button, async () => button.parentElement.querySelector("code").textContent);
});

// What the scripts of forms make their elements with, and load what they need with.
globalThis.acpElements = {
  made(name, given = {}, ...inside) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  },

  loaded(address) {
    return new Promise((resolve, reject) => {
      const element = acpElements.made("script", { src: address });
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${address} cannot be read`));
      document.head.append(element);
    });
  },
};

// The page with a form loads the script of that form; no other page does.
const assets = document.currentScript.src.replace(/[^/]*$/, "");
function formed() {
  if (document.querySelector("[data-acp-judge]")) acpElements.loaded(`${assets}judging.js`);
}
addEventListener("DOMContentLoaded", () => {
  lead();
  formed();
  part();
  label();
  point();
  offer();
  copied();
});
