// The script of the page: every model gets its view, its filter and its film.
import { filterFindings } from "./filter.js";
import { startFilm } from "./film.js";
import { startLoad } from "./load.js";
import { startPose } from "./pose.js";
import { Posture } from "./posture.js";
import { startSwings } from "./swings.js";
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
    startSwings(article, view, data.swings);
    const panel = article.querySelector(".try");
    if (panel) {
      const loadMoved = startLoad(article, panel, view, data);
      if (data.moves.groups) {
        startPose(article, panel, view, new Posture(data.moves), (places, map) => {
          view.leave(map === undefined);
          loadMoved?.(places, map);
        });
      }
    }
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
    release(article, "[data-stress], [data-show-joints]");
    view.pick(button.dataset.pick, button.dataset.name);
    toView(article);
  } else if (button.dataset.stress !== undefined && view) {
    const on = press(button);
    release(article, "[data-show-joints]");
    const pressed = [...article.querySelectorAll("[data-stress][aria-pressed=true]")];
    view.stress(pressed.map((one) => Number(one.dataset.stress)));
    if (on) toView(article);
  } else if (button.dataset.showJoints !== undefined && view) {
    const on = press(button);
    release(article, "[data-stress], [data-show-joints]", button);
    const { showJoints, showBodies } = button.dataset;
    if (on) view.highlight(JSON.parse(showJoints), JSON.parse(showBodies));
    else view.highlight([], []);
    if (on) toView(article);
  }
}

function press(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  return on;
}

function release(article, which, kept = null) {
  for (const one of article.querySelectorAll(which)) if (one !== kept) one.setAttribute("aria-pressed", "false");
}

function toView(article) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  article.querySelector(".stage").scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
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
