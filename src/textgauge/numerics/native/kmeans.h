/* Lloyd's k-means to the fixed point, with lower bounds of all distances (Elkan 2003): what a centroid may have come
nearer is taken off its bounds, and only where a bound falls below the distance to the row's own centroid is a distance
computed. The least bounds of centroids in groups are kept beside, so that few others are read (Ding et al. 2015).

Scores are x·c − ‖c‖²/2, the larger the nearer. Products in 16 bits give them to `unclear`; where that leaves open which
is the larger, float64 decides.

  n × d      x, the rows; k × d centroids, bounded, sums
  n          squares ‖x‖², weights, labels; tight, since: see kmeans_run.c
  across     k filled up to whole groups: halves ‖c‖²/2 (infinite from k on), drift
  groups     how many, filled up to a multiple of FOUR: farthest
  width      d filled up with zeros: narrow (n, and up to TALL more rows of zeros), narrowed (across), packed (across)
  n × across lower, n × groups lowest: bounds, infinite at a row's own centroid and where there is none */

#ifndef TEXTGAUGE_KMEANS_H
#define TEXTGAUGE_KMEANS_H

#include "narrow.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define GROUP PANEL /* centroids whose bounds lie in one line of the cache */
#define FOUR 4
#define CHUNK 16

int64_t textgauge_kmeans_means(int64_t n, int64_t d, int64_t k, const double *restrict x, const double *restrict weights,
                               const int64_t *restrict labels, int64_t *restrict counted, double *restrict sums,
                               double *restrict sizes, double *restrict centroids, int64_t *restrict moved);

INLINE double exactly(ptrdiff_t d, const double *restrict x, const double *restrict c) {
    double sums[CHUNK] = {0}, few[FOUR] = {0}, sum = 0.0; /* as many as keep the adders busy */
    ptrdiff_t l = 0;
    for (; l + CHUNK <= d; l += CHUNK) {
#pragma omp simd
        for (int t = 0; t < CHUNK; t++) sums[t] += x[l + t] * c[l + t];
    }
    for (; l + FOUR <= d; l += FOUR) {
#pragma omp simd
        for (int t = 0; t < FOUR; t++) few[t] += x[l + t] * c[l + t];
    }
    for (; l < d; l++) sum += x[l] * c[l];
    for (int t = 0; t < FOUR; t++) few[t] += (sums[t] + sums[t + 4]) + (sums[t + 8] + sums[t + 12]);
    return sum + ((few[0] + few[1]) + (few[2] + few[3]));
}

INLINE float distance(double square, double score) {
    double found = square - 2.0 * score;
    return found > 0.0 ? (float)sqrt(found) : 0.0f;
}

/* A centroid in 16 bits; one that was pushed beyond the rows is cut. */
INLINE void narrow_row(ptrdiff_t d, double scale, const double *restrict from, int16_t *restrict to) {
#pragma omp simd
    for (ptrdiff_t l = 0; l < d; l++) {
        double value = scale * from[l];
        value = value < 32766.0 ? value : 32766.0;
        value = value > -32766.0 ? value : -32766.0;
        to[l] = (int16_t)(int32_t)(value + (value < 0.0 ? -0.5 : 0.5));
    }
}

/* Which of four numbers are not below a limit, as bits. */
INLINE unsigned four_above(const float *restrict x, float limit) {
#if defined(__SSE2__)
    return (unsigned)_mm_movemask_ps(_mm_cmpnlt_ps(_mm_loadu_ps(x), _mm_set1_ps(limit)));
#else
    unsigned found = 0;
    for (int t = 0; t < FOUR; t++) found |= (unsigned)!(x[t] < limit) << t;
    return found;
#endif
}

/* Which of four differences are not above a limit; none that is not a number. */
INLINE unsigned four_below(const float *restrict x, const float *restrict y, float limit) {
#if defined(__SSE2__)
    __m128 gaps = _mm_sub_ps(_mm_loadu_ps(x), _mm_loadu_ps(y));
    return (unsigned)_mm_movemask_ps(_mm_cmple_ps(gaps, _mm_set1_ps(limit)));
#else
    unsigned found = 0;
    for (int t = 0; t < FOUR; t++) found |= (unsigned)(x[t] - y[t] <= limit) << t;
    return found;
#endif
}

#endif
