// ---- a scene in space as solids: what was given as such, and rods, balls and rings for lines, points and circles ----

const AROUND = 32; // corners of a round thing
const SLOW = 14; // milliseconds: what takes longer is drawn coarsely while it moves
const ROD = 0.007, BALL = 0.019; // radii beside the size of the scene

// What a profile of [radius, height, and their normals] gives that is turned about z.
function revolved(profile, around = AROUND) {
  const vertices = [], normals = [], faces = [];
  profile.forEach(([r, z, nr, nz], ring) => {
    for (let k = 0; k < around; k++) {
      const [c, s] = [Math.cos((2 * Math.PI * k) / around), Math.sin((2 * Math.PI * k) / around)];
      vertices.push(r * c, r * s, z);
      normals.push(nr * c, nr * s, nz);
      const a = ring * around + k, b = ring * around + ((k + 1) % around);
      if (ring === profile.length - 1) continue;
      if (r > 0) faces.push(a, b, a + around);
      if (profile[ring + 1][0] > 0) faces.push(b, b + around, a + around);
    }
  });
  return { vertices, normals, faces };
}

const unit = (v) => v.map((x) => x / (Math.hypot(...v) || 1));
const crossed = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

// Numbers of two bytes or fewer, as text of base 64.
function decoded(text, Type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

// The triangles of a solid in the axes of its frame.
function geometryOf(solid) {
  if (solid.mesh) {
    const { vertices, normals, faces, quantum, low, wide } = solid.mesh;
    return {
      vertices: Array.from(decoded(vertices, Uint16Array), (x, i) => low[i % 3] + x * quantum),
      normals: Array.from(decoded(normals, Int8Array), (x) => x / 127),
      faces: decoded(faces, wide ? Uint32Array : Uint16Array),
    };
  }
  const raw = revolved(solid.profile), { at, turn, scale } = solid;
  const moved = { vertices: [], normals: [], faces: raw.faces };
  for (let i = 0; i < raw.vertices.length; i += 3) {
    const v = [0, 1, 2].map((d) => raw.vertices[i + d] * scale[d]);
    const n = unit([0, 1, 2].map((d) => raw.normals[i + d] / scale[d]));
    for (let d = 0; d < 3; d++) {
      moved.vertices.push(at[d] + turn[3 * d] * v[0] + turn[3 * d + 1] * v[1] + turn[3 * d + 2] * v[2]);
      moved.normals.push(turn[3 * d] * n[0] + turn[3 * d + 1] * n[1] + turn[3 * d + 2] * n[2]);
    }
  }
  return moved;
}

function solidScene(data, places, view) {
  let cost = 0;
  const raster = rasterOf(), room = new Map(); // vertices on the screen, by how many there are
  const extent = Math.max(...[0, 1, 2].map((d) => data.high[d] - data.low[d])) || 1;
  const geometries = data.solids.map(geometryOf);
  const tube = revolved([[1, 0, 1, 0], [1, 1, 1, 0]], 12);
  const quarter = [...Array(9).keys()].map((i) => ((i - 4) * Math.PI) / 8);
  const ball = revolved(quarter.map((a) => [Math.abs(a) > 1.57 ? 0 : Math.cos(a), Math.sin(a), Math.cos(a), Math.sin(a)]), 20);

  // Things to draw at a time: triangles, where their axes are, and whose they are. Areas come after all others.
  function thingsAt(tau) {
    const things = [], areas = [];
    const rod = (a, b, r, index) => {
      const along = b.map((x, d) => x - a[d]);
      if (!Math.hypot(...along)) return;
      const [u, v] = across(along).map((e) => e.map?.((x) => x * r));
      // the tube's own x, y and z: v, u and along are left-handed
      things.push({ geometry: tube, origin: a, axes: [v, u.map((x) => -x), along], index });
    };
    const knob = (a, r, index) => things.push({ geometry: ball, origin: a, axes: [[r, 0, 0], [0, r, 0], [0, 0, r]], index });
    data.shapes.forEach((shape, index) => {
      if (shape.kind === "solid") {
        const [origin, e, f] = [0, 1, 2].map((k) => places.between(shape.first + k, tau));
        if (!origin || !e || !f) return;
        const x = unit(e), z = unit(crossed(x, f));
        things.push({ geometry: geometries[shape.solid], origin, axes: [x, crossed(z, x), z], index });
        return;
      }
      const corners = cornersOf(shape, places, tau);
      if (!corners) return;
      if (shape.kind === "point") return void knob(corners[0], BALL * extent, index);
      const closed = shape.kind !== "line", r = ROD * extent * (closed ? 0.7 : 1);
      corners.forEach((p, k) => {
        if (shape.kind !== "circle") knob(p, r, index);
        if (closed || k) rod(corners[(k || corners.length) - 1], p, r, index);
      });
      if (closed) areas.push({ corners, index });
    });
    return { things, areas };
  }

  // Vertices of a thing on the screen: x, y, nearness and light, five numbers each; on the ground for its shadow.
  function projected({ geometry, origin, axes }, camera, ss, ground) {
    const { vertices, normals } = geometry, count = vertices.length / 3;
    if (!room.has(count)) room.set(count, new Float32Array(5 * count));
    const at = room.get(count), { right, up, out, middle, distance, scale, x0, y0 } = camera;
    const [ex, ey, ez] = axes, [nx, ny, nz] = axes.map(unit);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const basis = [right, up, out], rows = basis.map((e) => [dot(e, ex), dot(e, ey), dot(e, ez)]);
    const turned = basis.map((e) => [dot(e, nx), dot(e, ny), dot(e, nz)]);
    const from = origin.map((x, d) => x - middle[d]), [rx, ry, rz] = basis.map((e) => dot(e, from));
    for (let i = 0, v = 0, o = 0; i < count; i++, v += 3, o += 5) {
      const [a, b, c] = [vertices[v], vertices[v + 1], vertices[v + 2]];
      let x = rx + rows[0][0] * a + rows[0][1] * b + rows[0][2] * c;
      let y = ry + rows[1][0] * a + rows[1][1] * b + rows[1][2] * c;
      let z = rz + rows[2][0] * a + rows[2][1] * b + rows[2][2] * c;
      if (ground !== undefined) {
        const drop = ground - (origin[2] + ex[2] * a + ey[2] * b + ez[2] * c); // straight down
        y += up[2] * drop;
        z += out[2] * drop;
      }
      const near = distance / Math.max(distance - z, 0.2 * distance);
      at[o] = (x0 + near * x * scale) * ss;
      at[o + 1] = (y0 - near * y * scale) * ss;
      at[o + 2] = near;
      if (ground !== undefined) continue;
      const [l, m, n] = [normals[v], normals[v + 1], normals[v + 2]];
      const light = [0, 1, 2].map((k) => turned[k][0] * l + turned[k][1] * m + turned[k][2] * n);
      for (const [side, sign] of [[3, 1], [4, -1]]) {
        const shine = Math.max(0, sign * dot(light, LIGHT)), fill = Math.max(0, sign * dot(light, FILL));
        at[o + side] = FULL * (0.55 + 0.44 * shine + 0.1 * fill + 0.2 * shine ** 14);
      }
    }
    return at;
  }

  return {
    // Draw the scene at a time onto a canvas of `width` × `height`.
    draw(ctx, tau, width, height, ratio, { colours, colourOf, strengthOf, alpha = 1, shadows = true, trails = [], hurry = false }) {
      const began = performance.now(), fine = ratio < 2 ? 2 * ratio : ratio;
      const ss = hurry && cost > SLOW ? Math.min(1, fine) : fine, camera = view.camera(), paper = paperOf(ctx, colours.paper);
      const { things, areas } = thingsAt(tau);
      raster.begin(Math.max(1, Math.round(width * ss)), Math.max(1, Math.round(height * ss)));
      const onScreen = (p) => {
        const [x, y, depth] = view.project(p);
        return [x * ss, y * ss, camera.distance / Math.max(camera.distance - depth, 0.2 * camera.distance)];
      };
      const shades = new Map();
      for (const thing of things) {
        const { index } = thing;
        if (!shades.has(index)) shades.set(index, shadesOf(rgbOf(colourOf(data.shapes[index])), paper, strengthOf(index)));
        raster.triangles(projected(thing, camera, ss), thing.geometry.faces, shades.get(index), index);
      }
      if (shadows) {
        for (const thing of things) raster.shadow(projected(thing, camera, ss, view.ground), thing.geometry.faces);
        raster.layShadows(rgbOf(colours.shadow), colours.dark ? 0.5 : 0.24);
      }
      for (const { points, colour, alphaOf } of trails)
        raster.line(points.map((p) => p && onScreen(p)), rgbOf(colour), Math.round(2 * ss), alphaOf);
      const polygons = areas.map(({ corners, index }) => ({ points: corners.map(onScreen), index }));
      const nearness = (polygon) => polygon.points.reduce((sum, p) => sum + p[2], 0) / polygon.points.length;
      polygons.sort((a, b) => nearness(a) - nearness(b));
      for (const { points, index } of polygons)
        raster.area(points, rgbOf(colourOf(data.shapes[index])), 0.22 * strengthOf(index), index);
      raster.end();
      ctx.globalAlpha = alpha;
      ctx.imageSmoothingQuality = ss > ratio ? "medium" : "low";
      ctx.drawImage(raster.canvas, 0, 0, width, height);
      ctx.globalAlpha = 1;
      this.pixelsPer = ss;
      cost += 0.25 * ((performance.now() - began) * (fine / ss) ** 2 - cost); // of a picture at its finest
    },
    // The shape that was drawn last at a place of the canvas, or near it.
    shapeAt(x, y) {
      const found = raster.ownerAt(Math.round(x * this.pixelsPer), Math.round(y * this.pixelsPer), Math.round(5 * this.pixelsPer));
      return found < 0 ? null : found;
    },
  };
}

// A colour of the page as red, green and blue.
function paperOf(ctx, colour) {
  ctx.fillStyle = "#ffffff";
  ctx.fillStyle = colour;
  return rgbOf(ctx.fillStyle);
}
