// Plays a motion: the slider, the bodies and the line across the curves go together.
import { floats } from "./decode.js";

export function startFilm(article, view, film) {
  const bar = article.querySelector(".film");
  if (!bar || !film.time) return;
  const times = film.time;
  const poses = floats(film.poses);
  const size = 7 * film.bodies;
  const start = times[0];
  const end = times[times.length - 1];
  const button = bar.querySelector("[data-play]");
  const slider = bar.querySelector("[data-time]");
  const clock = bar.querySelector("[data-clock]");
  const speed = bar.querySelector("[data-speed]");
  const lines = [...article.querySelectorAll(".now")];
  let now = start;
  let last = null;

  const show = () => {
    const share = (now - start) / (end - start);
    const at = share * (times.length - 1);
    const k = Math.min(Math.floor(at), times.length - 2);
    view.place(poses.subarray(k * size, (k + 1) * size), poses.subarray((k + 1) * size, (k + 2) * size), at - k);
    slider.value = String(1000 * share);
    clock.textContent = `${now.toFixed(3)} s`;
    for (const line of lines) {
      const { left, right, start: from, end: to } = line.dataset;
      const x = Number(left) + ((now - from) / (to - from)) * (right - left);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.style.visibility = "visible";
    }
  };
  const tick = (stamp) => {
    if (last === null || view.closed) return;
    now += (Number(speed.value) * (stamp - last)) / 1000;
    last = stamp;
    if (now >= end) {
      now = end;
      pause();
    } else {
      requestAnimationFrame(tick);
    }
    show();
  };
  const pause = () => {
    last = null;
    button.textContent = "play";
    button.setAttribute("aria-pressed", "false");
  };
  button.onclick = () => {
    if (last !== null) {
      pause();
      return;
    }
    if (now >= end) now = start;
    last = performance.now();
    button.textContent = "pause";
    button.setAttribute("aria-pressed", "true");
    requestAnimationFrame(tick);
  };
  slider.oninput = () => {
    pause();
    now = start + (Number(slider.value) / 1000) * (end - start);
    show();
  };
  show();
}
