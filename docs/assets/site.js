// What can be scrolled is reached with the tabulator key, and the search has a name.
addEventListener("load", () => {
  const watcher = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset .formula, .md-typeset p:has(> img)")) watcher.observe(one);
  for (const one of document.querySelectorAll("[data-md-component=search], [data-md-toggle=search]")) one.ariaLabel = "search";
  for (const one of document.querySelectorAll("[data-md-toggle=drawer]")) one.ariaLabel = "navigation";
});
