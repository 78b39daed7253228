// Moves the mechanism along its constraint manifold: every step of the slider is a pose that was computed.
import { floats } from "./decode.js";

export function startPose(panel, view, data, moved) {
  const field = panel.querySelector("[data-pose]");
  if (!field) return;
  const coordinate = field.querySelector("[data-coordinate]");
  const slider = field.querySelector("[data-lead]");
  const output = field.querySelector("[data-led]");
  const size = 7 * (data.bodies.length - 1);
  const poses = data.sliders.map((one) => floats(one.poses));

  const show = () => {
    const own = Number(coordinate.value);
    const course = data.sliders[own];
    const k = Number(slider.value);
    const at = poses[own].subarray(k * size, (k + 1) * size);
    view.place(at, at, 0);
    moved(k !== course.start);
    const last = course.values.length - 1;
    const why = k === 0 ? course.low : k === last ? course.high : "";
    const singular = course.singular[k] ? ", singular pose" : "";
    const value = Number(course.values[k].toPrecision(4));
    const text = `${course.name} = ${value} ${course.unit}; p = ${course.redundancy[k]}${singular}`;
    output.textContent = why ? `${text}; ${why}` : text;
  };
  const first = () => {
    const course = data.sliders[Number(coordinate.value)];
    slider.max = course.values.length - 1;
    slider.value = course.start;
    show();
  };
  coordinate.onchange = first;
  slider.oninput = show;
  field.querySelector("[data-first]").onclick = first;
  first();
}
