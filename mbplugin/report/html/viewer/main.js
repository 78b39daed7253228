// The script of the page: every model gets its view, its filter and its film.
import { filterFindings } from "./filter.js";
import { startFilm } from "./film.js";
import { openView } from "./view.js";

function run(article) {
  const frame = article.querySelector(".view");
  let view = null;
  const show = () => {
    if (view || !frame) return;
    const data = JSON.parse(document.getElementById(frame.dataset.drawing).textContent);
    view = openView(frame, data);
    if (!view) return;
    startFilm(article, view, data.film);
    view.draw();
  };
  const hide = () => {
    if (view) view.close();
    view = null;
  };
  if (article.tagName === "DETAILS") {
    article.addEventListener("toggle", () => (article.open ? show() : hide()));
    if (article.open) show();
  } else {
    show();
  }
  article.addEventListener("click", (event) => choose(article, event.target.closest("button"), () => view));
  article.querySelectorAll(".filter").forEach((bar) => filterFindings(bar));
  return {
    article,
    // for paper: a view that was never opened is opened for its picture
    still() {
      const before = view;
      show();
      if (view) view.still();
      if (!before) hide();
    },
  };
}

function choose(article, button, current) {
  if (!button) return;
  const view = current();
  if (button.dataset.pick && view) {
    article.querySelectorAll("[data-stress]").forEach((one) => one.setAttribute("aria-pressed", "false"));
    view.pick(button.dataset.pick, button.dataset.name);
    article.querySelector(".stage").scrollIntoView({ block: "nearest", behavior: "smooth" });
  } else if (button.dataset.stress !== undefined && view) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    const pressed = [...article.querySelectorAll("[data-stress][aria-pressed=true]")];
    view.stress(pressed.map((one) => Number(one.dataset.stress)));
    if (on) article.querySelector(".stage").scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
}

const runs = [...document.querySelectorAll(".run")].map(run);

for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", () => (document.querySelector(link.hash).open = true));
}

window.addEventListener("beforeprint", () => {
  for (const one of runs) {
    // open side by side: of details with one name the browser keeps but one open
    one.article.removeAttribute("name");
    one.article.querySelectorAll("details:not(.numbers)").forEach((part) => (part.open = true));
    one.still();
    if (one.article.tagName === "DETAILS") one.article.open = true;
  }
});
