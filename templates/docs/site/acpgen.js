// A table that is wider than the page is scrolled; without a mouse, too. What fits today may not after the window is turned or resized.
function reach() {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const around = table.closest(".md-typeset__scrollwrap");
    if (around && around.scrollWidth > around.clientWidth) {
      around.tabIndex = 0;
      around.setAttribute("role", "region");
      around.setAttribute("aria-label", "Table");
    } else if (around) {
      around.removeAttribute("tabindex");
      around.removeAttribute("role");
      around.removeAttribute("aria-label");
    }
  }
}
addEventListener("load", reach);
addEventListener("resize", reach);
