/* Appell's particle: one row, (−ẋ, −ẏ, ż)·q̈ = 0; that it is asked for twice is left out by hand. */
#define N 3

static void acceleration(double t, const double *q, const double *v, double *a) {
  double force = 9.81 * v[2] / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  (void)t, (void)q;
  a[0] = -force * v[0];
  a[1] = -force * v[1];
  a[2] = force * v[2] - 9.81;
}
