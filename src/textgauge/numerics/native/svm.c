/* Sequential minimal optimisation with second-order choice of the pair (Fan, Chen and Lin 2005), step by step the same
as the one in numpy. */

#include "rbf.h"

enum { BLOCK = 64 };

INLINE float largest(ptrdiff_t n, const float *restrict x) {
    float found = -INFINITY;
#pragma omp simd reduction(max : found)
    for (ptrdiff_t j = 0; j < n; j++) found = x[j] > found ? x[j] : found;
    return found;
}

/* Where a value is first, found block by block. */
INLINE ptrdiff_t first_of(float value, ptrdiff_t n, const float *restrict x) {
    ptrdiff_t start = 0;
    for (int here = 0; start + BLOCK <= n; start += BLOCK) {
#pragma omp simd reduction(| : here)
        for (ptrdiff_t j = start; j < start + BLOCK; j++) here |= x[j] == value;
        if (here) break;
    }
    for (ptrdiff_t j = start; j < n; j++)
        if (x[j] == value) return j;
    return 0;
}

typedef struct {
    ptrdiff_t n, size;
    const float *products, *squares;
    const int64_t *places;
    float factor, above;
    float *curvature, *work;
    uint8_t *ready;
} Matrix;

/* A row of the curvature: made when it is first looked at, since many never are. */
INLINE const float *row_of(const Matrix *of, ptrdiff_t i) {
    const float *products = of->products + (of->places ? of->places[i] : i) * of->size, *squares = of->squares;
    float *row = of->curvature + i * of->n, factor = of->factor, above = of->above;
    if (of->ready[i]) return row;
    if (of->places) products = picked(of->n, products, of->places, of->work);
#pragma omp simd
    for (ptrdiff_t j = 0; j < of->n; j++) row[j] = above - power(factor * squared(squares[i], squares[j], products[j]));
    of->ready[i] = 1;
    return row;
}

/* curvature: n × n, 1 − kernel and a little; labels −1 and 1. Into beta the coefficients; rise and fall are left as the
intercept needs them: y − f of the rows whose coefficient may grow or shrink, infinite elsewhere. gain: room for n.
Rows of the curvature that are not ready are made from `size` rows of products, at n places, and from the products of
these n with themselves, the squares. Without places they are all, and the curvature may lie where the products do. */
WIDE EXPORT void textgauge_svm(int64_t n, float *curvature, uint8_t *restrict ready, int64_t size,
                               const float *products, const int64_t *restrict places, const float *restrict squares,
                               double factor, double above, const float *restrict labels, double tolerance,
                               double *restrict beta, float *restrict rise, float *restrict fall,
                               float *restrict gain) {
    const Matrix matrix = {n, size, products, squares, places, (float)factor, (float)above, curvature, gain, ready};
    for (ptrdiff_t j = 0; j < n; j++) {
        beta[j] = 0.0;
        rise[j] = labels[j] > 0 ? labels[j] : -INFINITY;
        fall[j] = labels[j] < 0 ? labels[j] : INFINITY;
    }
    for (;;) {
        float top = largest(n, rise), widest = -INFINITY, best = -INFINITY;
        ptrdiff_t i = first_of(top, n, rise);
        const float *restrict of_i = row_of(&matrix, i);
#pragma omp simd reduction(max : widest, best)
        for (ptrdiff_t j = 0; j < n; j++) {
            float gap = top - fall[j];
            gain[j] = gap / sqrtf(of_i[j]);
            widest = gap > widest ? gap : widest;
            best = gain[j] > best ? gain[j] : best;
        }
        ptrdiff_t j = first_of(best, n, gain);
        double width = top - fall[j];
        if (!(width >= tolerance) && !(widest >= tolerance)) return;
        const float *restrict of_j = row_of(&matrix, j);
        double high = labels[i] > 0 ? 1.0 : 0.0, low = labels[j] < 0 ? -1.0 : 0.0;
        double step = width / (2.0 * (double)of_i[j]);
        if (high - beta[i] < step) step = high - beta[i];
        if (beta[j] - low < step) step = beta[j] - low;
        float narrow = (float)step;
#pragma omp simd
        for (ptrdiff_t l = 0; l < n; l++) {
            float change = (of_j[l] - of_i[l]) * narrow;
            rise[l] -= change;
            fall[l] -= change;
        }
        beta[i] = beta[i] + step < high ? beta[i] + step : high;
        beta[j] = beta[j] - step > low ? beta[j] - step : low;
        fall[i] = rise[i];
        rise[j] = fall[j];
        if (beta[i] >= high) rise[i] = -INFINITY;
        if (beta[j] <= low) fall[j] = INFINITY;
    }
}
