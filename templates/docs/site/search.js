// The search of the site: ranks pages by words in titles, paths and texts. It speaks the protocol of the theme's own worker:
// {type: 0, data: index} is answered by {type: 1}, {type: 2, data: query} by {type: 3, data: result}, a failure by {type: 4}.
"use strict";
(() => {
  const PAGE = 10;
  const FIELDS = { title: 9, path: 3, text: 1 };
  const WORD = /-?\d{4,}|[\p{L}\p{N}_$]+/gu;
  let items, config, postings, terms, weights, names;

  // What is asked of the same word again and again, kept.
  const kept = (make) => {
    const known = new Map();
    return (given) => {
      let made = known.get(given);
      if (made === undefined) known.set(given, (made = make(given)));
      return made;
    };
  };

  const stem = kept((word) =>
    word.length < 5 ? word : word.replace(/(ss|us|is)$|ies$|(?:ing|ed|es|s)$/, (end, kept) => kept || (end === "ies" ? "y" : "")));

  // A word as a whole, and the parts of camelCase and snake_case.
  const parts = kept((word) => {
    const found = word
      .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, "$1_")
      .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1_")
      .toLowerCase()
      .split("_")
      .filter(Boolean);
    const whole = word.toLowerCase();
    return found.length > 1 ? [whole, ...found] : [whole];
  });

  const blank = (html) => html.replace(/<[^>]*>|&\w+;/g, (tag) => " ".repeat(tag.length));
  const textOf = (item, field) => (field === "path" ? item.path.join("") : item[field] || "");

  const squeezed = (text) => blank(text).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  // A page that is called just as the query, or as a word of it, is meant before pages whose names only hold it.
  const exact = (name, whole, words) => (!name ? 1 : name === whole ? 3 : words.includes(name) ? 1.5 : 1);

  // Whoever types the name of a field or a value wants the tables that have it.
  const TABLE = /#(?:fields|values|params|result)$/;
  const isName = (input) => /^[a-z]\w*$/.test(input) && parts(input).length > 1 && postings.has(stem(input.toLowerCase()));

  const weightOf = (location) => {
    const found = config.weights.find(([pattern]) => pattern.test(location));
    return found ? found[1] : 1;
  };

  const add = (term, doc, weight) => {
    const found = postings.get(term) || postings.set(term, new Map()).get(term);
    found.set(doc, (found.get(doc) || 0) + weight);
  };

  // The page makes addresses of the paths before it hands them over: all begin with that of the site, which its home page tells.
  const siteOf = (found) => {
    const homes = found.map((item) => item.location).filter((location) => /(?:^|\/)index\.html$/.test(location));
    return (homes.sort((a, b) => a.length - b.length)[0] || "").slice(0, -"index.html".length);
  };

  const begin = (index) => {
    const site = siteOf(index.items);
    items = index.items.map((item) => ({ ...item, location: item.location.slice(site.length) }));
    config = { synonyms: {}, ignored: [], ...index.config };
    for (const name of ["weights", "keywords"]) {
      config[name] = (config[name] || []).map(([pattern, meant]) => [new RegExp(pattern), meant]);
    }
    postings = new Map();
    weights = items.map((item) => weightOf(item.location) * (item.location.includes("#") ? 1 : 1.6));
    names = items.map((item) => (item.location.includes("#") ? "" : squeezed(item.title.replace(/ in \S+$/, ""))));
    items.forEach((item, doc) => {
      const said = config.keywords.filter(([pattern]) => pattern.test(item.location)).map(([, words]) => words);
      for (const field of [...Object.keys(FIELDS), "keywords"]) {
        const counts = new Map();
        let length = 0;
        for (const [word] of (field === "keywords" ? said.join(" ") : blank(textOf(item, field))).matchAll(WORD)) {
          const all = parts(word);
          length += Math.max(1, all.length - 1);
          for (const part of all) counts.set(stem(part), (counts.get(stem(part)) || 0) + 1);
        }
        for (const [term, count] of counts) {
          const often = field === "text" ? count / (count + 1.5) : 1 / Math.sqrt(Math.max(1, length / 3));
          add(term, doc, (FIELDS[field] || 7) * often);
        }
      }
    });
    terms = [...postings.keys()].sort();
  };

  const startingWith = (prefix) => {
    let low = 0;
    let high = terms.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (terms[middle] < prefix) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (let i = low; i < terms.length && found.length < 60 && terms[i].startsWith(prefix); i++) found.push(terms[i]);
    return found;
  };

  const isOneEditAway = (a, b) => {
    if (Math.abs(a.length - b.length) > 1) return false;
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return a.slice(i + 1) === b.slice(i + 1) || a.slice(i) === b.slice(i + 1) || a.slice(i + 1) === b.slice(i);
  };

  // The terms of the index that a typed word means, each with how well it fits.
  const meant = (word, isLast) => {
    const base = stem(word);
    const found = new Map();
    const note = (term, fit) => postings.has(term) && found.set(term, Math.max(fit, found.get(term) || 0));
    note(base, 1);
    for (const other of config.synonyms[base] || config.synonyms[word] || []) note(stem(other), 0.7);
    if (word.length > 1) for (const term of startingWith(word)) note(term, isLast ? 0.55 : 0.3);
    if (!found.size && word.length > 4) for (const term of terms) if (isOneEditAway(term, base)) note(term, 0.4);
    return found;
  };

  const asked = (input) => {
    const words = [...input.matchAll(WORD)].flatMap(([word]) => {
      const all = parts(word);
      return all.length > 1 && postings.has(stem(all[0])) ? [all[0]] : all.length > 1 ? all.slice(1) : all;
    });
    const telling = words.filter((word) => !config.ignored.includes(word));
    // Who names two versions wants to know what is between them, and so does who asks what is new in one.
    const versions = new Set(telling.filter((word) => /^v\d+$/i.test(word)));
    const isNews = versions.size === 1 && telling.some((word) => word === "new") && telling.length === 2;
    if (versions.size > 1 || isNews) telling.push("migration");
    return telling.length ? telling : words;
  };

  const highlighted = (item, field, words) => {
    const ranges = [];
    for (const match of blank(textOf(item, field)).matchAll(WORD)) {
      const word = match[0].toLowerCase();
      const hit = words.find((each) => word.startsWith(each) || (each.length > 3 && word.includes(each)) || stem(word) === stem(each));
      if (hit) {
        const start = match.index + Math.max(0, word.indexOf(hit));
        ranges.push({ start, end: match.index + word.length, value: Math.min(hit.length, match.index + word.length - start) });
      }
    }
    return ranges;
  };

  // The tags that the reader chose; what has one of them is looked at.
  const chosen = (query) => (query.filter?.input?.data?.operands || []).map((each) => each.data?.value);
  const hasTag = (doc, tags) => !tags.length || (items[doc].tags || []).some((tag) => tags.includes(tag));

  // How much each tag has of what was found, whatever tags are chosen.
  const tagged = (docs) => {
    const counts = new Map();
    for (const doc of docs) for (const tag of items[doc].tags || []) counts.set(tag, (counts.get(tag) || 0) + 1);
    return [{ type: "term", data: { field: "tags", value: [...counts].map(([value, count]) => ({ node: { value, count } })) } }];
  };

  const answer = (query) => {
    const input = typeof query.input === "string" ? query.input : "";
    const tags = chosen(query);
    const words = asked(input);
    const whole = squeezed(input);
    const tables = isName(input.trim()) ? 20 : 1;
    const scores = new Map();
    words.forEach((word, index) => {
      const best = new Map();
      for (const [term, fit] of meant(word, index === words.length - 1)) {
        const found = postings.get(term);
        const rarity = Math.log(1 + items.length / found.size);
        for (const [doc, weight] of found) best.set(doc, Math.max(best.get(doc) || 0, fit * rarity * weight));
      }
      for (const [doc, score] of best) {
        const [sum, count] = scores.get(doc) || [0, 0];
        scores.set(doc, [sum + score, count + 1]);
      }
    });
    const pages = () => items.map((_, doc) => [doc, [1, 1]]).filter(([doc]) => !items[doc].location.includes("#"));
    const found = words.length ? [...scores].filter(([, [, count]]) => count * 2 >= words.length) : tags.length ? pages() : [];
    const ranked = found
      .filter(([doc]) => hasTag(doc, tags))
      .map(([doc, [sum, count]]) => {
        const fit = words.length ? (count / words.length) ** 4 * exact(names[doc], whole, words) : 1;
        return [doc, sum * fit * weights[doc] * (TABLE.test(items[doc].location) ? tables : 1)];
      })
      .sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const from = (query.page && query.page.from) || 0;
    const page = (at) => ({ id: (query.page && query.page.id) || Date.now(), size: PAGE, from: at });
    return {
      items: ranked.slice(from, from + PAGE).map(([doc]) => ({
        id: doc,
        matches: Object.keys(FIELDS).map((field, at) => ({
          id: doc * 4 + at,
          field,
          value: { highlight: { ranges: highlighted(items[doc], field, words) } },
          score: 0,
        })),
      })),
      query: { select: {}, values: [] },
      aggregations: tagged(found.map(([doc]) => doc)),
      pagination: {
        total: ranked.length,
        prev: from >= PAGE ? page(from - PAGE) : undefined,
        next: from + PAGE < ranked.length ? page(from + PAGE) : undefined,
      },
    };
  };

  self.onmessage = ({ data: message }) => {
    try {
      if (message.type === 0) {
        begin(message.data);
        self.postMessage({ type: 1 });
      } else if (message.type === 2) self.postMessage({ type: 3, data: answer(message.data) });
    } catch {
      self.postMessage({ type: 4 });
    }
  };
})();
