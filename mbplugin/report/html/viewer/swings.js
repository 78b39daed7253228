// Swings the mechanism in one of its modes, between the ghosts at its extremes: every pose was computed.
import { floats } from "./decode.js";

export function startSwings(article, view, swings) {
  const bar = article.querySelector(".swings");
  if (!bar || !swings.modes) return;
  const size = 7 * swings.bodies;
  const choice = bar.querySelector("[data-mode]");
  const button = bar.querySelector("[data-play]");
  const slider = bar.querySelector("[data-deflection]");
  const words = bar.querySelector("[data-amplitude]");
  let poses = null;
  let last = 0;
  // of the period, from the pose of rest
  let phase = 0;
  let playing = false;

  const pose = (k) => poses.subarray(k * size, (k + 1) * size);
  // a deflection between -1 and 1
  const show = (deflection) => {
    const steps = poses.length / size - 1;
    const at = (0.5 + 0.5 * deflection) * steps;
    const k = Math.min(Math.floor(at), steps - 1);
    view.place(pose(k), pose(k + 1), at - k);
    slider.value = String(Math.round(1000 * deflection));
  };
  const pause = () => {
    playing = false;
    button.textContent = "play";
    button.setAttribute("aria-pressed", "false");
  };
  const tick = (stamp) => {
    if (!playing || view.closed) return;
    phase = (phase + (stamp - last) / (1000 * swings.period)) % 1;
    last = stamp;
    show(Math.sin(2 * Math.PI * phase));
    requestAnimationFrame(tick);
  };
  const choose = () => {
    const mode = swings.modes[Number(choice.value)];
    poses = floats(mode.poses);
    words.textContent = mode.words;
    view.placeGhost(0, pose(0));
    view.placeGhost(1, pose(poses.length / size - 1));
    show(Number(slider.value) / 1000);
  };
  button.onclick = () => {
    if (playing) {
      pause();
      return;
    }
    // on from where the slider is
    phase = Math.asin(Number(slider.value) / 1000) / (2 * Math.PI);
    playing = true;
    last = performance.now();
    button.textContent = "pause";
    button.setAttribute("aria-pressed", "true");
    requestAnimationFrame(tick);
  };
  slider.oninput = () => {
    pause();
    show(Number(slider.value) / 1000);
  };
  choice.onchange = choose;
  pause();
  choose();
}
