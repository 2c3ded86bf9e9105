/* A thin disc of 2 kg and 0.5 m that rolls: position and quaternion (scalar first), the disc's axis its third.
   The contact force is eliminated by hand: in the frame axis e, rise u (in the disc, away from the contact), w = e × u
   what multiplies the angular acceleration is diagonal: I + m R² (1 − u uᵀ). */
#define N 7
#define MASS 2.0
#define RADIUS 0.5

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void acceleration(double t, const double *q, const double *v, double *a) {
  const double along = MASS * RADIUS * RADIUS / 2, across = along / 2, more = MASS * RADIUS * RADIUS;
  double p = q[3], x = q[4], y = q[5], z = q[6], dp = v[3], dx = v[4], dy = v[5], dz = v[6];
  double o[3] = {2 * (p * dx - x * dp + y * dz - z * dy), 2 * (p * dy - y * dp + z * dx - x * dz),
                 2 * (p * dz - z * dp + x * dy - y * dx)};
  double e[3] = {2 * (x * z + p * y), 2 * (y * z - p * x), 1 - 2 * (x * x + y * y)};
  double size = sqrt(1 - e[2] * e[2]), u[3], w[3], f[3], h[3], s[3], b[3];
  (void)t;
  for (int i = 0; i < 3; i++) u[i] = ((i == 2) - e[2] * e[i]) / size;
  cross(e, u, w);
  cross(o, e, f); /* the rate of e; that of u turns e down and w along */
  double fw = dot(f, w), fu = dot(f, u), turn = -e[2] * fw / size; /* du/dt = −(f·u) e + turn w */
  for (int i = 0; i < 3; i++) b[i] = -fu * e[i] + turn * w[i];
  /* arm of the contact −R u: c̈ = R (ω̇ × u + ω × u̇); moment of the contact force m (c̈ + g z) about the centre */
  cross(o, b, h);
  double gyro = (along - across) * dot(o, e); /* d(Iω)/dt = I ω̇ + (along − across) (ω·e) f */
  double k[3];
  for (int i = 0; i < 3; i++) k[i] = MASS * RADIUS * (RADIUS * h[i] + 9.81 * (i == 2));
  cross(u, k, s);
  for (int i = 0; i < 3; i++) s[i] = -s[i] - gyro * f[i];
  double alpha[3], ae = dot(s, e) / (along + more), au = dot(s, u) / across, aw = dot(s, w) / (across + more);
  for (int i = 0; i < 3; i++) alpha[i] = ae * e[i] + au * u[i] + aw * w[i];
  cross(alpha, u, f);
  for (int i = 0; i < 3; i++) a[i] = RADIUS * (f[i] + h[i]);
  /* q̇ = ω q / 2, so q̈ = (ω̇ q + ω q̇) / 2 */
  a[3] = -(alpha[0] * x + alpha[1] * y + alpha[2] * z + o[0] * dx + o[1] * dy + o[2] * dz) / 2;
  a[4] = (alpha[0] * p + alpha[1] * z - alpha[2] * y + o[0] * dp + o[1] * dz - o[2] * dy) / 2;
  a[5] = (alpha[1] * p + alpha[2] * x - alpha[0] * z + o[1] * dp + o[2] * dx - o[0] * dz) / 2;
  a[6] = (alpha[2] * p + alpha[0] * y - alpha[1] * x + o[2] * dp + o[0] * dy - o[1] * dx) / 2;
}
