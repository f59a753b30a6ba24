// The index of the search is large, and most readers of a page never search. So it is asked for when somebody begins to, and not when
// the page is loaded. What they type until it is there is put into the search afterwards. A page that was found needs the index at
// once, to highlight what was looked for.
"use strict";
(() => {
  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  if (new URLSearchParams(location.search).has("h")) begin();

  globalThis.XMLHttpRequest = class extends XMLHttpRequest {
    #isIndex = false;

    open(method, address, ...rest) {
      this.#isIndex = /\/search\.json$/.test(address);
      super.open(method, address, ...rest);
    }

    send(body) {
      if (this.#isIndex) begun.then(() => super.send(body));
      else super.send(body);
    }
  };

  let typed = "";
  let isWaiting = false;
  const box = () => [...document.body.children].map((each) => each.shadowRoot?.querySelector("[role=combobox]")).find(Boolean);

  const handOver = () => {
    const found = box();
    if (!found) {
      requestAnimationFrame(handOver);
      return;
    }
    isWaiting = false;
    if (!typed) return;
    found.value = typed;
    found.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const wait = () => {
    begin();
    if (isWaiting || box()) return;
    isWaiting = true;
    handOver();
  };

  // The theme draws where a result stands too pale to read, and lets no key scroll the results.
  const mend = (root) => {
    if (root.querySelector("style[data-acp]")) return;
    const style = document.createElement("style");
    style.dataset.acp = "";
    style.textContent = "menu li, menu li::after, h4[class] { color: rgb(var(--color-foreground) / 0.8); opacity: 1 }";
    root.append(style);
    const results = root.querySelector("div[tabindex='-1']");
    if (results) results.tabIndex = 0;
  };
  addEventListener("focusin", (event) => event.target.shadowRoot?.querySelector("[role=combobox]") && mend(event.target.shadowRoot));

  const isSearch = (target) => target instanceof Element && target.closest(".md-search, label[for=__search]");
  for (const kind of ["pointerover", "focusin"]) addEventListener(kind, (event) => isSearch(event.target) && begin());
  addEventListener("click", (event) => isSearch(event.target) && wait(), true);

  addEventListener(
    "keydown",
    (event) => {
      if (isWaiting && event.key === "Backspace") typed = typed.slice(0, -1);
      else if (isWaiting && event.key.length === 1 && !event.ctrlKey && !event.metaKey) typed += event.key;
      else if ((event.ctrlKey || event.metaKey) && event.key === "k" && !box()) {
        if (!isWaiting) document.querySelector(".md-search button")?.click(); // it opens what is not there yet
      } else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
})();
