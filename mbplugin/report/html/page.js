// What every page does, with or without a 3D view: its colours, and the keys.
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const button = document.querySelector("[data-theme-switch]");
const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
const name = () => (button.textContent = isDark() ? "light" : "dark");
button.hidden = false;
button.onclick = () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  name();
};
dark.addEventListener("change", name);
name();

// what can be scrolled can be reached with the tabulator key
const scrollers = new ResizeObserver((seen) => {
  for (const { target } of seen) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const one of document.querySelectorAll(".wide, pre")) scrollers.observe(one);

// a link to a rule unfolds its text
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#rule-']");
  if (link) document.querySelector(link.hash).open = true;
});

// a filter unfolds the kinds of findings of which it leaves some
document.addEventListener("input", (event) => {
  const bar = event.target.closest(".filter");
  for (const kind of bar ? bar.parentElement.querySelectorAll("details.kind") : []) {
    kind.open = kind.querySelector("tbody tr:not([hidden])") !== null;
  }
});
