// A load on a body, typed or dragged, and the reactions that follow from it: they are linear in the load.
import { floats } from "./decode.js";

export function startLoad(article, panel, view, data) {
  const field = panel.querySelector("[data-load]");
  if (!field) return null;
  const { labels, base, bodies, centers, joints } = data.load;
  const matrix = floats(data.load.matrix);
  const box = field.querySelector("[data-load-on]");
  const body = field.querySelector("[data-load-body]");
  const forces = [...field.querySelectorAll("[data-force]")];
  const words = field.querySelector("[data-load-words]");
  const cells = new Map();
  for (const cell of article.querySelectorAll("[data-reaction]")) {
    cells.set(cell.dataset.reaction, { cell, own: [...cell.childNodes] });
  }
  let point = centers[Number(body.value)];
  let away = false;

  // [f; m] about the centre of mass
  const wrench = () => {
    const f = forces.map((one) => Number(one.value) || 0);
    const r = point.map((x, k) => x - centers[Number(body.value)][k]);
    return [...f, r[1] * f[2] - r[2] * f[1], r[2] * f[0] - r[0] * f[2], r[0] * f[1] - r[1] * f[0]];
  };
  const reactions = () => {
    const w = wrench();
    const start = 6 * labels.length * Number(body.value);
    return labels.map((_, i) => {
      const parts = w.map((x, k) => x * matrix[start + 6 * i + k]);
      const value = parts.reduce((sum, part) => sum + part, base[i]);
      const size = parts.reduce((sum, part) => sum + Math.abs(part), Math.abs(base[i]));
      // what is smaller is rounding of the matrix
      return Math.abs(value) < 1e-6 * size ? 0 : value;
    });
  };
  const on = () => box.checked && !away;

  const write = (values) => {
    const named = new Map(labels.map((label, i) => [label.join(" "), values[i]]));
    for (const [name, { cell }] of cells) {
      const known = named.has(name);
      cell.textContent = known ? String(Number(named.get(name).toPrecision(4))) : "?";
      cell.classList.add("loaded");
      cell.title = known ? "with the load of this page" : "not determined by the rigid model";
    }
    view.react(
      joints.map((one) => {
        const part = (names) =>
          names
            .map((name, k) => [named.get(`${one.name} ${name}`) || 0, one.axes[k]])
            .reduce((sum, [value, axis]) => sum.map((x, i) => x + value * axis[i]), [0, 0, 0]);
        return { ...one, force: part(["tx", "ty", "tz"]), moment: part(["rx", "ry", "rz"]) };
      }),
    );
  };
  const restore = () => {
    for (const { cell, own } of cells.values()) {
      cell.replaceChildren(...own);
      cell.classList.remove("loaded");
      cell.removeAttribute("title");
    }
    view.react(null);
  };
  const apply = () => {
    if (on()) write(reactions());
    else restore();
    const f = wrench().slice(0, 3);
    view.setLoad(on() ? { point, force: f, metres: data.load.metres } : null);
    const size = Number(Math.hypot(...f).toPrecision(4));
    words.textContent = on()
      ? `${size} N on ${bodies[Number(body.value)]} at ${point.map((x) => x.toFixed(3)).join(", ")} m`
      : away && box.checked
        ? "the reactions belong to the first pose"
        : "";
  };

  box.onchange = apply;
  body.onchange = () => {
    point = centers[Number(body.value)];
    apply();
  };
  for (const one of forces) one.oninput = apply;
  view.onLoad = {
    drag: (force) => {
      forces.forEach((one, k) => (one.value = Number(force[k].toPrecision(3))));
      apply();
    },
    // a click on a body moves the load there
    hit: (name, at) => {
      const k = bodies.indexOf(name);
      if (!on() || k < 0) return;
      body.value = String(k);
      point = at;
      apply();
    },
  };
  apply();
  return (moved) => {
    if (away === moved) return;
    away = moved;
    apply();
  };
}
