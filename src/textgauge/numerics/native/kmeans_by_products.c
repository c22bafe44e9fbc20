/* k-means on the inner products of rows, restart by restart to the fixed point.

A cluster is known by the products of its sum with all rows and with itself; a row that goes from one cluster to another
is added here and taken away there. */

#include "kernels.h"

/* The sum of a cluster grows by `share` times a row. */
INLINE void grow(ptrdiff_t n, ptrdiff_t row, double share, const double *restrict products, double *restrict sums,
                 double *restrict square, double *restrict size) {
    const double *restrict added = products + row * n;
    *square += share * (2.0 * sums[row] + share * added[row]);
    *size += share;
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++) sums[j] += share * added[j];
}

/* products: n × n; starts: restarts × k rows, the first centroids; into labels (restarts × n) and objectives
Σ w·‖x − c‖². work: 2 k n + n + 2 k, nearest: n + k. Of equally near centroids a row stays with its own, else it takes
the first. Returns 1 where a cluster runs empty, which is not decided here. */
WIDE EXPORT int64_t textgauge_kmeans_by_products(int64_t n, int64_t k, int64_t restarts, int64_t steps,
                                                 const double *restrict products, const double *restrict weights,
                                                 const int64_t *restrict starts, int64_t *restrict labels,
                                                 double *restrict objectives, double *restrict work,
                                                 int64_t *restrict nearest) {
    double *sums = work, *scores = work + k * n, *best = work + 2 * k * n, *squares = best + n, *sizes = squares + k;
    int64_t *moved = nearest + n;
    for (ptrdiff_t run = 0; run < restarts; run++, labels += n, starts += k) {
        memset(sums, 0, (size_t)(k * n) * sizeof(double));
        memset(squares, 0, 2 * (size_t)k * sizeof(double));
        for (ptrdiff_t j = 0; j < n; j++) labels[j] = -1;
        for (ptrdiff_t c = 0; c < k; c++) {
            const double *restrict row = products + starts[c] * n;
            double half = 0.5 * row[starts[c]];
            for (ptrdiff_t before = 0; before < c; before++) /* of two equal centroids the first is the nearer */
                if (starts[before] == starts[c]) half = INFINITY;
            for (ptrdiff_t j = 0; j < n; j++) scores[c * n + j] = row[j] - half;
        }
        for (int64_t step = 0; step < steps; step++) {
            for (ptrdiff_t j = 0; j < n; j++) {
                best[j] = -INFINITY;
                nearest[j] = -1;
            }
            for (int64_t c = 0; c < k; c++) {
                const double *restrict score = scores + c * n;
#pragma omp simd
                for (ptrdiff_t j = 0; j < n; j++) {
                    nearest[j] = score[j] > best[j] ? c : nearest[j];
                    best[j] = score[j] > best[j] ? score[j] : best[j];
                }
            }
            memset(moved, 0, (size_t)k * sizeof(int64_t));
            int changed = 0;
            for (ptrdiff_t j = 0; j < n; j++) {
                int64_t old = labels[j], new = nearest[j];
                if (new < 0) return 1; /* a score that is not a number */
                if (old == new || (old >= 0 && !(best[j] > scores[old * n + j]))) continue;
                if (old >= 0) grow(n, j, -weights[j], products, sums + old * n, squares + old, sizes + old);
                grow(n, j, weights[j], products, sums + new * n, squares + new, sizes + new);
                if (old >= 0) moved[old] = 1;
                moved[new] = changed = 1;
                labels[j] = new;
            }
            if (!changed) break;
            for (ptrdiff_t c = 0; c < k; c++) {
                if (sizes[c] == 0.0) return 1;
                if (!moved[c]) continue;
                double share = 1.0 / sizes[c], half = 0.5 * squares[c] / (sizes[c] * sizes[c]);
#pragma omp simd
                for (ptrdiff_t j = 0; j < n; j++) scores[c * n + j] = share * sums[c * n + j] - half;
            }
        }
        objectives[run] = 0.0;
        for (ptrdiff_t j = 0; j < n; j++)
            objectives[run] += weights[j] * (products[j * n + j] - 2.0 * scores[labels[j] * n + j]);
    }
    return 0;
}
