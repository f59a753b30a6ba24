// The search of the site. Its index is made when the site is built and loaded when somebody begins to search, as a script, so that it
// works in a site that is opened from the disk, too. The texts, of which results show a part, come after it.
"use strict";
(() => {
  const site = document.currentScript.src.replace(/assets\/[^/]*$/, "");
  const { loaded, made } = acpElements;
  const WORD = /-?\d{4,}|[\p{L}\p{N}_$]+/gu;
  const SHOWN = 20;

  const stem = (word) =>
    word.length < 5 ? word : word.replace(/(ss|us|is)$|ies$|(?:ing|ed|es|s)$/, (end, kept) => kept || (end === "ies" ? "y" : ""));

  // A word as a whole, and the parts of camelCase and snake_case.
  const parts = (word) => {
    const found = word.split(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+/).filter(Boolean);
    return found.length > 1 ? [word, ...found].map((part) => part.toLowerCase()) : [word.toLowerCase()];
  };

  const squeezed = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const isHit = (word, hit) => word.startsWith(hit) || (hit.length > 3 && word.includes(hit)) || stem(word) === stem(hit);

  // Where words of a query stand in a text: from, to.
  const places = (text, words) =>
    [...text.matchAll(WORD)].flatMap(({ 0: whole, index }) => {
      const word = whole.toLowerCase();
      const hit = words.find((each) => isHit(word, each));
      if (hit === undefined) return [];
      const start = index + Math.max(0, word.indexOf(hit));
      return [[start, Math.max(start + Math.min(hit.length, index + word.length - start), start + 1)]];
    });

  // Whether so many edits at most make one word of another: a letter is missing, added or changed, or two are in the other order.
  const isEditsAway = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return false;
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    const [c, d] = [a.slice(i), b.slice(i)];
    if (!most || c === d) return c === d;
    const isSwapped = c[0] === d[1] && c[1] === d[0];
    const further = (from, to) => isEditsAway(c.slice(from), d.slice(to), most - 1);
    return further(1, 1) || further(0, 1) || further(1, 0) || (isSwapped && further(2, 2));
  };

  class Index {
    constructor(given) {
      Object.assign(this, given);
      this.terms = given.terms.split(" ");
    }

    // The place of the first term that is not before a word.
    #from(word) {
      let low = 0;
      let high = this.terms.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.terms[middle] < word) low = middle + 1;
        else high = middle;
      }
      return low;
    }

    has(term) {
      return this.terms[this.#from(term)] === term;
    }

    #count(at) {
      return this.postings[at].length / (this.width + 1);
    }

    // The items that have a term: number, weight.
    #items(at) {
      const digit = (code) => code - (code > 92 ? 36 : 35);
      const written = this.postings[at];
      const found = [];
      for (let i = 0; i < written.length; i += this.width + 1) {
        let item = 0;
        for (let j = i; j < i + this.width; j++) item = item * 91 + digit(written.charCodeAt(j));
        found.push([item, this.least * this.step ** digit(written.charCodeAt(i + this.width))]);
      }
      return found;
    }

    // The places of the terms that a typed word means, each with how well it fits; `marks` gets the terms of a word with a wrong letter.
    #meant(word, isLast, marks) {
      const base = stem(word);
      const found = new Map();
      const note = (at, fit) => found.set(at, Math.max(fit, found.get(at) || 0));
      const noteTerm = (term, fit) => this.has(term) && note(this.#from(term), fit);
      noteTerm(base, 1);
      for (const other of this.synonyms[base] || this.synonyms[word] || []) noteTerm(stem(other), 0.7);
      const first = this.#from(word);
      if (word.length > 1)
        for (let at = first; at < first + 60 && this.terms[at]?.startsWith(word); at++) note(at, isLast ? 0.55 : 0.3);
      // A word that hardly anything has is one with a wrong letter; if it is long and nothing is that near, with two.
      const count = [...found.keys()].reduce((sum, at) => sum + this.#count(at), 0);
      for (const most of count < 5 && word.length > (count ? 4 : 2) ? [1, 2] : []) {
        if (most === 2 && (found.size || word.length < 7)) break;
        this.terms.forEach((term, at) => {
          if (!isEditsAway(term, base, most)) return;
          note(at, 0.8);
          marks.push(term);
        });
      }
      return found;
    }

    // The words of a query that say something.
    words(input) {
      const words = [...input.matchAll(WORD)].flatMap(([word]) => {
        const all = parts(word);
        return all.length > 1 && this.has(stem(all[0])) ? [all[0]] : all.length > 1 ? all.slice(1) : all;
      });
      const telling = words.filter((word) => !this.ignored.includes(word));
      // Who names two versions wants to know what is between them, and so does who asks what is new in one.
      const versions = new Set(telling.filter((word) => /^v\d+$/i.test(word)));
      const isNews = versions.size === 1 && telling.includes("new") && telling.length === 2;
      if (versions.size > 1 || isNews) telling.push("migration");
      return telling.length ? telling : words;
    }

    // A page that is called just as the query, but for a letter, or as a word of it, is meant before pages whose names only hold it.
    #exact(item, whole, words) {
      if (this.locations[item].includes("#")) return 1;
      const name = squeezed(this.titles[item].replace(/ in \S+$/, ""));
      const isWhole = name === whole || (whole.length > 6 && isEditsAway(name, whole, 1));
      return name && isWhole ? 3 : words.includes(name) ? 1.5 : 1;
    }

    // The items that are found, best first; with tags, only those that have one of them.
    search(input, tags = []) {
      const words = this.words(input);
      const whole = squeezed(input);
      // Whoever types the name of a field or a value wants the tables that have it.
      const isName = /^[a-z]\w*$/.test(input) && parts(input).length > 1 && this.has(stem(input.toLowerCase()));
      const scores = new Map();
      const marks = [...words];
      words.forEach((word, index) => {
        const best = new Map();
        for (const [at, fit] of this.#meant(word, index === words.length - 1, marks)) {
          const found = this.#items(at);
          const rarity = Math.log(1 + this.locations.length / found.length);
          for (const [item, weight] of found) best.set(item, Math.max(best.get(item) || 0, fit * rarity * weight));
        }
        for (const [item, score] of best) {
          const [sum, count] = scores.get(item) || [0, 0];
          scores.set(item, [sum + score, count + 1]);
        }
      });
      const all = [...scores].filter(([, [, count]]) => count * 2 >= words.length);
      const counts = new Map();
      for (const [item] of all) if (this.tags[item]) counts.set(this.tags[item], (counts.get(this.tags[item]) || 0) + 1);
      const items = all
        .filter(([item]) => !tags.length || tags.includes(this.tags[item]))
        .map(([item, [sum, count]]) => {
          const table = isName && /#(?:fields|values|params|result)$/.test(this.locations[item]) ? 20 : 1;
          return [item, sum * (count / words.length) ** 4 * this.#exact(item, whole, words) * this.weights[item] * table];
        })
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([item]) => item);
      return { marks, items, counts };
    }
  }

  let begun;
  const begin = () => (begun ??= loaded(`${site}assets/search-index.js`).then(() => new Index(acpSearchIndex)));
  globalThis.acpSearch = async (input, tags) => {
    const index = await begin();
    return index.search(input, tags).items.map((item) => index.locations[item]);
  };

  // A text with what was looked for marked.
  const marked = (text, words) => {
    const found = [];
    let at = 0;
    for (const [start, end] of places(text, words)) {
      found.push(text.slice(at, start), made("mark", {}, text.slice(start, end)));
      at = end;
    }
    return [...found, text.slice(at)];
  };

  // The part of a text that is shown: from a little before the first hit on.
  const excerpt = (text, words) => {
    const start = Math.max(0, (places(text, words)[0]?.[0] ?? 0) - 60);
    const cut = start ? `… ${text.slice(start).replace(/^\S*\s/, "")}` : text;
    return cut.length > 200 ? `${cut.slice(0, 200).replace(/\s\S*$/, "")} …` : cut;
  };

  const box = made("input", {
    ...{ type: "search", role: "combobox", "aria-label": "Search", "aria-controls": "acp-results", "aria-expanded": "false" },
    ...{ autocomplete: "off", placeholder: "Search: methods, types, fields, errors, guides" },
  });
  const filters = made("div", { class: "acp-search-tags", role: "group", "aria-label": "Show only" });
  const status = made("p", { role: "status" });
  const list = made("div", { id: "acp-results", role: "listbox", "aria-label": "Results", tabindex: "0" });
  const dialog = made("dialog", { class: "acp-search", "aria-label": "Search" }, box, filters, status, list);
  const chosen = new Set();
  let found = { marks: [], items: [], counts: new Map() };

  const select = (option) => {
    for (const each of list.children) each.setAttribute("aria-selected", String(each === option));
    box.setAttribute("aria-activedescendant", option ? option.id : "");
    option?.scrollIntoView({ block: "nearest" });
  };

  const more = (index) => {
    for (const item of found.items.slice(list.children.length, list.children.length + SHOWN)) {
      const [page, anchor] = index.locations[item].split("#");
      const href = `${site}${page}?h=${encodeURIComponent(box.value.trim())}${anchor ? `#${anchor}` : ""}`;
      const text = globalThis.acpSearchTexts ? excerpt(acpSearchTexts[item], found.marks) : "";
      const inside = [["b", index.titles[item]], ["small", index.paths[item]], ["span", text]];
      const option = { href, role: "option", id: `acp-result-${item}`, "aria-selected": "false", tabindex: "-1" };
      list.append(made("a", option, ...inside.map(([name, told]) => made(name, {}, ...marked(told, found.marks)))));
    }
  };

  const show = async () => {
    const input = box.value.trim();
    const index = await begin();
    if (input !== box.value.trim()) return;
    found = index.search(input, [...chosen]);
    const tags = [...found.counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
    filters.replaceChildren(
      ...tags.map(([tag, count]) =>
        made("button", { type: "button", "aria-pressed": String(chosen.has(tag)), "data-tag": tag }, `${tag} ${count}`)),
    );
    status.textContent = !input ? "" : found.items.length === 1 ? "1 result" : `${found.items.length} results`;
    list.replaceChildren();
    list.scrollTop = 0;
    more(index);
    box.setAttribute("aria-expanded", String(found.items.length > 0));
    select(list.firstElementChild);
  };

  // The texts are asked for after the index, and what is shown without them is shown again.
  let isWhole = false;
  const open = async () => {
    if (dialog.open) return;
    dialog.showModal();
    box.select();
    await begin();
    if (isWhole) return;
    isWhole = true;
    await loaded(`${site}assets/search-texts.js`);
    if (box.value) show();
  };

  box.addEventListener("input", show);
  list.addEventListener("scroll", async () => {
    if (list.scrollTop + list.clientHeight > list.scrollHeight - 200) more(await begin());
  });
  filters.addEventListener("click", (event) => {
    const tag = event.target.dataset?.tag;
    if (!tag) return;
    if (!chosen.delete(tag)) chosen.add(tag);
    show().then(() => filters.querySelector(`[data-tag="${CSS.escape(tag)}"]`)?.focus());
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => {
    const at = list.querySelector("[aria-selected=true]");
    if (event.key === "ArrowDown") select(at?.nextElementSibling || at);
    else if (event.key === "ArrowUp") select(at?.previousElementSibling || at);
    else if (event.key === "Enter" && event.target === box) at?.click();
    else if (event.key === "Escape") dialog.close();
    else return;
    event.preventDefault();
  });

  const isOpener = (target) => target instanceof Element && target.closest(".acp-search-open, label[for=__search]");
  for (const kind of ["pointerover", "focusin"]) addEventListener(kind, (event) => isOpener(event.target) && begin());
  addEventListener(
    "click",
    (event) => {
      if (!isOpener(event.target)) return;
      event.preventDefault();
      open();
    },
    true,
  );
  addEventListener(
    "keydown",
    (event) => {
      const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
      const isAsked = (event.ctrlKey || event.metaKey) && event.key === "k";
      if (!isAsked && (event.key !== "/" || isTyping)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      open();
    },
    true,
  );

  // A page that was found shows what was looked for.
  const highlight = () => {
    const words = (new URLSearchParams(location.search).get("h") || "").match(WORD);
    const article = document.querySelector("article");
    if (!words || !article || !globalThis.Highlight) return;
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const ranges = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const [start, end] of places(node.data, words.map((word) => word.toLowerCase()))) {
        const range = new Range();
        range.setStart(node, start);
        range.setEnd(node, end);
        ranges.push(range);
      }
    CSS.highlights.set("acp-search", new Highlight(...ranges));
  };

  addEventListener("DOMContentLoaded", () => {
    document.body.append(dialog);
    highlight();
  });
})();
