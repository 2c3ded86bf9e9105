/* The Bennett linkage in three hinge angles, cut open at its fourth joint, whose five conditions have rank 2. No two of
   them stay independent along the motion, so all are kept: one direction of motion n, least squares across it. */
#define N 3

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void mix(double s, const double *a, double t, const double *b, double *c) {
  for (int i = 0; i < 3; i++) c[i] = s * a[i] + t * b[i];
}

static void acceleration(double t, const double *q, const double *v, double *a) {
  const double length[3] = {1, 1.5, 1}, own = 0.01, sa = 0.5, sb = 0.75; /* sines of the twists */
  const double ca = sqrt(1 - sa * sa), cb = sqrt(1 - sb * sb), twist[4][2] = {{1, 0}, {ca, sa}, {cb, sb}, {ca, sa}};
  double X[3] = {1, 0, 0}, Y[3] = {0, 1, 0}, Z[3][3] = {{0, 0, 1}}, hinge[3][3], axis[3], other[3], next[3];
  double spin[3] = {0}, at[3] = {0}, arm[3], swing[3], move[3]; /* of the bar's near end: turning, place, bias */
  double rate[3] = {0}, bias[3] = {0}, turning[3] = {0}, M[3][3] = {{0}}, Q[3] = {0};
  (void)t;
  memcpy(axis, Z[0], sizeof axis);
  for (int i = 0; i < 3; i++) {
    double c = cos(q[i]), s = sin(q[i]), m = length[i], big = m * m * m / 12;
    mix(twist[i][0], Y, twist[i][1], axis, other);
    mix(-twist[i][1], Y, twist[i][0], axis, hinge[i]);
    memcpy(axis, hinge[i], sizeof axis);
    mix(-s, X, c, other, Y);
    mix(c, X, s, other, next);
    memcpy(X, next, sizeof X);
    /* angular velocity, and angular acceleration without that of the hinges */
    cross(spin, axis, next);
    mix(1, turning, v[i], next, turning);
    mix(1, spin, v[i], axis, spin);
    memcpy(Z[i], at, sizeof at); /* where hinge i is */
    mix(1, at, m / 2, X, arm);
    cross(spin, X, swing);
    cross(spin, swing, move);
    cross(turning, X, next);
    mix(1, move, 1, next, move);
    double centre[3], load[3], torque[3], along = dot(spin, X), J[3][3];
    mix(1, bias, m / 2, move, centre);
    /* d(Iω)/dt without hinge accelerations: I turning + (own − big) ((ω·X) swing + …) */
    for (int k = 0; k < 3; k++) {
      load[k] = m * (centre[k] + 9.81 * (k == 2));
      torque[k] = big * turning[k] + (own - big) * (dot(turning, X) * X[k] + along * swing[k]);
    }
    for (int j = 0; j <= i; j++) {
      mix(1, arm, -1, Z[j], next);
      cross(hinge[j], next, J[j]);
      Q[j] -= dot(J[j], load) + dot(hinge[j], torque);
      for (int k = 0; k <= j; k++)
        M[j][k] += m * dot(J[j], J[k]) + big * dot(hinge[j], hinge[k]) + (own - big) * dot(hinge[j], X) * dot(hinge[k], X);
    }
    mix(1, bias, m, move, bias);
    mix(1, at, m, X, at);
  }
  M[0][1] = M[1][0], M[0][2] = M[2][0], M[1][2] = M[2][1];
  /* joint 4: its point (rows 0 to 2) and its axis, whose rate is ω × axis, along two normals (rows 3 and 4) */
  double A[5][3], b[5], fixed[3] = {0, sb, cb}, normal[2][3] = {{0}, {1, 0, 0}};
  cross(fixed, normal[1], normal[0]);
  mix(-twist[3][1], Y, twist[3][0], axis, other);
  for (int j = 0; j < 3; j++) {
    mix(1, at, -1, Z[j], next);
    cross(hinge[j], next, swing);
    cross(hinge[j], other, move);
    for (int k = 0; k < 3; k++) A[k][j] = swing[k];
    for (int k = 0; k < 2; k++) A[3 + k][j] = dot(normal[k], move);
  }
  cross(spin, other, rate);
  cross(spin, rate, swing);
  cross(turning, other, move);
  const double w = 20, far[3] = {-1.5, 0, 0}; /* Baumgarte's correction */
  for (int k = 0; k < 3; k++) b[k] = -bias[k] - w * w * (at[k] - far[k]);
  for (int k = 0; k < 2; k++) b[3 + k] = -dot(normal[k], swing) - dot(normal[k], move) - w * w * dot(normal[k], other);
  for (int k = 0; k < 5; k++) b[k] -= 2 * w * dot(A[k], v);
  /* B = AᵀA has rank 2: n spans its null space, c is the shortest solution of A c = b in the sense of least squares */
  double B[3][3] = {{0}}, c[3] = {0}, n[3] = {0}, cofactor[3][3], best = 0, det;
  int row = 0;
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 3; i++) {
      c[i] += A[k][i] * b[k];
      for (int j = 0; j < 3; j++) B[i][j] += A[k][i] * A[k][j];
    }
  for (int i = 0; i < 3; i++) {
    cross(B[(i + 1) % 3], B[(i + 2) % 3], cofactor[i]);
    if (fabs(cofactor[i][i]) > best) best = fabs(cofactor[i][i]), row = i;
  }
  mix(1 / sqrt(dot(cofactor[row], cofactor[row])), cofactor[row], 0, n, n);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) B[i][j] += n[i] * n[j];
  for (int i = 0; i < 3; i++) cross(B[(i + 1) % 3], B[(i + 2) % 3], cofactor[i]);
  det = dot(B[0], cofactor[0]);
  for (int i = 0; i < 3; i++) next[i] = dot(cofactor[i], c) / det;
  mix(1, next, -dot(n, next), n, c);
  double push = 0, mass = 0;
  for (int i = 0; i < 3; i++) push += n[i] * (Q[i] - dot(M[i], c)), mass += n[i] * dot(M[i], n);
  mix(1, c, push / mass, n, a);
}
