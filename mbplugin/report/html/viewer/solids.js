// Surfaces of the page's data as objects of three.
import {
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { floats, indices } from "./decode.js";

const UP = new Vector3(0, 1, 0);
const CREASE = 0.6;

export function geometry(told) {
  const made = new BufferGeometry();
  made.setAttribute("position", new BufferAttribute(floats(told.v), 3));
  made.setIndex(new BufferAttribute(indices(told.f, told.wide), 1));
  return toCreasedNormals(made, CREASE);
}

// of a key of the palette, which has one colour for light paper and one for dark
export function material(palette, key) {
  const [, alpha] = palette[key];
  const made = new MeshStandardMaterial({
    opacity: alpha,
    transparent: alpha < 1,
    depthWrite: alpha === 1,
    roughness: 0.65,
    metalness: 0.05,
    side: 2,
  });
  recolour(made, palette, key);
  return made;
}

export function recolour(paint, palette, key) {
  const [light, , dark] = palette[key];
  paint.userData.key = key;
  paint.color.set(onDark() ? dark : light);
}

export function onDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// calls back when the paper changes from light to dark or back
export function watchPaper(changed, signal) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
  const watcher = new MutationObserver(changed);
  watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => watcher.disconnect());
}

export function place(object, seven) {
  object.position.set(seven[0], seven[1], seven[2]);
  object.quaternion.set(seven[3], seven[4], seven[5], seven[6]);
}

// an arrow from the origin of its group to a vector; a moment has two heads
export function arrow(vector, radius, paint, heads) {
  const length = Math.hypot(...vector);
  const head = Math.min(5 * radius, (0.5 * length) / heads);
  const group = new Group();
  const shaft = new Mesh(new CylinderGeometry(radius, radius, length - head * heads, 12), paint);
  shaft.position.y = 0.5 * (length - head * heads);
  group.add(shaft);
  for (let k = 0; k < heads; k++) {
    const tip = new Mesh(new ConeGeometry(0.5 * head, head, 16), paint);
    tip.position.y = length - head * (k + 0.5);
    group.add(tip);
  }
  group.quaternion.copy(new Quaternion().setFromUnitVectors(UP, new Vector3(...vector).normalize()));
  return group;
}
