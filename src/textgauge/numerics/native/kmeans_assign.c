#include "kmeans.h"

#define BLOCK 48 /* rows whose products are found at a time, which stay in the cache */

/* Labels by the nearest centroid; of equally near ones a row keeps its own, else it takes the first.
products: BLOCK × across, work: 2 across. If lower is there, the bounds are set, and tight: how far a row is from its
own centroid at most. */
WIDE EXPORT void textgauge_kmeans_assign(int64_t n, int64_t d, int64_t k, int64_t width, int64_t across, int64_t groups,
                                         const double *restrict x, const double *restrict squares,
                                         const int16_t *restrict narrow, double scale, double unclear,
                                         const double *restrict centroids, const double *restrict halves,
                                         int16_t *restrict narrowed, int16_t *restrict packed,
                                         int32_t *restrict products, float *restrict work, int64_t *restrict labels,
                                         float *restrict tight, float *restrict lower, float *restrict lowest) {
    float *restrict score = work, *restrict half = work + across, factor = (float)(1.0 / (scale * scale));
    for (ptrdiff_t j = 0; j < k; j++) narrow_row(d, scale, centroids + j * d, narrowed + j * width);
    for (ptrdiff_t j = 0; j < across; j++) half[j] = (float)halves[j];
    narrow_pack(width, across, narrowed, packed);
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i % BLOCK == 0) {
            ptrdiff_t rows = n - i < BLOCK ? (n - i + TALL - 1) / TALL * TALL : BLOCK;
            narrow_products(rows, width, across, narrow + i * width, packed, products);
        }
        const int32_t *restrict product = products + i % BLOCK * across;
        const double *restrict row = x + i * d;
        float limit = -INFINITY;
#pragma omp simd reduction(max : limit)
        for (ptrdiff_t j = 0; j < across; j++) {
            score[j] = (float)product[j] * factor - half[j];
            limit = score[j] > limit ? score[j] : limit;
        }
        limit -= (float)unclear;
        int64_t label = -1;
        double best = NAN; /* known only where there is another one to be compared with */
        for (ptrdiff_t start = 0; start < across; start += FOUR) {
            for (unsigned near = four_above(score + start, limit); near; near &= near - 1) {
                ptrdiff_t j = start + __builtin_ctz(near);
                if (j >= k) break; /* scores that are not numbers */
                if (label < 0) {
                    label = j;
                    continue;
                }
                if (isnan(best)) best = exactly(d, row, centroids + label * d) - halves[label];
                double found = exactly(d, row, centroids + j * d) - halves[j];
                if (found > best || (found == best && j == labels[i])) {
                    best = found;
                    label = j;
                }
            }
        }
        labels[i] = label;
        if (!lower) continue;
        tight[i] = distance(squares[i], score[label] - unclear);
        float *restrict bound = lower + i * across, square = (float)(squares[i] - 2.0 * unclear);
#pragma omp simd
        for (ptrdiff_t j = 0; j < across; j++) {
            float gap = square - 2.0f * score[j];
            bound[j] = sqrtf(gap > 0.0f ? gap : 0.0f);
        }
        bound[label] = INFINITY;
        for (ptrdiff_t first = 0; first < across; first += GROUP) {
            float least = INFINITY;
#pragma omp simd reduction(min : least)
            for (ptrdiff_t j = first; j < first + GROUP; j++) least = bound[j] < least ? bound[j] : least;
            lowest[i * groups + first / GROUP] = least;
        }
    }
}
