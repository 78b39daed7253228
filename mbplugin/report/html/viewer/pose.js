// Moves the mechanism along its constraint manifold, from where it is: every step of the slider is a pose that was computed.
export function startPose(article, panel, view, posture, moved) {
  const field = panel.querySelector("[data-pose]");
  if (!field) return;
  const coordinate = field.querySelector("[data-coordinate]");
  const slider = field.querySelector("[data-lead]");
  const output = field.querySelector("[data-led]");
  const words = field.querySelector("[data-pose-words]");
  const hasReactions = article.querySelector("[data-reaction]") !== null;
  const chosen = () => posture.coordinates[Number(coordinate.value)];

  const valueOf = (one) => {
    const { values, at } = posture.course(one);
    return `${one.name} = ${Number(values[at].toPrecision(4))} ${one.unit}`;
  };
  const show = () => {
    const { values, at, low, high } = posture.course(chosen());
    slider.max = values.length - 1;
    slider.value = at;
    const away = posture.away();
    const named = posture.coordinates.filter((one) => one === chosen() || away.includes(one.group));
    const why = at === 0 ? low : at === values.length - 1 ? high : "";
    const p = posture.redundancy();
    const singular = p > posture.structural ? ", singular pose" : "";
    output.textContent = [`${named.map(valueOf).join(", ")}; p = ${p}${singular}`, why].filter(Boolean).join("; ");
    const places = posture.places();
    view.place(places, places, 0);
    const map = posture.map();
    const follow = map === undefined ? "below belong to the first pose" : "follow the pose";
    words.textContent = away.length && hasReactions ? `The joint reactions ${follow}.` : "";
    moved(places, map);
  };
  coordinate.onchange = show;
  slider.oninput = () => {
    posture.move(chosen(), Number(slider.value));
    show();
  };
  field.querySelector("[data-first]").onclick = () => {
    posture.reset();
    show();
  };
  show();
}
