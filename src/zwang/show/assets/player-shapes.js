// ---- shapes and their trails ----

const ROUND = 72; // corners of a circle

// Places over time. `at(entry, frame)` is a place or null; `between(entry, tau)` lies on the cubic through frames.
function placesOf({ dimension, columns, quantum, frames }) {
  const axes = [...Array(dimension).keys()];
  const value = (column, i) => (Array.isArray(column) ? column[i] : column);
  function at(entry, i) {
    const place = axes.map((d) => value(columns[entry * dimension + d], i));
    return place.includes(null) ? null : place.map((x) => x * quantum);
  }
  // The four places that make the cubic from frame i to i + 1; at the ends it goes straight on.
  function around(entry, i) {
    const a = at(entry, i), b = at(entry, Math.min(i + 1, frames - 1));
    if (!a || !b) return null;
    const before = i > 0 && at(entry, i - 1), after = i + 2 < frames && at(entry, i + 2);
    return [before || a.map((x, d) => 2 * x - b[d]), a, b, after || b.map((x, d) => 2 * x - a[d])];
  }
  // The same cubic by Bézier's four points.
  function bezier(entry, i) {
    const four = around(entry, i);
    if (!four) return null;
    const [p, a, b, q] = four;
    return [a, a.map((x, d) => x + (b[d] - p[d]) / 6), b.map((x, d) => x - (q[d] - a[d]) / 6), b];
  }
  function between(entry, tau) {
    const i = Math.min(Math.floor(tau), Math.max(frames - 2, 0)), s = tau - i;
    if (s === 0 || frames < 2) return at(entry, i);
    const four = bezier(entry, i);
    if (!four) return null;
    const w = [(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s * s * (1 - s), s ** 3];
    return axes.map((d) => four.reduce((sum, p, k) => sum + w[k] * p[d], 0));
  }
  return { at, bezier, between };
}

// Two directions across a normal, for a circle in space.
function across(normal) {
  const size = Math.hypot(...normal) || 1, n = normal.map((x) => x / size);
  const least = n.map(Math.abs).indexOf(Math.min(...n.map(Math.abs)));
  const e = [0, 0, 0];
  e[least] = 1;
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const u = cross(n, e), length = Math.hypot(...u);
  const unit = u.map((x) => x / length);
  return [unit, cross(n, unit), size];
}

// The corners of a shape in the world at a time; null where it has no place.
function cornersOf(shape, places, tau) {
  const found = [];
  for (let k = shape.first; k < shape.first + shape.count; k++) found.push(places.between(k, tau));
  if (found.includes(null)) return null;
  if (shape.kind !== "circle") return found;
  const [centre, rim] = found;
  const [u, v, radius] = rim.length === 3 ? across(rim) : [[1, 0], [0, 1], Math.abs(rim[0])];
  return [...Array(ROUND).keys()].map((i) => {
    const angle = (2 * Math.PI * i) / ROUND;
    return centre.map((c, d) => c + radius * (Math.cos(angle) * u[d] + Math.sin(angle) * v[d]));
  });
}

function trace(ctx, points, closed) {
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  if (closed) ctx.closePath();
}

// One shape, or one stretch of a line, from its corners on the screen.
function paint(ctx, kind, points, colour, strength) {
  ctx.lineJoin = ctx.lineCap = "round";
  ctx.fillStyle = ctx.strokeStyle = colour;
  if (kind === "point") {
    ctx.globalAlpha = strength;
    ctx.beginPath();
    ctx.arc(points[0][0], points[0][1], ctx.canvas.clientWidth < 500 ? 5 : 6.5, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  const filled = kind === "body" || kind === "circle";
  trace(ctx, points, filled);
  if (filled) {
    ctx.globalAlpha = 0.22 * strength;
    ctx.fill();
  }
  ctx.globalAlpha = strength;
  ctx.lineWidth = filled ? 2 : 3;
  ctx.stroke();
}

const ORDER = ["body", "circle", "line", "point"]; // in the plane, from bottom to top

// The shapes in the plane at a time, those of lower kinds first.
function paintShapes(ctx, data, places, view, tau, colourOf, strengthOf) {
  const rank = ([shape]) => ORDER.indexOf(shape.kind);
  const items = data.shapes.map((shape, index) => [shape, index]).sort((a, b) => rank(a) - rank(b));
  for (const [shape, index] of items) {
    const corners = cornersOf(shape, places, tau);
    if (corners) paint(ctx, shape.kind, corners.map(view.project), colourOf(shape), strengthOf(index));
  }
  ctx.globalAlpha = 1;
}

// The path of a shape's first point until now, in space: its places and how strong each stretch of it is.
function trailOf(shape, data, places, tau, colour, whole) {
  const last = Math.floor(tau), recent = Math.max(data.frames * 0.25, 2);
  const points = [...Array(last + 1).keys()].map((i) => places.at(shape.first, i));
  if (tau > last) points.push(places.between(shape.first, tau));
  const alphaOf = (k) => (whole ? 0.45 : 0.16 + 0.7 * Math.min(Math.max(0, 1 - (tau - k) / recent), 1) ** 2);
  return { points, colour, alphaOf };
}

// The path of a shape's first point until now: faint as a whole, strong where it was a moment ago.
function paintTrail(ctx, shape, data, places, view, tau, colour, whole) {
  const last = Math.min(Math.floor(tau), data.frames - 2);
  const recent = Math.max(data.frames * 0.25, 2);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.lineCap = "butt";
  for (let i = 0; i <= last; i++) {
    const four = places.bezier(shape.first, i);
    if (!four) continue;
    const [a, b, c, d] = four.map(view.project);
    const share = Math.max(0, 1 - (tau - i - 1) / recent);
    ctx.globalAlpha = whole ? 0.45 : 0.13 + 0.62 * Math.min(share, 1) ** 2;
    ctx.beginPath();
    ctx.moveTo(a[0], a[1]);
    if (i === last && tau < last + 1) {
      // the last stretch only goes as far as the shape is now
      const now = view.project(places.between(shape.first, tau));
      const s = tau - last;
      ctx.quadraticCurveTo(a[0] + (b[0] - a[0]) * 1.5 * s, a[1] + (b[1] - a[1]) * 1.5 * s, now[0], now[1]);
    } else ctx.bezierCurveTo(b[0], b[1], c[0], c[1], d[0], d[1]);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

// The shape under the pointer, if any: points win over lines, lines over areas.
function shapeAt(data, places, view, tau, x, y) {
  let best = null;
  data.shapes.forEach((shape, index) => {
    const corners = cornersOf(shape, places, tau);
    if (!corners) return;
    const points = corners.map(view.project);
    let near = Math.min(...points.map((p) => Math.hypot(p[0] - x, p[1] - y)));
    const closed = shape.kind === "body" || shape.kind === "circle";
    let inside = false;
    for (let i = closed ? 0 : 1; i < points.length; i++) {
      const [a, b] = [points[(i || points.length) - 1], points[i]];
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const s = Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1), 0), 1);
      near = Math.min(near, Math.hypot(a[0] + s * dx - x, a[1] + s * dy - y));
      if (closed && a[1] > y !== b[1] > y && x < a[0] + ((y - a[1]) / dy) * dx) inside = !inside;
    }
    const reach = ORDER.length - ORDER.indexOf(shape.kind) + (inside ? Math.min(near, 9) : near);
    if (reach < 14 && (!best || reach < best.reach)) best = { index, reach };
  });
  return best ? best.index : null;
}
