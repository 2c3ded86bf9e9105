/* Point masses of 1 kg on massless rods of 1 m, hanging from the origin: MASSES of them. */
#define N (2 * MASSES)

static void acceleration(double t, const double *q, const double *v, double *a) {
  double dx[MASSES], dy[MASSES], pivot[MASSES], off[MASSES], r[MASSES];
  (void)t;
  for (int i = 0; i < MASSES; i++) {
    double px = i ? q[2 * i - 2] : 0, py = i ? q[2 * i - 1] : 0, ux = i ? v[2 * i - 2] : 0, uy = i ? v[2 * i - 1] : 0;
    double wx = v[2 * i] - ux, wy = v[2 * i + 1] - uy;
    dx[i] = q[2 * i] - px;
    dy[i] = q[2 * i + 1] - py;
    pivot[i] = (i ? 2 : 1) * (dx[i] * dx[i] + dy[i] * dy[i]);
    r[i] = -(wx * wx + wy * wy) + (i ? 0 : 9.81 * dy[0]);
  }
  for (int i = 1; i < MASSES; i++) { /* elimination in a symmetric tridiagonal matrix */
    off[i] = -(dx[i - 1] * dx[i] + dy[i - 1] * dy[i]);
    double l = off[i] / pivot[i - 1];
    pivot[i] -= l * off[i];
    r[i] -= l * r[i - 1];
  }
  r[MASSES - 1] /= pivot[MASSES - 1];
  for (int i = MASSES - 2; i >= 0; i--) r[i] = (r[i] - off[i + 1] * r[i + 1]) / pivot[i];
  for (int i = 0; i < MASSES; i++) {
    double next = i + 1 < MASSES ? r[i + 1] : 0, nx = i + 1 < MASSES ? dx[i + 1] : 0, ny = i + 1 < MASSES ? dy[i + 1] : 0;
    a[2 * i] = r[i] * dx[i] - next * nx;
    a[2 * i + 1] = r[i] * dy[i] - next * ny - 9.81;
  }
}
