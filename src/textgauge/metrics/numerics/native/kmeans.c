/* Lloyd's k-means on the inner products of few rows, restart by restart to the fixed point.

A cluster is known by the products of its sum with all rows and with itself. A row that changes its cluster is added to
one sum and subtracted from another. Plain C11; arrays are contiguous and do not overlap; the caller in Python checks
sizes and types. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACE 3 /* raise it with every change of a signature: a library built before is then refused */

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* The loops must be compiled together with their caller, for its processor. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* One library for all x86-64 processors: the loops are compiled twice, and the AVX2 build runs where it can. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define TWO_BUILDS 1
#define PER_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PER_PROCESSOR
#endif

enum { SOLVED = 0, UNDECIDED = 1, NO_MEMORY = 2 };

EXPORT int64_t textgauge_interface(void) { return INTERFACE; }

EXPORT int64_t textgauge_has_avx2_build(void) {
#if defined(TWO_BUILDS)
    return __builtin_cpu_supports("x86-64-v3") != 0;
#else
    return 0;
#endif
}

typedef struct {
    double *sums, *scores; /* k × n: products of a cluster's sum with all rows; x·c − ‖c‖²/2, the larger the nearer */
    double *best;          /* n: the score of the nearest centroid */
    double *squares, *sizes; /* k: products of the sums with themselves; weights of the clusters */
    int64_t *nearest;        /* n */
    int64_t *moved;          /* k: whether a cluster gained or lost rows */
} Work;

/* The sum of a cluster grows by `share` times a row. */
INLINE void grow(ptrdiff_t n, ptrdiff_t row, double share, const double *restrict products, const Work *w, int64_t c) {
    const double *restrict added = products + row * n;
    double *restrict sums = w->sums + c * n;
    w->squares[c] += share * (2.0 * sums[row] + share * added[row]);
    w->sizes[c] += share;
    w->moved[c] = 1;
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++) sums[j] += share * added[j];
}

/* Begin with the rows at `starts` as centroids, and no row in any cluster. */
INLINE void begin(ptrdiff_t n, ptrdiff_t k, const double *restrict products, const int64_t *restrict starts,
                  int64_t *restrict labels, const Work *w) {
    memset(w->sums, 0, (size_t)(k * n) * sizeof(double));
    memset(w->squares, 0, (size_t)k * sizeof(double));
    memset(w->sizes, 0, (size_t)k * sizeof(double));
    for (ptrdiff_t j = 0; j < n; j++) labels[j] = -1;
    for (ptrdiff_t c = 0; c < k; c++) {
        const double *restrict row = products + starts[c] * n;
        double half = 0.5 * row[starts[c]];
        for (ptrdiff_t before = 0; before < c; before++) /* of two equal centroids the first is the nearer */
            if (starts[before] == starts[c]) half = INFINITY;
        for (ptrdiff_t j = 0; j < n; j++) w->scores[c * n + j] = row[j] - half;
    }
}

INLINE void find_nearest(ptrdiff_t n, int64_t k, const Work *w) {
    double *restrict best = w->best;
    int64_t *restrict nearest = w->nearest;
    for (ptrdiff_t j = 0; j < n; j++) {
        best[j] = -INFINITY;
        nearest[j] = -1;
    }
    for (int64_t c = 0; c < k; c++) {
        const double *restrict score = w->scores + c * n;
#pragma omp simd
        for (ptrdiff_t j = 0; j < n; j++) {
            nearest[j] = score[j] > best[j] ? c : nearest[j];
            best[j] = score[j] > best[j] ? score[j] : best[j];
        }
    }
}

/* products: n × n; starts: restarts × k rows, the first centroids; into labels (restarts × n) and objectives
Σ w·‖x − c‖². Of equally near centroids a row stays with its own, or else takes the first. Returns UNDECIDED where a
cluster is left empty or a score is not a number. */
PER_PROCESSOR EXPORT int64_t textgauge_kmeans(int64_t n, int64_t k, int64_t restarts, int64_t steps,
                                              const double *restrict products, const double *restrict weights,
                                              const int64_t *restrict starts, int64_t *restrict labels,
                                              double *restrict objectives) {
    double *numbers = malloc((size_t)(2 * k * n + n + 2 * k) * sizeof(double));
    int64_t *places = malloc((size_t)(n + k) * sizeof(int64_t)), status = numbers && places ? SOLVED : NO_MEMORY;
    const Work w = {numbers, numbers + k * n, numbers + 2 * k * n, numbers + 2 * k * n + n,
                    numbers + 2 * k * n + n + k, places, places + n};
    for (ptrdiff_t run = 0; run < restarts && status == SOLVED; run++, labels += n, starts += k) {
        begin(n, k, products, starts, labels, &w);
        for (int64_t step = 0; step < steps && status == SOLVED; step++) {
            int changed = 0;
            find_nearest(n, k, &w);
            memset(w.moved, 0, (size_t)k * sizeof(int64_t));
            for (ptrdiff_t j = 0; j < n && status == SOLVED; j++) {
                int64_t old = labels[j], new = w.nearest[j];
                if (new < 0) status = UNDECIDED;
                if (new < 0 || old == new || (old >= 0 && !(w.best[j] > w.scores[old * n + j]))) continue;
                if (old >= 0) grow(n, j, -weights[j], products, &w, old);
                grow(n, j, weights[j], products, &w, new);
                labels[j] = new;
                changed = 1;
            }
            if (!changed) break;
            for (ptrdiff_t c = 0; c < k && status == SOLVED; c++) {
                if (w.sizes[c] == 0.0) status = UNDECIDED;
                if (w.sizes[c] == 0.0 || !w.moved[c]) continue;
                double share = 1.0 / w.sizes[c], half = 0.5 * w.squares[c] / (w.sizes[c] * w.sizes[c]);
#pragma omp simd
                for (ptrdiff_t j = 0; j < n; j++) w.scores[c * n + j] = share * w.sums[c * n + j] - half;
            }
        }
        objectives[run] = 0.0;
        for (ptrdiff_t j = 0; j < n && status == SOLVED; j++)
            objectives[run] += weights[j] * (products[j * n + j] - 2.0 * w.scores[labels[j] * n + j]);
    }
    free(numbers);
    free(places);
    return status;
}
