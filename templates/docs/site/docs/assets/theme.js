// What the theme needs before the page is drawn: where the site begins, what it keeps in the browser, and the colours chosen there.
// Without scripts there is nothing to choose, so the form is made here.
globalThis.__md_scope = new URL("..", document.currentScript.src);
globalThis.__md_hash = text => [...text].reduce((hash, each) => (hash << 5) - hash + each.charCodeAt(0), 0);
globalThis.__md_get = (key, storage = localStorage, scope = __md_scope) => JSON.parse(storage.getItem(`${scope.pathname}.${key}`));
globalThis.__md_set = (key, value, storage = localStorage, scope = __md_scope) => {
  try {
    storage.setItem(`${scope.pathname}.${key}`, JSON.stringify(value));
  } catch {} // nothing may be stored here
};
document.documentElement.dataset.platform = navigator.platform;

globalThis.acpPalette = () => {
  const schemes = [
    ["(prefers-color-scheme)", "default", "Switch to light mode"],
    ["(prefers-color-scheme: light)", "default", "Switch to dark mode"],
    ["(prefers-color-scheme: dark)", "slate", "Follow the system"],
  ];
  const options = schemes.map(
    ([media, scheme, title], index) => `<input class="md-option" data-md-color-media="${media}" data-md-color-scheme="${scheme}"
data-md-color-primary="indigo" data-md-color-accent="indigo" aria-label="${title}" type="radio" name="__palette" id="__palette_${index}">
<label class="md-header__button md-icon acp-palette-${index}" title="${title}" for="__palette_${(index + 1) % 3}" hidden></label>`,
  );
  document.currentScript.insertAdjacentHTML(
    "afterend",
    `<form class="md-header__option" data-md-component="palette">${options.join("")}</form>`,
  );
  const chosen = __md_get("__palette");
  if (!chosen || !chosen.color) return;
  let { media, scheme } = chosen.color;
  if (media === "(prefers-color-scheme)") scheme = matchMedia("(prefers-color-scheme: light)").matches ? "default" : "slate";
  document.body.dataset.mdColorScheme = scheme;
};
