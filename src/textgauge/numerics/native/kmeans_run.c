#include "kmeans.h"

#define AHEAD 16 /* rows looked at before the bounds of the first of them are read, which come from far */

/* What the search for nearer centroids needs; all of it stays as it is, but for the bounds. */
typedef struct {
    ptrdiff_t d, k, width, across, groups;
    const double *x, *squares, *centroids, *halves;
    const int16_t *narrow, *narrowed;
    const float *drift, *farthest;
    float *lower, *lowest, slack;
    double factor, unclear;
} Search;

/* A row, the nearest centroid so far and its score: no more than that until it is `known`. */
typedef struct {
    ptrdiff_t row;
    int64_t label;
    double best, own; /* own: the score of the first label, where it is known */
    float limit;      /* centroids farther than this are not nearer */
    int known;
} Nearest;

INLINE float least(const float *restrict bound, const float *restrict drift) {
    float found = INFINITY;
#pragma omp simd reduction(min : found)
    for (int t = 0; t < GROUP; t++) found = bound[t] - drift[t] < found ? bound[t] - drift[t] : found;
    return found;
}

INLINE double roughly(const Search *s, ptrdiff_t row, ptrdiff_t j) {
    return s->factor * narrow_product(s->width, s->narrow + row * s->width, s->narrowed + j * s->width) - s->halves[j];
}

INLINE double score(const Search *s, ptrdiff_t row, ptrdiff_t j) {
    return exactly(s->d, s->x + row * s->d, s->centroids + j * s->d) - s->halves[j];
}

/* A centroid whose bound is too low: a new bound, and whether it is nearer. */
INLINE void look(const Search *s, Nearest *nearest, ptrdiff_t j) {
    if (j >= s->k) return;
    double square = s->squares[nearest->row], most = roughly(s, nearest->row, j) + s->unclear;
    float *bound = s->lower + nearest->row * s->across + j;
    *bound = distance(square, most) + s->drift[j];
    if (most < nearest->best) return;
    if (!nearest->known) nearest->best = nearest->own = score(s, nearest->row, nearest->label);
    nearest->known = 1;
    double found = score(s, nearest->row, j);
    *bound = distance(square, found) + s->drift[j];
    if (!(found > nearest->best)) return;
    nearest->best = found;
    nearest->label = j;
    nearest->limit = distance(square, found) + s->slack;
}

INLINE void look_around(const Search *s, Nearest *nearest) {
    float *group = s->lowest + nearest->row * s->groups;
    for (ptrdiff_t start = 0; start < s->groups; start += FOUR) {
        for (unsigned open = four_below(group + start, s->farthest + start, nearest->limit); open; open &= open - 1) {
            ptrdiff_t g = start + __builtin_ctz(open);
            if (g * GROUP >= s->k) break; /* only where distances are infinite */
            const float *bound = s->lower + nearest->row * s->across + g * GROUP, *drift = s->drift + g * GROUP;
            float lowest = least(bound, drift);
            if (lowest <= nearest->limit) {
                for (ptrdiff_t t = 0; t < GROUP; t += FOUR)
                    for (unsigned near = four_below(bound + t, drift + t, nearest->limit); near; near &= near - 1)
                        look(s, nearest, g * GROUP + t + __builtin_ctz(near));
                lowest = least(bound, drift);
            }
            group[g] = lowest + s->farthest[g];
        }
    }
}

