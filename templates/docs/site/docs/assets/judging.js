// The form on the page that judges messages. `judge.js` judges; the module of a protocol is loaded when it is chosen.
"use strict";
(() => {
  const MOST_ROWS = 500, AT_ONCE = 100, BY_VERSION = "";
  const base = document.currentScript.src.replace(/[^/]*$/, "");

  const { made, loaded } = globalThis.acpElements;

  async function protocol(known, name) {
    if (!globalThis.acpProtocols || !globalThis.acpProtocols[name]) await loaded(base + known.find((one) => one.name === name).script);
    return globalThis.acpProtocols[name];
  }

  // The lines of a text with their numbers. A text that is one JSON value is one line, however it is laid out.
  function linesOf(text) {
    try {
      JSON.parse(text);
      return [[1, text]];
    } catch {
      return text.split("\n").map((line, i) => [i + 1, line]).filter(([, line]) => line.trim());
    }
  }

  function what(found) {
    const message = found.message;
    if (Array.isArray(message)) return `batch of ${message.length}`;
    if (typeof message !== "object" || message === null) return found.note === "a blank line" ? "blank" : "";
    if (typeof message.method === "string") return message.method;
    return "result" in message ? "result" : "error" in message ? "error" : "";
  }

  function row(number, found) {
    const problems = found.problems.map((one) => made("li", {}, one.at ? made("code", {}, one.at) : "the message", ` ${one.says} (`, made("code", {}, one.rule), ")"));
    if (found.more) problems.push(made("li", {}, `and ${found.more} more`));
    const cell = made("td");
    if (problems.length) cell.append(made("ul", {}, ...problems));
    if (found.note) cell.append(found.note);
    const verdict = made("td", { class: `acp-${found.verdict.replace(" ", "-")}` }, made("strong", {}, found.verdict));
    const who = [found.sender ? `${found.sender}${found.isGuessed ? " (told by the method)" : ""}` : "", what(found)].filter(Boolean).join(": ");
    return made("tr", {}, made("td", {}, String(number)), verdict, made("td", {}, who), cell);
  }

  function build(place) {
    const known = JSON.parse(place.dataset.acpJudge);
    const chosen = made("select", { id: "acp-judge-protocol" },
      made("option", { value: BY_VERSION }, "as initialize says"), ...known.map((one) => made("option", { value: one.name }, one.name)));
    const text = made("textarea", { id: "acp-judge-text", rows: "10", spellcheck: "false", autocomplete: "off" });
    const file = made("input", { type: "file", id: "acp-judge-file" });
    const button = made("button", { type: "submit", class: "md-button md-button--primary" }, "Judge");
    const example = made("button", { type: "button", class: "md-button" }, "Put in an example");
    const said = made("p", { role: "status", "aria-live": "polite" });
    const rows = made("tbody");
    const heads = ["Line", "Verdict", "Message", "Problems"].map((name) => made("th", { scope: "col" }, name));
    const table = made("table", {}, made("thead", {}, made("tr", {}, ...heads)), rows);
    const around = made("div", { class: "md-typeset__scrollwrap acp-judge-rows", role: "region", "aria-label": "Verdicts", tabindex: "0", hidden: "" }, table);
    const form = made("form", {},
      made("p", {}, made("label", { for: chosen.id }, "Protocol"), " ", chosen),
      made("p", {}, made("label", { for: text.id }, "Messages, one a line"), text),
      made("p", {}, made("label", { for: file.id }, "or a file"), " ", file),
      made("p", {}, button, " ", example));
    place.replaceChildren(form, said, around);

    let run = 0;
    async function judge() {
      const mine = ++run, lines = linesOf(text.value);
      rows.replaceChildren();
      around.hidden = true;
      if (!lines.length) { said.textContent = "There is no message."; return; }
      const versions = Object.fromEntries(known.map((one) => [one.name, one.version]));
      const name = chosen.value || acpJudge.versionOf(lines.map(([, line]) => line), versions);
      if (!name) { said.textContent = "No message is of initialize with a version that is known here. Choose the protocol."; return; }
      said.textContent = "Judging…";
      const conversation = new acpJudge.Conversation(new acpJudge.Protocol(await protocol(known, name)));
      const counts = { valid: 0, invalid: 0, "not judged": 0 };
      let left = 0;
      for (let i = 0; i < lines.length; i++) {
        const found = conversation.line(lines[i][1]);
        counts[found.verdict]++;
        if (rows.childElementCount < MOST_ROWS) rows.append(row(lines[i][0], found));
        else left++;
        if (i % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve));
        if (mine !== run) return;
      }
      around.hidden = false;
      const more = left ? ` The last ${left} are counted and not shown.` : "";
      said.textContent = `${name}: ${lines.length} ${lines.length === 1 ? "message" : "messages"}, ${counts.valid} valid, ${counts.invalid} invalid, ${counts["not judged"]} not judged.${more}`;
    }
    const safely = () => judge().catch((error) => { said.textContent = `Nothing was judged: ${error.message}.`; });
    form.addEventListener("submit", (event) => { event.preventDefault(); safely(); });
    file.addEventListener("change", async () => {
      if (!file.files.length) return;
      text.value = await file.files[0].text();
      safely();
    });
    example.addEventListener("click", async () => {
      const name = chosen.value || known[0].name;
      try {
        text.value = (await protocol(known, name)).example;
        safely();
      } catch (error) {
        said.textContent = `There is no example: ${error.message}.`;
      }
    });
  }

  const place = document.querySelector("[data-acp-judge]");
  if (place) loaded(base + "judge.js").then(() => build(place));
})();
