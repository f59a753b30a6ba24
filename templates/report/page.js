"use strict";
const items = [...document.querySelectorAll("section[data-severity] article, section[data-severity] li")];
const boxes = [...document.querySelectorAll("#filter input[type=checkbox]")];
const query = document.getElementById("query");
for (const item of items) {
  const section = item.closest("section");
  item.words = (section.querySelector("h2").textContent + " " + item.textContent).toLowerCase();
  item.severity = section.dataset.severity;
}
function filter() {
  const wanted = new Set(boxes.filter(box => box.checked).map(box => box.value));
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    item.hidden = !wanted.has(item.severity) || !words.every(word => item.words.includes(word));
    shown += !item.hidden;
  }
  for (const section of document.querySelectorAll("section[data-severity]")) {
    section.hidden = !section.querySelector("article:not([hidden]), li:not([hidden])");
    for (const said of section.querySelectorAll(".said")) {
      let next = said.nextElementSibling;
      while (next && next.tagName === "ARTICLE" && next.hidden) next = next.nextElementSibling;
      said.hidden = !next || next.tagName !== "ARTICLE";
    }
  }
  document.getElementById("none").hidden = shown > 0;
  document.getElementById("shown").textContent = shown + " of " + items.length;
}
if (query) {
  document.getElementById("filter").addEventListener("input", filter);
  document.getElementById("filter").addEventListener("submit", event => event.preventDefault());
  filter();
}
for (const pre of document.querySelectorAll("summary + pre")) {
  try { pre.textContent = JSON.stringify(JSON.parse(pre.textContent), null, 2); } catch {}
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      getSelection().selectAllChildren(pre);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  pre.after(button);
}