/* Steps until nothing changes or a cluster runs empty; returns how many are empty, 0 where the steps were not enough, or
−1 at the fixed point. The first step begins with giving out rows.
bounded: the centroids for which the bounds hold; drift: what is to be taken off the bounds of each centroid, farthest:
off the least of each group; slack: what rounding may take from a bound. A row is at most `tight` from its own centroid
as that was when its drift was `since`. */
WIDE EXPORT int64_t textgauge_kmeans_run(int64_t n, int64_t d, int64_t k, int64_t width, int64_t across, int64_t groups,
                                         const double *restrict x, const double *restrict squares,
                                         const int16_t *restrict narrow, double scale, double unclear,
                                         double *restrict centroids, double *restrict halves,
                                         int16_t *restrict narrowed, int64_t steps, const double *restrict weights,
                                         double slack, double *restrict bounded, double *restrict sums,
                                         double *restrict sizes, int64_t *restrict labels, int64_t *restrict counted,
                                         int64_t *restrict moved, float *restrict tight, float *restrict since,
                                         float *restrict lower, float *restrict lowest, float *restrict drift,
                                         float *restrict farthest) {
    const Search s = {.d = d, .k = k, .width = width, .across = across, .groups = groups, .x = x, .squares = squares,
                      .centroids = centroids, .halves = halves, .narrow = narrow, .narrowed = narrowed, .drift = drift,
                      .farthest = farthest, .lower = lower, .lowest = lowest, .slack = (float)slack,
                      .factor = 1.0 / (scale * scale), .unclear = unclear};
    for (int64_t step = 0; step < steps; step++) {
        int still = 1;
        float most = 0.0f;
        for (ptrdiff_t j = 0; j < k; j++) {
            double *restrict new = centroids + j * d, *restrict old = bounded + j * d, square = 0.0, length = 0.0;
#pragma omp simd reduction(+ : square, length)
            for (ptrdiff_t l = 0; l < d; l++) {
                square += (new[l] - old[l]) * (new[l] - old[l]);
                length += new[l] * new[l];
                old[l] = new[l];
            }
            if (square > 0.0) {
                float way = (float)(sqrt(square) * 1.000001);
                narrow_row(d, scale, new, narrowed + j * width);
                halves[j] = 0.5 * length;
                drift[j] += way;
                most = way > most ? way : most;
                moved[j] = 1;
            }
            if (moved[j]) still = 0;
            if (j % GROUP == GROUP - 1 || j == k - 1) {
                farthest[j / GROUP] += most;
                most = 0.0f;
            }
        }
        if (still) return -1;
        for (ptrdiff_t top = 0; top < n; top += AHEAD) {
            ptrdiff_t open_rows[AHEAD + 1], count = 0;
            for (ptrdiff_t i = top; i < top + AHEAD && i < n; i++) {
                float limit = tight[i] + (drift[labels[i]] - since[i]) + s.slack;
                open_rows[count] = i;
                unsigned any = 0;
                for (ptrdiff_t start = 0; start < groups; start += FOUR) {
                    unsigned open = four_below(lowest + i * groups + start, farthest + start, limit);
                    any |= open;
                    for (; open; open &= open - 1)
                        __builtin_prefetch(lower + i * across + (start + __builtin_ctz(open)) * GROUP, 1);
                }
                if (any) __builtin_prefetch(narrow + i * width);
                count += any != 0;
            }
            for (ptrdiff_t r = 0; r < count; r++) {
                ptrdiff_t i = open_rows[r], label = labels[i];
                if (drift[label] != since[i]) {
                    tight[i] = distance(squares[i], roughly(&s, i, label) - unclear);
                    since[i] = drift[label];
                }
                float limit = tight[i] + s.slack;
                double own = 0.5 * (squares[i] - (double)limit * limit);
                Nearest nearest = {i, label, own, own, limit, 0};
                look_around(&s, &nearest);
                if (nearest.label == label) continue;
                float left = distance(squares[i], nearest.own), *group = lowest + i * groups + label / GROUP;
                lower[i * across + label] = left + drift[label];
                lower[i * across + nearest.label] = INFINITY;
                left += farthest[label / GROUP];
                *group = left < *group ? left : *group;
                labels[i] = nearest.label;
                tight[i] = distance(squares[i], nearest.best);
                since[i] = drift[nearest.label];
            }
        }
        int64_t empty = textgauge_kmeans_means(n, d, k, x, weights, labels, counted, sums, sizes, centroids, moved);
        if (empty) return empty;
    }
    return 0;
}
