// A load on a body, typed or dragged, and the reactions that follow from it and from the pose: they are linear in the load.
import { Vector3 } from "three";
import { floats } from "./decode.js";
import { rotation, toBody, toWorld } from "./posture.js";

export function startLoad(article, panel, view, data) {
  const field = panel.querySelector("[data-load]");
  if (!field) return null;
  const { labels, base, bodies, indices, centers, weights, joints } = data.load;
  const first = floats(data.load.matrix);
  const box = field.querySelector("[data-load-on]");
  const body = field.querySelector("[data-load-body]");
  const forces = [...field.querySelectorAll("[data-force]")];
  const words = field.querySelector("[data-load-words]");
  const cells = new Map();
  for (const cell of article.querySelectorAll("[data-reaction]")) {
    cells.set(cell.dataset.reaction, { cell, own: [...cell.childNodes] });
  }
  // in the axes of the body that is loaded
  let point = centers[Number(body.value)];
  let places = floats(data.poses);
  // null at the first pose, undefined where the page has none
  let map = null;

  const loaded = () => indices[Number(body.value)];
  const force = () => (box.checked ? forces.map((one) => Number(one.value) || 0) : [0, 0, 0]);
  // [f; m] about the centre of mass, world axes
  const wrench = () => {
    const f = new Vector3(...force());
    const r = new Vector3(...point).sub(new Vector3(...centers[Number(body.value)]));
    const m = r.applyQuaternion(rotation(places, loaded())).cross(f);
    return [...f.toArray(), ...m.toArray()];
  };
  const reactions = () => {
    const matrix = map || first;
    const parts = (k, i, w) => w.map((x, j) => x * matrix[6 * (labels.length * k + i) + j]);
    return labels.map((_, i) => {
      const known = map ? weights.flatMap((weight, k) => parts(k, i, weight)) : [base[i]];
      const all = [...known, ...parts(Number(body.value), i, wrench())];
      const value = all.reduce((sum, part) => sum + part, 0);
      const size = all.reduce((sum, part) => sum + Math.abs(part), 0);
      // what is smaller is rounding of the matrix
      return Math.abs(value) < 1e-6 * size ? 0 : value;
    });
  };

  const write = (values) => {
    const named = new Map(labels.map((label, i) => [label.join(" "), values[i]]));
    for (const [name, { cell }] of cells) {
      const known = Number.isFinite(named.get(name));
      cell.textContent = known ? String(Number(named.get(name).toPrecision(4))) : "?";
      cell.classList.add("loaded");
      cell.title = known ? "with the pose and the load of this page" : "not determined by the rigid model";
    }
    view.react(
      joints.map((one) => {
        const axes = one.axes.map((axis) => new Vector3(...axis).applyQuaternion(rotation(places, one.a)));
        const part = (names) =>
          names
            .reduce((sum, name, k) => sum.addScaledVector(axes[k], named.get(`${one.name} ${name}`) || 0), new Vector3())
            .toArray();
        const at = toWorld(places, one.b, one.point).toArray();
        return { name: one.name, point: at, force: part(["tx", "ty", "tz"]), moment: part(["rx", "ry", "rz"]) };
      }),
      Boolean(map),
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
    const on = box.checked && map !== undefined;
    if (on || map) write(reactions());
    else restore();
    const at = toWorld(places, loaded(), point).toArray();
    view.setLoad(on ? { point: at, force: force(), metres: data.load.metres } : null);
    const size = Number(Math.hypot(...force()).toPrecision(4));
    words.textContent = on
      ? `${size} N on ${bodies[Number(body.value)]} at ${at.map((x) => x.toFixed(3)).join(", ")} m`
      : box.checked
        ? "The load is not added: the page has the reactions of the first pose only."
        : "";
  };

  box.onchange = apply;
  body.onchange = () => {
    point = centers[Number(body.value)];
    apply();
  };
  for (const one of forces) one.oninput = apply;
  view.onLoad = {
    drag: (vector) => {
      forces.forEach((one, k) => (one.value = Number(vector[k].toPrecision(3))));
      apply();
    },
    // a click on a body moves the load there
    hit: (name, at) => {
      const k = bodies.indexOf(name);
      if (!box.checked || map === undefined || k < 0) return;
      body.value = String(k);
      point = toBody(places, loaded(), at).toArray();
      apply();
    },
  };
  apply();
  return (newPlaces, newMap) => {
    places = newPlaces;
    map = newMap;
    apply();
  };
}
