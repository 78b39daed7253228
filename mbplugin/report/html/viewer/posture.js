// A pose of the mechanism: of every group of coordinates one of the poses that were computed. Groups share no loop.
import { Quaternion, Vector3 } from "three";
import { floats } from "./decode.js";

export class Posture {
  constructor({ tree, places, groups, structural }) {
    Object.assign(this, { tree, structural, first: floats(places) });
    this.groups = groups.map((told) => {
      const group = { told, places: floats(told.places), maps: told.maps ? floats(told.maps) : null, offsets: [0] };
      for (const row of told.rows) group.offsets.push(group.offsets.at(-1) + row.values.length);
      return home(group);
    });
    this.coordinates = this.groups.flatMap((group) =>
      group.told.coordinates.map((told, k) => ({ ...told, group, across: k === 0 && group.told.across !== null })),
    );
  }

  reset() {
    this.groups.forEach(home);
  }

  // the values that a coordinate can take from here, and which of them it has
  course({ group, across }) {
    return across ? { ...group.told.across, at: group.row } : { ...group.told.rows[group.row], at: group.column };
  }

  move({ group, across }, k) {
    for (const other of this.groups) if (other !== group && other.told.loops === group.told.loops) home(other);
    if (across) {
      group.row = k;
      const away = group.told.rows[k].values.map((value) => Math.abs(value - group.wanted));
      group.column = away.indexOf(Math.min(...away));
    } else {
      group.column = k;
      group.wanted = group.told.rows[group.row].values[k];
    }
  }

  away() {
    return this.groups.filter((group) => index(group) !== group.start);
  }

  redundancy() {
    const [one] = this.groups;
    const change = ({ told, start, ...group }) => told.redundancy[index({ start, ...group })] - told.redundancy[start];
    return this.groups.reduce((sum, group) => sum + change(group), one.told.redundancy[one.start]);
  }

  // places of all bodies in the world, seven numbers each
  places() {
    const relative = this.first.slice();
    for (const group of this.away()) {
      const { bodies } = group.told;
      const from = 7 * bodies.length * index(group);
      bodies.forEach((body, k) => relative.set(group.places.subarray(from + 7 * k, from + 7 * k + 7), 7 * body));
    }
    const world = new Float32Array(relative.length);
    for (const [body, carrier] of this.tree) {
      const own = relative.subarray(7 * body, 7 * body + 7);
      const turn = rotation(world, carrier);
      world.set(toWorld(world, carrier, own).toArray(), 7 * body);
      world.set(turn.multiply(new Quaternion(own[3], own[4], own[5], own[6])).toArray(), 7 * body + 3);
    }
    return world;
  }

  // the map from loads to reactions at this pose: null at the first one, undefined where the page has none
  map() {
    const [group, ...more] = this.away();
    if (!group) return null;
    if (more.length || !group.maps) return undefined;
    const size = group.maps.length / group.offsets.at(-1);
    return group.maps.subarray(size * index(group), size * (index(group) + 1));
  }
}

function home(group) {
  const { across, rows } = group.told;
  group.row = across ? across.start : 0;
  group.column = rows[group.row].start;
  group.wanted = rows[group.row].values[group.column];
  group.start = index(group);
  return group;
}

function index({ offsets, row, column }) {
  return offsets[row] + column;
}

// the ground is body −1
export function rotation(places, body) {
  const at = 7 * body + 3;
  return body < 0 ? new Quaternion() : new Quaternion(...places.subarray(at, at + 4));
}

export function toWorld(places, body, local) {
  const at = new Vector3(local[0], local[1], local[2]);
  return body < 0 ? at : at.applyQuaternion(rotation(places, body)).add(origin(places, body));
}

export function toBody(places, body, point) {
  const at = new Vector3(...point);
  return body < 0 ? at : at.sub(origin(places, body)).applyQuaternion(rotation(places, body).conjugate());
}

function origin(places, body) {
  return new Vector3(...places.subarray(7 * body, 7 * body + 3));
}
