/* Eigenvectors of symmetric matrices that LAPACK has brought to tridiagonal form, for eigenvalues that are known.

Twisted factorisations (Parlett and Dhillon 1997): with T − λ as L D Lᵀ from above and U E Uᵀ from below, the place where
D + E − (T − λ) is least is where the vector is large; from there it is a product of ratios upwards and downwards. */

#include "kernels.h"

#define LANES 16 /* vectors computed side by side; with their factors they stay in the first cache */

/* Vectors of T of length one, lane by lane in z (n × LANES), and the length of (T − λ)z. */
INLINE void twisted(ptrdiff_t n, const double *restrict diagonal, const double *restrict beside,
                    const double *restrict value, double *restrict above, double *restrict below, double *restrict z,
                    double *restrict residual) {
    double least[LANES], middle[LANES], length[LANES];
    for (int l = 0; l < LANES; l++) above[l] = diagonal[0] - value[l];
    for (ptrdiff_t i = 1; i < n; i++) {
        const double *restrict before = above + (i - 1) * LANES;
        double *restrict here = above + i * LANES, square = beside[i - 1] * beside[i - 1];
#pragma omp simd
        for (int l = 0; l < LANES; l++) here[l] = diagonal[i] - value[l] - square / before[l];
    }
    for (int l = 0; l < LANES; l++) {
        below[(n - 1) * LANES + l] = diagonal[n - 1] - value[l];
        least[l] = fabs(above[(n - 1) * LANES + l]);
        middle[l] = (double)(n - 1);
    }
    for (ptrdiff_t i = n - 2; i >= 0; i--) {
        const double *restrict after = below + (i + 1) * LANES, *restrict other = above + i * LANES;
        double *restrict here = below + i * LANES, square = beside[i] * beside[i];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            double shifted = diagonal[i] - value[l], pivot = shifted - square / after[l];
            double gap = fabs(shifted - other[l] - pivot);
            here[l] = pivot;
            middle[l] = gap <= least[l] ? (double)i : middle[l];
            least[l] = gap <= least[l] ? gap : least[l];
        }
    }
    for (int l = 0; l < LANES; l++) z[(n - 1) * LANES + l] = middle[l] == (double)(n - 1) ? 1.0 : 0.0;
    for (ptrdiff_t i = n - 2; i >= 0; i--) {
        const double *restrict pivot = above + i * LANES, *restrict after = z + (i + 1) * LANES;
        double *restrict here = z + i * LANES, place = (double)i, b = -beside[i];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            double up = b / pivot[l] * after[l];
            double rest = place == middle[l] ? 1.0 : 0.0;
            here[l] = place < middle[l] ? up : rest;
        }
    }
    for (int l = 0; l < LANES; l++) length[l] = z[l] * z[l];
    for (ptrdiff_t i = 1; i < n; i++) {
        const double *restrict pivot = below + i * LANES, *restrict before = z + (i - 1) * LANES;
        double *restrict here = z + i * LANES, place = (double)i, b = -beside[i - 1];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            double down = b / pivot[l] * before[l], entry = place > middle[l] ? down : here[l];
            here[l] = entry;
            length[l] += entry * entry;
        }
    }
    for (int l = 0; l < LANES; l++) {
        length[l] = 1.0 / sqrt(length[l]);
        residual[l] = least[l] * length[l];
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        for (int l = 0; l < LANES; l++) z[i * LANES + l] *= length[l];
    }
}

/* z becomes Q z; the reflections whose product is Q stand in the rows of a, as LAPACK's dsytrd leaves them. */
INLINE void turn(ptrdiff_t n, const double *restrict a, const double *restrict tau, double *restrict z) {
    for (ptrdiff_t k = n - 2; k >= 0; k--) {
        const double *restrict v = a + k * n;
        double *restrict head = z + (k + 1) * LANES, sums[LANES];
        for (int l = 0; l < LANES; l++) sums[l] = head[l];
        for (ptrdiff_t i = k + 2; i < n; i++) {
#pragma omp simd
            for (int l = 0; l < LANES; l++) sums[l] += v[i] * z[i * LANES + l];
        }
        for (int l = 0; l < LANES; l++) {
            sums[l] *= tau[k];
            head[l] -= sums[l];
        }
        for (ptrdiff_t i = k + 2; i < n; i++) {
#pragma omp simd
            for (int l = 0; l < LANES; l++) z[i * LANES + l] -= v[i] * sums[l];
        }
    }
}

/* Vectors for m eigenvalues, as columns of `vectors` (n × m): of T, or of the whole matrix where its reflections are
given; and the length of (T − λ)z of each. work: 48 n. */
WIDE EXPORT void textgauge_eigenvectors(int64_t n, int64_t m, const double *restrict diagonal,
                                        const double *restrict beside, const double *restrict values,
                                        const double *restrict reflections, const double *restrict tau,
                                        double *restrict vectors, double *restrict residuals, double *restrict work) {
    double *above = work, *below = work + LANES * n, *z = work + 2 * LANES * n;
    for (ptrdiff_t first = 0; first < m; first += LANES) {
        double value[LANES], residual[LANES];
        ptrdiff_t lanes = m - first < LANES ? m - first : LANES;
        for (ptrdiff_t l = 0; l < LANES; l++) value[l] = values[first + (l < lanes ? l : lanes - 1)];
        twisted(n, diagonal, beside, value, above, below, z, residual);
        if (reflections) turn(n, reflections, tau, z);
        for (ptrdiff_t i = 0; i < n; i++) memcpy(vectors + i * m + first, z + i * LANES, (size_t)lanes * sizeof(double));
        memcpy(residuals + first, residual, (size_t)lanes * sizeof(double));
    }
}
