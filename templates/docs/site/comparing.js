// The page on which two releases are chosen. Its data lies beside it and has the findings of every pair.
"use strict";
(() => {
  const { made, loaded } = globalThis.acpElements;

  const listed = (items) => items.flatMap((item, i) => (i ? [", ", item] : [item]));

  function finding(data, [, rule, message, breaks, methods, places, more]) {
    const parts = [made("a", { href: `${data.rules}#${rule}` }, made("code", {}, rule)), `: ${message}`];
    if (breaks) parts.push(` Breaks: ${breaks}.`);
    if (places.length) parts.push(" At ", ...listed(places.map((place) => made("code", {}, place))), more ? " and others." : ".");
    if (methods.length) {
      const named = methods.map((name) => {
        const text = made("code", {}, name);
        return Object.hasOwn(data.methods, name) ? made("a", { href: data.methods[name] }, text) : text;
      });
      parts.push(methods.length > 6 ? ` In ${methods.length} methods.` : " In ", ...(methods.length > 6 ? [] : [...listed(named), "."]));
    }
    return made("li", {}, ...parts);
  }

  function shown(data, old, now) {
    const found = data.pairs[`${old}-${now}`];
    if (found === null) return [made("p", {}, "These two releases cannot be compared: one of them cannot be read.")];
    const changes = found.map((number) => data.changes[number]);
    if (!changes.length) return [made("p", {}, made("strong", {}, data.verdicts.editorial), " Peers of the two releases cannot be told apart by their messages.")];
    const worst = data.severities.find((severity) => changes.some((change) => change[0] === severity));
    const counts = data.severities.map((severity) => [severity, changes.filter((change) => change[0] === severity)]).filter(([, those]) => those.length);
    const said = `${data.verdicts[worst]} ${counts.map(([severity, those]) => `${those.length} ${severity}`).join(", ")}.`;
    return [
      made("p", {}, made("strong", {}, said)),
      ...counts.flatMap(([severity, those]) => [
        made("h2", { id: `found-${severity}` }, severity[0].toUpperCase() + severity.slice(1)),
        made("ul", {}, ...those.map((change) => finding(data, change))),
      ]),
    ];
  }

  async function build(place) {
    const { name, script } = JSON.parse(place.dataset.acpCompare);
    await loaded(script);
    const data = globalThis.acpReleases[name], last = data.releases.length - 1;
    const options = () => data.releases.map(([title, day], number) => made("option", { value: number }, day ? `${title} (${day})` : title)).reverse();
    const old = made("select", { id: "acp-compare-old" }, ...options());
    const now = made("select", { id: "acp-compare-new" }, ...options());
    const told = made("p", { role: "status", "aria-live": "polite" });
    const rows = made("div");
    const link = made("a", { href: "#" }, "Link to this comparison");
    place.replaceChildren(
      made("p", {}, made("label", { for: old.id }, "Old"), " ", old, " ", made("label", { for: now.id }, "New"), " ", now),
      told, rows, made("p", {}, link));

    const numbered = (title, otherwise) => {
      const found = data.releases.findIndex((release) => release[0] === title);
      return found < 0 ? otherwise : found;
    };
    const asked = new URLSearchParams(location.hash.slice(1));
    old.value = numbered(asked.get("old"), Math.max(0, last - 1));
    now.value = numbered(asked.get("new"), last);

    function show() {
      const pair = [Number(old.value), Number(now.value)];
      const [first, second] = [...pair].sort((a, b) => a - b);
      const [before, after] = [data.releases[first][0], data.releases[second][0]];
      link.href = `#${new URLSearchParams({ old: data.releases[pair[0]][0], new: data.releases[pair[1]][0] })}`;
      if (first === second) {
        told.textContent = "Choose two different releases.";
        rows.replaceChildren();
        return;
      }
      told.textContent = `${before} → ${after}${pair[0] === first ? "" : ", the older one first"}`;
      rows.replaceChildren(...shown(data, first, second));
    }
    for (const select of [old, now]) select.addEventListener("change", show);
    show();
  }

  const place = document.querySelector("[data-acp-compare]");
  if (place) build(place).catch((error) => { place.textContent = `Nothing can be compared: ${error.message}.`; });
})();
