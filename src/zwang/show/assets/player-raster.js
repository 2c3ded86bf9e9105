// ---- shaded triangles with a depth for every pixel: what is nearer hides what is behind, in any browser, with no GPU ----

const ALIKE = 1e-5; // of two things in one place the first is seen, not a mixture
const SHADES = 255, FULL = 204; // steps of light; from FULL on they go towards white
const LIGHT = [-0.42, 0.4, 0.81], FILL = [0.75, -0.1, 0.65]; // right, up, towards the eye

// The colours of a thing from dark to bright, as pixels; `strength` fades it towards the paper.
function shadesOf(colour, paper, strength) {
  const shades = new Uint32Array(SHADES + 1);
  for (let i = 0; i <= SHADES; i++) {
    const light = i / FULL;
    const rgb = colour.map((c, k) => {
      const lit = light <= 1 ? c * light : c + (255 - c) * (light - 1);
      return Math.round(paper[k] + (lit - paper[k]) * strength);
    });
    shades[i] = 0xff000000 | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0];
  }
  return shades;
}

const pixelOf = ([r, g, b], alpha) => ((alpha * 255 + 0.5) << 24) | (b << 16) | (g << 8) | r;
const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function rasterOf() {
  const canvas = document.createElement("canvas");
  let width = 0, height = 0, image, pixels, depth, owner, mask;

  // The first and the last pixel of a triangle in the row at a level.
  const found = [0, 0];
  function span(ax, ay, bx, by, cx, cy, level) {
    let left = Infinity, right = -Infinity;
    if (ay > level !== by > level) left = right = ax + ((level - ay) / (by - ay)) * (bx - ax);
    if (by > level !== cy > level) {
      const x = bx + ((level - by) / (cy - by)) * (cx - bx);
      if (x < left) left = x;
      if (x > right) right = x;
    }
    if (cy > level !== ay > level) {
      const x = cx + ((level - cy) / (ay - cy)) * (ax - cx);
      if (x < left) left = x;
      if (x > right) right = x;
    }
    found[0] = Math.max(0, Math.ceil(left - 0.5));
    found[1] = Math.min(width - 1, Math.floor(right - 0.5));
    return found;
  }

  const raster = {
    canvas,
    begin(w, h) {
      if (w !== width || h !== height) {
        [width, height, canvas.width, canvas.height] = [w, h, w, h];
        image = new ImageData(w, h);
        pixels = new Uint32Array(image.data.buffer);
        [depth, owner, mask] = [new Float32Array(w * h), new Int32Array(w * h), new Uint8Array(w * h)];
      }
      pixels.fill(0);
      depth.fill(0);
      owner.fill(-1);
    },
    end() {
      canvas.getContext("2d").putImageData(image, 0, 0);
    },
    // The thing at a pixel, or the nearest one a few pixels around.
    ownerAt(x, y, around) {
      let best = -1, nearest = around * around + 1;
      for (let v = Math.max(0, y - around); v <= Math.min(height - 1, y + around); v++)
        for (let u = Math.max(0, x - around); u <= Math.min(width - 1, x + around); u++) {
          const far = (u - x) ** 2 + (v - y) ** 2;
          if (far < nearest && owner[v * width + u] >= 0) [best, nearest] = [owner[v * width + u], far];
        }
      return best;
    },
    // Triangles: of vertices with x, y (pixels), nearness and the light on both sides in `at`, five numbers each.
    triangles(at, faces, shades, who) {
      for (let f = 0; f < faces.length; f += 3) {
        const [a, b, c] = [5 * faces[f], 5 * faces[f + 1], 5 * faces[f + 2]];
        const [ax, ay, bx, by, cx, cy] = [at[a], at[a + 1], at[b], at[b + 1], at[c], at[c + 1]];
        const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
        const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
        if (!area || top > bottom) continue;
        const side = area > 0 ? 4 : 3; // pixels run downwards: seen from outside, the corners of a face run clockwise there
        // how the weights of b and c change to the right and down
        const ux = (cy - ay) / area, uy = -(cx - ax) / area, vx = -(by - ay) / area, vy = (bx - ax) / area;
        const za = at[a + 2], zb = at[b + 2] - za, zc = at[c + 2] - za;
        const sa = at[a + side], sb = at[b + side] - sa, sc = at[c + side] - sa;
        for (let y = top; y <= bottom; y++) {
          const [left, right] = span(ax, ay, bx, by, cx, cy, y + 0.5);
          let u = (left + 0.5 - ax) * ux + (y + 0.5 - ay) * uy, v = (left + 0.5 - ax) * vx + (y + 0.5 - ay) * vy;
          for (let i = y * width + left, last = y * width + right; i <= last; i++, u += ux, v += vx) {
            const z = za + u * zb + v * zc;
            if (z <= depth[i] + ALIKE) continue;
            const s = sa + u * sb + v * sc;
            depth[i] = z;
            owner[i] = who;
            pixels[i] = shades[s < 0 ? 0 : s > SHADES ? SHADES : s | 0];
          }
        }
      }
    },
    // A pixel with a little of a colour on it; `plain` is what it is where there was nothing.
    blend(i, [red, green, blue], alpha, plain) {
      const below = pixels[i];
      if (!below) return void (pixels[i] = plain);
      const known = ((below >>> 24) / 255) * (1 - alpha), sum = alpha + known, [a, b] = [alpha / sum, known / sum];
      const r = red * a + (below & 255) * b, g = green * a + ((below >>> 8) & 255) * b, u = blue * a + ((below >>> 16) & 255) * b;
      pixels[i] = ((sum * 255 + 0.5) << 24) | (u << 16) | (g << 8) | r;
    },
    // A flat area within a closed line of points [x, y, nearness], or what it leaves on pixels that are nothing yet.
    area(points, colour, alpha, who) {
      const bounds = [[width, -1], [height, -1]];
      for (const p of points) bounds.forEach((b, d) => { [b[0], b[1]] = [Math.min(b[0], Math.floor(p[d])), Math.max(b[1], Math.ceil(p[d]))]; });
      const [[left, right], [top, bottom]] = bounds.map(([a, b], d) => [Math.max(0, a), Math.min(d ? height - 1 : width - 1, b)]);
      const plane = planeOf(points), plain = pixelOf(colour, alpha);
      for (let y = top; y <= bottom; y++) {
        const cuts = [];
        points.forEach((p, k) => {
          const q = points[(k + 1) % points.length], level = y + 0.5;
          if (p[1] > level !== q[1] > level) cuts.push(p[0] + ((level - p[1]) / (q[1] - p[1])) * (q[0] - p[0]));
        });
        cuts.sort((a, b) => a - b);
        for (let k = 0; k + 1 < cuts.length; k += 2)
          for (let x = Math.max(left, Math.ceil(cuts[k] - 0.5)); x <= Math.min(right, cuts[k + 1] - 0.5); x++) {
            const i = y * width + x;
            if (plane[0] + plane[1] * x + plane[2] * y <= depth[i]) continue;
            raster.blend(i, colour, alpha, plain);
            if (owner[i] < 0) owner[i] = who;
          }
      }
    },
    // A thin line through points [x, y, nearness], each stretch with its own strength.
    line(points, colour, wide, alphaOf) {
      for (let k = 1; k < points.length; k++) {
        const [p, q] = [points[k - 1], points[k]];
        if (!p || !q) continue;
        const [dx, dy] = [q[0] - p[0], q[1] - p[1]], length = Math.hypot(dx, dy) || 1e-9, steps = Math.max(1, Math.ceil(length));
        const [nx, ny] = [-dy / length, dx / length], alpha = alphaOf(k), plain = pixelOf(colour, alpha);
        for (let n = 0; n < steps; n++)
          for (let w = -(wide - 1) / 2; w <= wide / 2; w++) {
            const s = (n + 0.5) / steps, x = Math.round(p[0] + s * dx + w * nx - 0.5), y = Math.round(p[1] + s * dy + w * ny - 0.5);
            if (x < 0 || y < 0 || x >= width || y >= height) continue;
            const i = y * width + x;
            if (mask[i] || p[2] + s * (q[2] - p[2]) <= depth[i] * 0.9995) continue;
            mask[i] = 1; // nothing is drawn twice
            raster.blend(i, colour, alpha, plain);
          }
      }
      mask.fill(0);
    },
    // What triangles cover, as a shadow on pixels; `at` has x and y of each vertex among its five numbers.
    shadow(at, faces) {
      for (let f = 0; f < faces.length; f += 3) {
        const [ax, ay, bx, by, cx, cy] = [0, 1, 2].flatMap((k) => [at[5 * faces[f + k]], at[5 * faces[f + k] + 1]]);
        const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
        if (!area) continue;
        const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
        for (let y = top; y <= bottom; y++) {
          const [left, right] = span(ax, ay, bx, by, cx, cy, y + 0.5);
          if (left <= right) mask.fill(1, y * width + left, y * width + right + 1);
        }
      }
    },
    // The shadows that were gathered, where nothing stands.
    layShadows(colour, alpha) {
      const pixel = pixelOf(colour, alpha);
      for (let i = 0; i < mask.length; i++) if (mask[i] && !pixels[i]) pixels[i] = pixel;
      mask.fill(0);
    },
  };
  return raster;
}

// Nearness over the pixels of a flat thing, as a + b x + c y: through the corners that span it widest.
function planeOf(points) {
  const [p] = points;
  let best = [p[2], 0, 0], widest = 0;
  const far = points.reduce((a, q) => (Math.hypot(q[0] - p[0], q[1] - p[1]) > Math.hypot(a[0] - p[0], a[1] - p[1]) ? q : a), p);
  for (const q of points) {
    const [ux, uy, vx, vy] = [far[0] - p[0], far[1] - p[1], q[0] - p[0], q[1] - p[1]], area = ux * vy - uy * vx;
    if (Math.abs(area) <= widest) continue;
    widest = Math.abs(area);
    const [u, v] = [far[2] - p[2], q[2] - p[2]];
    const [b, c] = [(u * vy - v * uy) / area, (v * ux - u * vx) / area];
    best = [p[2] - b * p[0] - c * p[1], b, c];
  }
  return best;
}
