// One 3D view: bodies, joints, arrows, ghosts and labels; turned by the mouse, drawn when something changed.
import { Box3, PerspectiveCamera, Plane, Quaternion, Raycaster, Vector2, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { place, recolour, watchPaper } from "./solids.js";
import { loadArrow, putAt, reactionArrow, setStage } from "./stage.js";

const FADED = 0.07;
// where the view is taken from at first, and how much of the frame is filled then
const FROM = new Vector3(1.35, -2.5, 1.35).normalize();
const FILLED = 0.85;

export function openView(frame, data) {
  const canvas = frame.querySelector("canvas");
  let renderer;
  try {
    if (!document.createElement("canvas").getContext("webgl2")) throw new Error("no WebGL");
    renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
  } catch {
    frame.classList.add("flat");
    return null;
  }
  return new View(frame, canvas, renderer, data);
}

class View {
  constructor(frame, canvas, renderer, data) {
    Object.assign(this, { frame, canvas, renderer, data, closed: false, waiting: false });
    Object.assign(this, { moved: false, live: false, away: false, load: null, onLoad: null, seen: () => true });
    Object.assign(this, setStage(data));
    this.camera = new PerspectiveCamera(35, 1, data.radius / 100, data.radius * 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.ask());
    this.controls.listenToKeyEvents(canvas);
    this.#carryJoints();
    this.#labels();
    this.#listen();
    this.reset();
  }

  #labels() {
    const holder = this.frame.querySelector(".labels");
    holder.replaceChildren();
    const named = [...this.bodies.slice(1), ...this.joints];
    this.labels = named.map((object) => {
      const text = document.createElement("span");
      text.textContent = object.userData.told.name;
      holder.append(text);
      return { text, object };
    });
  }

  #listen() {
    this.controller = new AbortController();
    const { signal } = this.controller;
    this.boxes = [...this.frame.querySelectorAll("[data-show]")];
    for (const box of this.boxes) box.addEventListener("change", () => this.ask(), { signal });
    this.frame.querySelector("[data-reset]").addEventListener("click", () => this.reset(), { signal });
    let down = null;
    // before the controls: what is dragged does not turn the view
    this.canvas.addEventListener("pointerdown", (e) => this.#grip(e), { signal, capture: true });
    this.canvas.addEventListener("pointerdown", (e) => (down = this.plane ? null : [e.clientX, e.clientY]), { signal });
    this.canvas.addEventListener("pointermove", (e) => this.#drag(e), { signal });
    for (const end of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(end, () => this.#release(), { signal });
    }
    this.canvas.addEventListener(
      "pointerup",
      (e) => {
        if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) this.#hit(e);
      },
      { signal },
    );
    watchPaper(() => this.#onPaper(), signal);
    this.watcher = new ResizeObserver(() => this.ask());
    this.watcher.observe(this.canvas);
  }

  #ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  // the head of the load moves in the plane that faces the viewer
  #grip(event) {
    if (!this.load) return;
    const head = this.load.children.find((one) => one.userData.head);
    if (!this.#ray(event).intersectObject(head).length) return;
    const towards = this.camera.getWorldDirection(new Vector3());
    this.plane = new Plane().setFromNormalAndCoplanarPoint(towards, head.getWorldPosition(new Vector3()));
    this.controls.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
  }

  #drag(event) {
    if (!this.plane || !this.load) return;
    const tip = this.#ray(event).ray.intersectPlane(this.plane, new Vector3());
    if (!tip) return;
    const vector = tip.sub(this.load.position).divideScalar(this.data.load.metres);
    this.onLoad?.drag(vector.toArray());
  }

  #release() {
    this.plane = null;
    this.controls.enabled = true;
  }

  #hit(event) {
    const ray = this.#ray(event);
    const seen = ["bodies", "joints", "forces", "moments"].map((name) => this.layers[name]).filter((l) => l.visible);
    // a joint lies inside the bodies that it joins: it is what was meant when it is hit at all
    const all = ray.intersectObjects(seen, true).filter((hit) => owner(hit.object).visible);
    const hits = all.map((hit) => owner(hit.object));
    const found = hits.find((one) => one.userData.kind !== "body") || hits[0];
    const body = all.find((hit) => owner(hit.object).userData.kind === "body");
    if (body) this.onLoad?.hit(owner(body.object).userData.told.name, body.point.toArray());
    if (found) this.#choose([found]);
    else this.#choose([]);
  }

  // shows a body or joint by its name
  pick(kind, name) {
    const own = { body: this.bodies, joint: this.joints, any: [...this.joints, ...this.bodies] }[kind];
    this.#choose(own.filter((object) => object.userData.told.name === name).slice(0, 1));
  }

  #choose(objects) {
    this.#see(() => true);
    this.#paint((object) => (objects.includes(object) ? "selected" : "own"));
    const said = this.frame.querySelector(".picked");
    said.textContent = objects.map((object) => this.#words(object.userData)).join("\n");
    this.chosen = new Set(objects);
    this.ask();
  }

  #words({ kind, told }) {
    if (kind === "arrow") return told.text;
    const legend = Object.fromEntries(this.data.legend.map(([key, , text]) => [key, text]));
    const verdict = legend[told.verdict];
    if (kind === "body") return `${told.name}: ${verdict}${told.stick ? " (drawn as sticks)" : ""}`;
    const carried = this.data.arrows.filter((one) => one.joint === told.name).map((one) => one.text);
    return [`${told.name}: ${told.type} ${told.kind}, ${told.ends.join(" – ")}; ${verdict}`, ...carried].join("\n");
  }

  // shows whom some self-stresses load; none of them shows all again
  stress(chosen) {
    const stresses = chosen.map((k) => this.data.stresses[k]);
    this.#only(
      stresses.flatMap((stress) => stress.joints),
      stresses.flatMap((stress) => stress.bodies),
    );
  }

  // shows some joints with the bodies that they join, and some bodies; without any it shows all again
  highlight(joints, bodies) {
    const ends = this.data.joints.filter((one) => joints.includes(one.name)).flatMap((one) => one.ends);
    this.#only(joints, [...bodies, ...ends.filter((name) => name !== this.data.bodies[0].name)], bodies);
  }

  #only(joints, bodies, marked = []) {
    const names = { body: new Set(bodies), joint: new Set(joints) };
    const all = !names.body.size && !names.joint.size;
    const loaded = ({ userData }) => names[userData.kind].has(userData.told.name);
    const named = (object) => marked.includes(object.userData.told.name);
    this.frame.querySelector(".picked").textContent = "";
    this.#paint((object) => (all ? "own" : named(object) ? "selected" : loaded(object) ? "loaded" : "faded"));
    this.chosen = new Set([...this.joints.filter(loaded), ...this.bodies.filter(named)]);
    // other joints' arrows would hide the loop
    this.#see((made) => all || names.joint.has(made.userData.told.joint));
    this.ask();
  }

  // shows the arrows that a filter lets through; with a load of the page, the known ones are those it has computed
  #see(filter) {
    this.seen = filter;
    for (const made of [...this.layers.forces.children, ...this.layers.moments.children]) {
      const { live, key } = made.userData;
      made.visible = filter(made) && (this.live ? Boolean(live) || (key === "open" && !this.away) : !live);
    }
  }

  // draws reactions that the page has computed; null draws those of the report again
  react(joints, away = false) {
    this.live = joints !== null;
    // what is open in the first pose need not be open in another one
    this.away = away;
    for (const quantity of ["force", "moment"]) {
      const layer = this.layers[`${quantity}s`];
      for (const old of layer.children.filter((one) => one.userData.live)) layer.remove(old);
      const made = (joints || []).map((one) => reactionArrow(this.data, one, quantity));
      for (const one of made) if (one) layer.add(one);
    }
    this.#see(this.seen);
    this.ask();
  }

  // draws a load; null draws none
  setLoad(load) {
    this.layers.load.clear();
    this.load = load && loadArrow(this.data, load);
    if (this.load) this.layers.load.add(this.load);
    this.ask();
  }

  // where the page has no reactions of the pose, those of the first one are not shown
  leave(moved) {
    this.moved = moved;
    this.ask();
  }

  #paint(how) {
    const { palette } = this.data;
    for (const object of [...this.bodies, ...this.joints]) {
      const { kind, told } = object.userData;
      const state = how(object);
      const marked = state === "selected" || (state === "loaded" && kind === "joint");
      const key = marked ? "selected" : told.verdict;
      const [, alpha] = palette[key];
      object.traverse((part) => {
        if (!part.isMesh) return;
        recolour(part.material, palette, key);
        part.material.opacity = state === "faded" ? FADED : alpha;
        part.material.transparent = part.material.opacity < 1;
        part.material.depthWrite = part.material.opacity === 1;
        part.material.needsUpdate = true;
      });
    }
  }

  #onPaper() {
    this.scene.traverse(({ material }) => {
      if (material?.userData.key) recolour(material, this.data.palette, material.userData.key);
    });
    this.ask();
  }

  // moves all bodies between two pictures of a film
  place(before, after, share) {
    const turn = new Quaternion();
    this.bodies.forEach((object, k) => {
      if (!k) return;
      const at = 7 * k - 7;
      place(object, before.subarray(at, at + 7));
      object.position.lerp(new Vector3(after[at], after[at + 1], after[at + 2]), share);
      object.quaternion.slerp(turn.set(after[at + 3], after[at + 4], after[at + 5], after[at + 6]), share);
    });
    this.#carryJoints();
    this.ask();
  }

  // moves a ghost to another pose
  placeGhost(k, poses) {
    putAt(this.ghosts[k], poses);
    this.ask();
  }

  #carryJoints() {
    for (const joint of this.joints) {
      joint.position.copy(this.bodies[joint.userData.told.body].position);
      joint.quaternion.copy(this.bodies[joint.userData.told.body].quaternion);
    }
  }

  reset() {
    const center = new Vector3(...this.data.center);
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(FROM, this.#distance());
    this.controls.update();
    this.ask();
  }

  // from how far all that moves is seen
  #distance() {
    const { center, radius } = this.data;
    const box = new Box3();
    const all = new Box3().setFromCenterAndSize(new Vector3(...center), new Vector3(1, 1, 1).multiplyScalar(2.8 * radius));
    for (const object of this.bodies) {
      // the base of a robot is seen too, but not the hall that it stands in
      const own = new Box3().setFromObject(object);
      if (object.userData.told.verdict !== "ground" || all.containsBox(own)) box.union(own);
    }
    box.expandByObject(this.layers.forces);
    for (const corner of this.data.film.reach || this.data.swings.reach || []) box.expandByPoint(new Vector3(...corner));
    if (box.isEmpty()) box.copy(all);
    box.intersect(all);
    const across = new Vector3().crossVectors(this.camera.up, FROM).normalize();
    const upwards = new Vector3().crossVectors(FROM, across);
    const height = FILLED * Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const width = (height * (this.canvas.clientWidth || 800)) / (this.canvas.clientHeight || 500);
    let needed = 0.5 * radius;
    for (let k = 0; k < 8; k++) {
      const at = new Vector3(...[0, 1, 2].map((i) => (k & (1 << i) ? box.max : box.min).getComponent(i) - center[i]));
      const wanted = Math.max(Math.abs(at.dot(across)) / width, Math.abs(at.dot(upwards)) / height);
      needed = Math.max(needed, at.dot(FROM) + wanted);
    }
    return needed;
  }

  ask() {
    if (this.waiting || this.closed) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.closed) this.draw();
    });
  }

  draw() {
    const width = this.canvas.clientWidth || 800;
    const height = this.canvas.clientHeight || 500;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    const size = this.renderer.getSize(new Vector2());
    if (size.x !== width || size.y !== height) this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    for (const box of this.boxes) {
      const layer = this.layers[box.dataset.show];
      const away = this.moved && ["forces", "moments"].includes(box.dataset.show);
      if (layer) layer.visible = box.checked && !away;
    }
    this.renderer.render(this.scene, this.camera);
    this.#write(width, height);
  }

  #write(width, height) {
    const all = this.boxes.some((box) => box.dataset.show === "labels" && box.checked);
    for (const { text, object } of this.labels) {
      const shown = (all || this.chosen?.has(object)) && object.parent.visible;
      text.hidden = !shown;
      if (!shown) continue;
      const at = new Box3().setFromObject(object).getCenter(new Vector3()).project(this.camera);
      text.style.left = `${(0.5 + 0.5 * at.x) * width}px`;
      text.style.top = `${(0.5 - 0.5 * at.y) * height}px`;
    }
  }

  // keeps what is seen as an image, for paper
  still() {
    this.draw();
    this.frame.querySelector(".still").src = this.canvas.toDataURL("image/png");
  }

  close() {
    this.closed = true;
    this.controller.abort();
    this.watcher.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    // a canvas whose context was lost cannot be drawn on again
    const fresh = this.canvas.cloneNode();
    this.canvas.replaceWith(fresh);
  }
}

function owner(object) {
  let up = object;
  while (up && !up.userData.kind) up = up.parent;
  return up;
}
