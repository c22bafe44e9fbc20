/* Eigenvalues of symmetric tridiagonal matrices, eight of one size side by side: alone, each step would wait for a division.

QL steps with Wilkinson's shift, without square roots (Reinsch 1971). */

#include "kernels.h"

#define SIDE 8
#define MOST 60 /* steps for one eigenvalue; two are usual */

/* d, e: n × SIDE, a matrix in each column; e holds squares of what stands beside the diagonal and has n rows as well.
Eigenvalues into d, in no order; small: e below which a matrix falls apart. Returns 1 where that takes too long. */
WIDE EXPORT int64_t textgauge_eigenvalues(int64_t n, double *restrict d, double *restrict e,
                                          const double *restrict small) {
    for (ptrdiff_t l = 0; l + 1 < n; l++) {
        for (int turn = 0;; turn++) {
            double sigma[SIDE], c[SIDE], s[SIDE], gamma[SIDE], p[SIDE], going[SIDE];
            int left = 0;
            for (int a = 0; a < SIDE; a++) {
                going[a] = e[l * SIDE + a] > small[a] ? 1.0 : 0.0;
                left += e[l * SIDE + a] > small[a];
            }
            if (!left) break;
            if (turn == MOST) return 1;
            for (int a = 0; a < SIDE; a++) {
                double root = sqrt(e[l * SIDE + a]), half = (d[(l + 1) * SIDE + a] - d[l * SIDE + a]) / (2.0 * root);
                double r = sqrt(half * half + 1.0);
                sigma[a] = d[l * SIDE + a] - root / (half + (half < 0.0 ? -r : r));
                c[a] = 1.0;
                s[a] = 0.0;
                gamma[a] = d[(n - 1) * SIDE + a] - sigma[a];
                p[a] = gamma[a] * gamma[a];
            }
            for (ptrdiff_t i = n - 2; i >= l; i--) {
                double *restrict here = d + i * SIDE, *restrict after = here + SIDE;
                double *restrict beside = e + i * SIDE, *restrict beyond = beside + SIDE;
#pragma omp simd
                for (int a = 0; a < SIDE; a++) {
                    double b = beside[a], r = p[a] + b, before = c[a], old = gamma[a], alpha = here[a];
                    double cosine = p[a] / r, sine = b / r;
                    beyond[a] = going[a] > 0.0 ? s[a] * r : beyond[a];
                    c[a] = r > 0.0 ? cosine : 1.0;
                    s[a] = r > 0.0 ? sine : 0.0;
                    gamma[a] = c[a] * (alpha - sigma[a]) - s[a] * old;
                    after[a] = going[a] > 0.0 ? old + (alpha - gamma[a]) : after[a];
                    double square = gamma[a] * gamma[a] / c[a];
                    p[a] = c[a] != 0.0 ? square : before * b;
                }
            }
            for (int a = 0; a < SIDE; a++) {
                e[l * SIDE + a] = going[a] > 0.0 ? s[a] * p[a] : e[l * SIDE + a];
                d[l * SIDE + a] = going[a] > 0.0 ? sigma[a] + gamma[a] : d[l * SIDE + a];
            }
        }
    }
    return 0;
}
