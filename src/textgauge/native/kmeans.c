/* Lloyd's k-means to the fixed point, with lower bounds of all distances (Elkan 2003): what a centroid may have come
nearer is taken off its bounds, and only where a bound falls below the distance to the row's own centroid is a distance
computed. Scores are x·c − ‖c‖²/2, the larger the nearer; what decides is float64. */

#include "kernels.h"

#define CHUNK 16

#define DOT(name, number)                                                                                              \
    static inline __attribute__((always_inline)) number name(ptrdiff_t d, const number *restrict x,                    \
                                                             const number *restrict c) {                               \
        number sums[CHUNK] = {0}, few[4] = {0}, sum = 0; /* as many as keep the adders busy */                         \
        ptrdiff_t l = 0;                                                                                               \
        for (; l + CHUNK <= d; l += CHUNK) {                                                                           \
            _Pragma("omp simd") for (int t = 0; t < CHUNK; t++) sums[t] += x[l + t] * c[l + t];                        \
        }                                                                                                              \
        for (; l + 4 <= d; l += 4) {                                                                                   \
            _Pragma("omp simd") for (int t = 0; t < 4; t++) few[t] += x[l + t] * c[l + t];                             \
        }                                                                                                              \
        for (; l < d; l++) sum += x[l] * c[l];                                                                         \
        for (int t = 0; t < 4; t++) few[t] += (sums[t] + sums[t + 4]) + (sums[t + 8] + sums[t + 12]);                  \
        return sum + ((few[0] + few[1]) + (few[2] + few[3]));                                                          \
    }
DOT(exactly, double)
DOT(roughly, float)

static inline __attribute__((always_inline)) float distance(double square, double score) {
    double found = square - 2.0 * score;
    return found > 0.0 ? (float)sqrt(found) : 0.0f;
}

/* Labels of n rows (x: n × d) by k centroids; of equally near ones a row keeps its own, else it takes the first.
near: n × k scores, right to `unclear`; halves: ‖c‖²/2; squares: ‖x‖². own: the score of the label.
lower, if there: n × k bounds, infinite at the label. */
WIDE EXPORT void textgauge_kmeans_assign(int64_t n, int64_t d, int64_t k, const double *restrict x,
                                         const double *restrict squares, const double *restrict centroids,
                                         const double *restrict halves, const float *restrict near, double unclear,
                                         int64_t *restrict labels, double *restrict own, float *restrict lower) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *restrict row = x + i * d;
        const float *restrict score = near + i * k;
        float limit = -INFINITY;
        int64_t before = labels[i], label = before;
        double best = before < 0 ? -INFINITY : exactly(d, row, centroids + before * d) - halves[before], kept = best;
#pragma omp simd reduction(max : limit)
        for (ptrdiff_t j = 0; j < k; j++) limit = score[j] > limit ? score[j] : limit;
        limit -= (float)unclear;
        for (ptrdiff_t first = 0; first < k; first += CHUNK) {
            ptrdiff_t last = first + CHUNK < k ? first + CHUNK : k;
            int reached = 0;
#pragma omp simd reduction(| : reached)
            for (ptrdiff_t j = first; j < last; j++) reached |= score[j] >= limit;
            for (ptrdiff_t j = first; reached && j < last; j++) {
                if (score[j] < limit || j == before) continue;
                double found = exactly(d, row, centroids + j * d) - halves[j];
                if (found > best) {
                    best = found;
                    label = j;
                }
            }
        }
        if (label < 0) label = 0; /* scores that are not numbers */
        labels[i] = label;
        own[i] = best;
        if (!lower) continue;
        float *restrict bound = lower + i * k, square = (float)(squares[i] - 2.0 * unclear);
#pragma omp simd
        for (ptrdiff_t j = 0; j < k; j++) {
            float gap = square - 2.0f * score[j];
            bound[j] = sqrtf(gap > 0.0f ? gap : 0.0f);
        }
        if (before >= 0) bound[before] = distance(squares[i], kept);
        bound[label] = INFINITY;
    }
}

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

/* Steps until nothing changes or a cluster runs empty; returns how many are empty, 0 where the steps were not enough, or
−1 at the fixed point. The first step begins with giving out rows.
bounded: the centroids for which the bounds hold; drift: what is to be taken off the bounds of each centroid; slack:
what rounding may take from a bound. narrow, narrowed: rows and centroids in float32, each with one more number, so that
their products are scores, right to `unclear`. */
WIDE EXPORT int64_t textgauge_kmeans_run(int64_t n, int64_t d, int64_t k, int64_t steps, const double *restrict x,
                                         const double *restrict weights, const double *restrict squares,
                                         const float *restrict narrow, double *restrict centroids,
                                         double *restrict bounded, float *restrict narrowed, double *restrict halves,
                                         double *restrict sums, double *restrict sizes, int64_t *restrict labels,
                                         int64_t *restrict counted, int64_t *restrict moved, double *restrict own,
                                         float *restrict lower, float *restrict drift, double unclear,
                                         double slack) {
    for (int64_t step = 0; step < steps; step++) {
        int still = 1;
        for (ptrdiff_t j = 0; j < k; j++) {
            double *restrict new = centroids + j * d, *restrict old = bounded + j * d, square = 0.0, length = 0.0;
            float *restrict third = narrowed + j * (d + 1);
#pragma omp simd reduction(+ : square, length)
            for (ptrdiff_t l = 0; l < d; l++) {
                square += (new[l] - old[l]) * (new[l] - old[l]);
                length += new[l] * new[l];
                old[l] = new[l];
                third[l] = (float)new[l];
            }
            third[d] = (float)(-0.5 * length);
            halves[j] = 0.5 * length;
            drift[j] += (float)(sqrt(square) * 1.000001);
            if (square > 0.0) moved[j] = 1;
            if (moved[j]) still = 0;
        }
        if (still) return -1;
        for (ptrdiff_t i = 0; i < n; i++) {
            const double *restrict row = x + i * d;
            float *restrict bound = lower + i * k;
            int64_t label = labels[i];
            if (moved[label]) own[i] = exactly(d, row, centroids + label * d) - halves[label];
            float limit = distance(squares[i], own[i]) + (float)slack;
            double best = own[i];
            for (ptrdiff_t first = 0; first < k; first += CHUNK) {
                ptrdiff_t last = first + CHUNK < k ? first + CHUNK : k;
                float nearest = INFINITY;
#pragma omp simd reduction(min : nearest)
                for (ptrdiff_t j = first; j < last; j++)
                    nearest = bound[j] - drift[j] < nearest ? bound[j] - drift[j] : nearest;
                for (ptrdiff_t j = first; nearest <= limit && j < last; j++) {
                    if (bound[j] - drift[j] > limit) continue;
                    double most = roughly(d + 1, narrow + i * (d + 1), narrowed + j * (d + 1)) + unclear;
                    bound[j] = distance(squares[i], most) + drift[j];
                    if (most < best) continue;
                    double found = exactly(d, row, centroids + j * d) - halves[j];
                    bound[j] = distance(squares[i], found) + drift[j];
                    if (found > best) {
                        best = found;
                        label = j;
                        limit = distance(squares[i], found) + (float)slack;
                    }
                }
            }
            if (label == labels[i]) continue;
            bound[labels[i]] = distance(squares[i], own[i]) + drift[labels[i]];
            bound[label] = INFINITY;
            labels[i] = label;
            own[i] = best;
        }
        int64_t empty = textgauge_kmeans_means(n, d, k, x, weights, labels, counted, sums, sizes, centroids, moved);
        if (empty) return empty;
    }
    return 0;
}
