// What is to be seen as objects of three, in layers that can be hidden: bodies, joints, arrows, ghosts, a path.
import {
  AmbientLight,
  Box3,
  CatmullRomCurve3,
  DirectionalLight,
  GridHelper,
  Group,
  HemisphereLight,
  Mesh,
  Scene,
  SphereGeometry,
  TubeGeometry,
  Vector3,
} from "three";
import { floats } from "./decode.js";
import { arrow, geometry, material, place } from "./solids.js";

const LAYERS = ["bodies", "joints", "forces", "moments", "ghosts", "path", "load"];
// thickness of arrows beside the radius of the picture
const THICK = { known: 0.008, resolved: 0.006, open: 0.005 };

export function setStage(data) {
  const layers = Object.fromEntries(LAYERS.map((name) => [name, new Group()]));
  const shapes = data.geometries.map(geometry);
  const bodies = data.bodies.map((told) => body(shapes, told, material(data.palette, told.verdict)));
  putAt(bodies, floats(data.poses));
  const joints = data.joints.map((told) => joint(shapes, told, material(data.palette, told.verdict)));
  layers.bodies.add(...bodies);
  if (joints.length) layers.joints.add(...joints);
  const ghosts = data.ghosts.map((ghost) => addGhost(layers.ghosts, shapes, data, ghost));
  if (data.path) layers.path.add(path(data));
  const arrows = data.arrows.flatMap((told) => arrowsOf(data, told));
  for (const made of arrows) layers[`${made.userData.told.quantity}s`].add(made);
  const scene = new Scene();
  scene.add(...Object.values(layers), ...lights(), grid(data, layers.bodies));
  return { scene, layers, bodies, joints, arrows, ghosts };
}

function body(shapes, told, paint) {
  const group = new Group();
  for (const [shape, seven] of told.parts) {
    const part = new Mesh(shapes[shape], paint);
    place(part, seven);
    group.add(part);
  }
  Object.assign(group.userData, { kind: "body", told });
  return group;
}

function joint(shapes, told, paint) {
  const group = new Group();
  const part = new Mesh(shapes[told.mesh], paint);
  place(part, told.place);
  group.add(part);
  Object.assign(group.userData, { kind: "joint", told });
  return group;
}

// the ground, first of all bodies, stays where it is
export function putAt(bodies, poses) {
  bodies.slice(1).forEach((one, k) => place(one, poses.subarray(7 * k, 7 * k + 7)));
}

function addGhost(layer, shapes, data, ghost) {
  const paint = material(data.palette, ghost.key);
  // behind a body in the same pose, whose colour means something
  Object.assign(paint, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
  const bodies = data.bodies.map((told) => body(shapes, told, paint));
  putAt(bodies, floats(ghost.poses));
  for (const one of bodies) if (one.userData.told.verdict !== "ground") layer.add(one);
  return bodies;
}

function path(data) {
  const at = floats(data.path);
  const points = [];
  for (let k = 0; k < at.length; k += 3) {
    const point = new Vector3(at[k], at[k + 1], at[k + 2]);
    // at an event there are two samples in one place
    if (!points.length || point.distanceTo(points[points.length - 1]) > 1e-5 * data.radius) points.push(point);
  }
  if (points.length < 2) return new Group();
  const tube = new TubeGeometry(new CatmullRomCurve3(points), Math.min(4 * points.length, 400), 0.004 * data.radius, 6);
  return new Mesh(tube, material(data.palette, "path"));
}

function arrowsOf(data, told) {
  const vectors = { known: [told.known], resolved: [told.resolved], open: told.fan };
  const heads = told.quantity === "force" ? 1 : 2;
  return Object.entries(vectors).flatMap(([key, all]) =>
    all.filter(Boolean).map((vector) => {
      const made = arrow(vector, THICK[key] * data.radius, material(data.palette, key), heads);
      made.position.set(...told.point);
      Object.assign(made.userData, { kind: "arrow", told, key });
      return made;
    }),
  );
}

// an arrow of a reaction that the page has computed
export function reactionArrow(data, one, quantity) {
  const scale = data.arrow_scale[quantity] || data.load.metres;
  const vector = one[quantity].map((x) => x * scale);
  if (Math.hypot(...vector) < 1e-4 * data.radius) return null;
  const made = arrow(vector, THICK.known * data.radius, material(data.palette, "known"), quantity === "force" ? 1 : 2);
  made.position.set(...one.point);
  const unit = quantity === "force" ? "N" : "N·m";
  const size = Number(Math.hypot(...one[quantity]).toPrecision(4));
  const text = `${one.name}: ${quantity} ${size} ${unit} with the pose and the load of this page`;
  Object.assign(made.userData, { kind: "arrow", told: { joint: one.name, quantity, text }, live: true });
  return made;
}

// the arrow of a load that begins at a point; its head is easy to hit
export function loadArrow(data, { point, force, metres }) {
  const group = new Group();
  const vector = force.map((x) => x * metres);
  const paint = material(data.palette, "selected");
  if (Math.hypot(...vector) > 1e-6 * data.radius) group.add(arrow(vector, 0.012 * data.radius, paint, 1));
  const head = new Mesh(new SphereGeometry(0.06 * data.radius), paint.clone());
  Object.assign(head.material, { transparent: true, opacity: 0.25, depthWrite: false });
  head.position.set(...vector);
  head.userData.head = true;
  group.add(head);
  group.position.set(...point);
  return group;
}

function lights() {
  const sun = new DirectionalLight("#ffffff", 1.6);
  sun.position.set(2, -3, 5);
  return [new AmbientLight("#ffffff", 1.1), new HemisphereLight("#ffffff", "#8d97a1", 1.7), sun];
}

function grid({ radius, center }, bodies) {
  const box = new Box3().setFromObject(bodies);
  const low = box.isEmpty() ? center[2] - radius : Math.max(box.min.z, center[2] - 1.5 * radius);
  const made = new GridHelper(4 * radius, 16, "#7a8896", "#8d9aa7");
  // seen on light and on dark
  Object.assign(made.material, { transparent: true, opacity: 0.35, depthWrite: false });
  made.rotation.x = Math.PI / 2;
  made.position.set(center[0], center[1], low - 0.002 * radius);
  return made;
}
