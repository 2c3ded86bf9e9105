/* Crank, coupler and rocker of 1 kg per metre between (0, 0), A, B and (GROUND, 0): the coordinates of A and B, three
   lengths as constraints. M is constant, the same in x and y; the Schur complement by elimination. */
#define N 4

static void acceleration(double t, const double *q, const double *v, double *a) {
  const double maa = (CRANK + COUPLER) / 3, mbb = (COUPLER + ROCKER) / 3, mab = COUPLER / 6, det = maa * mbb - mab * mab;
  const double waa = mbb / det, wbb = maa / det, wab = -mab / det; /* the inverse of M */
  const double fa = -9.81 * (CRANK + COUPLER) / 2, fb = -9.81 * (COUPLER + ROCKER) / 2;
  const double ga = waa * fa + wab * fb, gb = wab * fa + wbb * fb;
  double ax = q[0], ay = q[1], bx = q[2] - GROUND, by = q[3], cx = q[2] - q[0], cy = q[3] - q[1];
  double ux = v[2] - v[0], uy = v[3] - v[1];
  (void)t;
  /* rows: crank (a, 0), rocker (0, b), coupler (-c, c) */
  double s00 = waa * (ax * ax + ay * ay), s11 = wbb * (bx * bx + by * by), s01 = wab * (ax * bx + ay * by);
  double s02 = (wab - waa) * (ax * cx + ay * cy), s12 = (wbb - wab) * (bx * cx + by * cy);
  double s22 = (waa - 2 * wab + wbb) * (cx * cx + cy * cy);
  double r0 = -(v[0] * v[0] + v[1] * v[1]) - ay * ga, r1 = -(v[2] * v[2] + v[3] * v[3]) - by * gb;
  double r2 = -(ux * ux + uy * uy) - cy * (gb - ga);
#ifdef PROXIMAL /* through singular positions: Baumgarte's correction, S + 1e-5 in place of S, refined twice */
  const double w = 20, eps = 1e-5;
  r0 -= 2 * w * (ax * v[0] + ay * v[1]) + w * w * (ax * ax + ay * ay - CRANK * CRANK) / 2;
  r1 -= 2 * w * (bx * v[2] + by * v[3]) + w * w * (bx * bx + by * by - ROCKER * ROCKER) / 2;
  r2 -= 2 * w * (cx * ux + cy * uy) + w * w * (cx * cx + cy * cy - COUPLER * COUPLER) / 2;
  const int rounds = 3;
#else
  const double eps = 0;
  const int rounds = 1;
#endif
  double d0 = s00 + eps, l1 = s01 / d0, l2 = s02 / d0, d1 = s11 + eps - l1 * s01, e = s12 - l1 * s02, l3 = e / d1;
  double d2 = s22 + eps - l2 * s02 - l3 * e, k0 = 0, k1 = 0, k2 = 0;
  for (int i = 0; i < rounds; i++) {
    double t0 = r0 - s00 * k0 - s01 * k1 - s02 * k2, t1 = r1 - s01 * k0 - s11 * k1 - s12 * k2;
    double t2 = r2 - s02 * k0 - s12 * k1 - s22 * k2;
    t1 -= l1 * t0;
    double n2 = (t2 - l2 * t0 - l3 * t1) / d2, n1 = t1 / d1 - l3 * n2, n0 = t0 / d0 - l1 * n1 - l2 * n2;
    k0 += n0, k1 += n1, k2 += n2;
  }
  double pax = k0 * ax - k2 * cx, pay = k0 * ay - k2 * cy, pbx = k1 * bx + k2 * cx, pby = k1 * by + k2 * cy;
  a[0] = waa * pax + wab * pbx;
  a[1] = waa * pay + wab * pby + ga;
  a[2] = wab * pax + wbb * pbx;
  a[3] = wab * pay + wbb * pby + gb;
}
