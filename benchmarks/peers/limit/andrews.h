/* Andrews' squeezing mechanism: 7 coordinates, 6 constraints; M in blocks, the Schur complement by Cholesky. */
#define N 7

static void acceleration(double t, const double *q, const double *v, double *acc) {
  const double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706, m7 = .05498;
  const double i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7, i7 = 1.912e-5;
  const double xb = -.03635, yb = .03273, xc = .014, yc = .072, c0 = 4530, l0 = .07785, mom = .033;
  const double d = .028, da = .0115, e = .02, ea = .01421, rr = .007, ra = .00092, ss = .035, sa = .01874, sb = .01043;
  const double sc = .018, sd = .02, ta = .02308, tb = .00916, u = .04, ua = .01228, ub = .00449, zf = .02, zt = .04, fa = .01421;
  double be = v[0], th = v[1], ga = v[2], ph = v[3], de = v[4], om = v[5], ep = v[6];
  double sth = sin(q[1]), cth = cos(q[1]), sga = sin(q[2]), cga = cos(q[2]), sph = sin(q[3]), cph = cos(q[3]);
  double sde = sin(q[4]), cde = cos(q[4]), som = sin(q[5]), com = cos(q[5]), sep = sin(q[6]), cep = cos(q[6]);
  double sbe = sin(q[0]), cbe = cos(q[0]), sbt = sin(q[0] + q[1]), cbt = cos(q[0] + q[1]);
  double spd = sin(q[3] + q[4]), cpd = cos(q[3] + q[4]), soe = sin(q[5] + q[6]), coe = cos(q[5] + q[6]);
  double E = e - ea, F = zf - fa;
  (void)t;
  double M11 = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cth + da * da) + i1 + i2, M12 = m2 * (da * da - da * rr * cth) + i2;
  double M22 = m2 * da * da + i2, M33 = m3 * (sa * sa + sb * sb) + i3, M44 = m4 * E * E + i4;
  double M45 = m4 * (E * E + zt * E * sph) + i4;
  double M55 = m4 * (zt * zt + 2 * zt * E * sph + E * E) + m5 * (ta * ta + tb * tb) + i4 + i5;
  double M66 = m6 * F * F + i6, M67 = m6 * (F * F - u * F * som) + i6;
  double M77 = m6 * (F * F - 2 * u * F * som + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
  double xd = sd * cga + sc * sga + xb, yd = sd * sga - sc * cga + yb;
  double lang = sqrt((xd - xc) * (xd - xc) + (yd - yc) * (yd - yc)), force = -c0 * (lang - l0) / lang;
  double fx = force * (xd - xc), fy = force * (yd - yc);
  double f[7] = {mom - m2 * da * rr * th * (th + 2 * be) * sth, m2 * da * rr * be * be * sth,
                 fx * (sc * cga - sd * sga) + fy * (sd * cga + sc * sga), m4 * zt * E * de * de * cph,
                 -m4 * zt * E * ph * (ph + 2 * de) * cph, -m6 * u * F * ep * ep * com, m6 * u * F * om * (om + 2 * ep) * com};
  double D1 = 1 / (M11 * M22 - M12 * M12), D4 = 1 / (M44 * M55 - M45 * M45), D6 = 1 / (M66 * M77 - M67 * M67), D3 = 1 / M33;
  /* rows of A: columns beta, Theta, then the pair of the loop */
  double xbe = -rr * sbe + d * sbt, xth = d * sbt, ybe = rr * cbe - d * cbt, yth = -d * cbt;
  double G3[2] = {-ss * cga, -ss * sga};
  double G4[2] = {-e * cpd, -e * spd}, G5[2] = {-e * cpd + zt * sde, -e * spd - zt * cde};
  double G6[2] = {zf * soe, -zf * coe}, G7[2] = {zf * soe - u * cep, -zf * coe - u * sep};
  double Xq = -rr * cbe * be * be + d * cbt * (be + th) * (be + th), Yq = -rr * sbe * be * be + d * sbt * (be + th) * (be + th);
  double pd = (ph + de) * (ph + de), oe = (om + ep) * (om + ep);
  double b[6] = {-(Xq + ss * sga * ga * ga), -(Yq - ss * cga * ga * ga),
                 -(Xq + e * spd * pd + zt * cde * de * de), -(Yq - e * cpd * pd + zt * sde * de * de),
                 -(Xq + zf * coe * oe + u * sep * ep * ep), -(Yq + zf * soe * oe - u * cep * ep * ep)};
  double a[7] = {D1 * (M22 * f[0] - M12 * f[1]), D1 * (M11 * f[1] - M12 * f[0]), D3 * f[2],
                 D4 * (M55 * f[3] - M45 * f[4]), D4 * (M44 * f[4] - M45 * f[3]),
                 D6 * (M77 * f[5] - M67 * f[6]), D6 * (M66 * f[6] - M67 * f[5])};
  /* M^-1 times the columns that all loops share, and times each loop's own */
  double px = D1 * (M22 * xbe - M12 * xth), pxt = D1 * (M11 * xth - M12 * xbe), py = D1 * (M22 * ybe - M12 * yth), pyt = D1 * (M11 * yth - M12 * ybe);
  double xx = xbe * px + xth * pxt, xy = xbe * py + xth * pyt, yy = ybe * py + yth * pyt;
  double S[6][6], w4[2], w5[2], w6[2], w7[2], r[6];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) S[i][j] = i % 2 ? (j % 2 ? yy : xy) : (j % 2 ? xy : xx);
  for (int i = 0; i < 2; i++) {
    w4[i] = D4 * (M55 * G4[i] - M45 * G5[i]);
    w5[i] = D4 * (M44 * G5[i] - M45 * G4[i]);
    w6[i] = D6 * (M77 * G6[i] - M67 * G7[i]);
    w7[i] = D6 * (M66 * G7[i] - M67 * G6[i]);
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j <= i; j++) {
      S[i][j] += D3 * G3[i] * G3[j];
      S[2 + i][2 + j] += G4[i] * w4[j] + G5[i] * w5[j];
      S[4 + i][4 + j] += G6[i] * w6[j] + G7[i] * w7[j];
    }
  for (int i = 0; i < 6; i++) r[i] = b[i] - (i % 2 ? ybe * a[0] + yth * a[1] : xbe * a[0] + xth * a[1]);
  for (int i = 0; i < 2; i++) {
    r[i] -= G3[i] * a[2];
    r[2 + i] -= G4[i] * a[3] + G5[i] * a[4];
    r[4 + i] -= G6[i] * a[5] + G7[i] * a[6];
  }
  for (int j = 0; j < 6; j++) { /* LDL^T */
    for (int i = j + 1; i < 6; i++) {
      double l = S[i][j] / S[j][j];
      for (int k = j + 1; k <= i; k++) S[i][k] -= l * S[k][j];
      r[i] -= l * r[j];
    }
  }
  for (int i = 5; i >= 0; i--) {
    r[i] /= S[i][i];
    for (int k = i + 1; k < 6; k++) r[i] -= S[k][i] / S[i][i] * r[k];
  }
  double lx = r[0] + r[2] + r[4], ly = r[1] + r[3] + r[5];
  acc[0] = a[0] + lx * px + ly * py;
  acc[1] = a[1] + lx * pxt + ly * pyt;
  acc[2] = a[2] + D3 * (r[0] * G3[0] + r[1] * G3[1]);
  acc[3] = a[3] + r[2] * w4[0] + r[3] * w4[1];
  acc[4] = a[4] + r[2] * w5[0] + r[3] * w5[1];
  acc[5] = a[5] + r[4] * w6[0] + r[5] * w6[1];
  acc[6] = a[6] + r[4] * w7[0] + r[5] * w7[1];
}
