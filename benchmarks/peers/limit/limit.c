/* The limit: hand-written C of the same explicit equations with DOP853 (Hairer, Nørsett, Wanner), -O3.
   Compiled with -DPROBLEM="…" naming a header that defines N (coordinates) and acceleration().
   coefficients.h is written from SciPy's table of the same method. */
#include <math.h>
#include <string.h>
#include "coefficients.h"
#include PROBLEM

static double norm(const double *e, const double *y, const double *z, double tol) {
  double s = 0;
  for (int i = 0; i < 2 * N; i++) {
    double big = fabs(y[i]) > fabs(z[i]) ? fabs(y[i]) : fabs(z[i]);
    double u = e[i] / (tol + tol * big);
    s += u * u;
  }
  return s;
}

static void slope(double t, const double *y, double *f) {
  memcpy(f, y + N, N * sizeof(double));
  acceleration(t, y, y + N, f + N);
}

long integrate(double *y, double t, double end, double tol) {
  double k[13][2 * N], x[2 * N], e5[2 * N], e3[2 * N];
  long steps = 0;
  slope(t, y, k[0]);
  double d0 = sqrt(norm(y, y, y, tol) / (2 * N)), d1 = sqrt(norm(k[0], y, y, tol) / (2 * N));
  double h = d0 > 1e-5 && d1 > 1e-5 ? 0.01 * d0 / d1 : 1e-6;
  for (long attempts = 0; t < end && attempts < 1000000; attempts++) {
    if (t + h > end) h = end - t;
    for (int s = 1; s < 12; s++) {
      for (int i = 0; i < 2 * N; i++) {
        double sum = 0;
        for (int j = 0; j < s; j++) sum += A[s][j] * k[j][i];
        x[i] = y[i] + h * sum;
      }
      slope(t + C[s] * h, x, k[s]);
    }
    for (int i = 0; i < 2 * N; i++) {
      double sum = 0;
      for (int j = 0; j < 12; j++) sum += B[j] * k[j][i];
      x[i] = y[i] + h * sum;
    }
    slope(t + h, x, k[12]);
    for (int i = 0; i < 2 * N; i++) {
      e5[i] = e3[i] = 0;
      for (int j = 0; j < 13; j++) { e5[i] += E5[j] * k[j][i]; e3[i] += E3[j] * k[j][i]; }
    }
    double n5 = norm(e5, y, x, tol), n3 = norm(e3, y, x, tol);
    double error = n5 == 0 && n3 == 0 ? 0 : h * n5 / sqrt((n5 + 0.01 * n3) * 2 * N);
    double factor = error > 0 ? 0.9 * pow(error, -1.0 / 8) : 6;
    if (error < 1) {
      t = t + h;
      memcpy(y, x, sizeof x);
      memcpy(k[0], k[12], sizeof k[0]);
      h *= factor < 6 ? factor : 6;
      steps++;
    } else {
      h *= factor > 0.2 ? factor : 0.2;
    }
  }
  return steps;
}

void ensemble(double *y, long count, double t, double end, double tol) {
#pragma omp parallel for schedule(dynamic)
  for (long i = 0; i < count; i++) integrate(y + i * 2 * N, t, end, tol);
}
