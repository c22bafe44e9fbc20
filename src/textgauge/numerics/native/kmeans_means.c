#include "kmeans.h"

/* Bring sums (k × d), sizes and centroids up to date with the labels; `counted` are those they are up to date with.
moved: which centroids may not be the means of what was counted; afterwards none.
Returns how many clusters are empty; their centroids stay. */
WIDE EXPORT int64_t textgauge_kmeans_means(int64_t n, int64_t d, int64_t k, const double *restrict x,
                                           const double *restrict weights, const int64_t *restrict labels,
                                           int64_t *restrict counted, double *restrict sums, double *restrict sizes,
                                           double *restrict centroids, int64_t *restrict moved) {
    int64_t empty = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t old = counted[i], new = labels[i];
        if (old == new) continue;
        const double *restrict row = x + i * d;
        double weight = weights[i], *restrict to = sums + new * d;
#pragma omp simd
        for (ptrdiff_t l = 0; l < d; l++) to[l] += weight * row[l];
        sizes[new] += weight;
        moved[new] = 1;
        if (old >= 0) {
            double *restrict from = sums + old * d;
#pragma omp simd
            for (ptrdiff_t l = 0; l < d; l++) from[l] -= weight * row[l];
            sizes[old] -= weight;
            moved[old] = 1;
        }
        counted[i] = new;
    }
    for (ptrdiff_t j = 0; j < k; j++) {
        empty += sizes[j] == 0.0;
        if (!moved[j]) continue;
        if (sizes[j] == 0.0) memset(sums + j * d, 0, (size_t)d * sizeof(double));
        for (ptrdiff_t l = 0; sizes[j] > 0.0 && l < d; l++) centroids[j * d + l] = sums[j * d + l] / sizes[j];
    }
    memset(moved, 0, (size_t)k * sizeof(int64_t));
    return empty;
}
