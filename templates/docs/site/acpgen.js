// A table that is wider than the page is scrolled; without a mouse, too.
addEventListener("load", () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const around = table.closest(".md-typeset__scrollwrap");
    if (around && around.scrollWidth > around.clientWidth) {
      around.tabIndex = 0;
      around.setAttribute("role", "region");
      around.setAttribute("aria-label", "Table");
    }
  }
});
