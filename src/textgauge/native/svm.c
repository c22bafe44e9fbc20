/* Sequential minimal optimisation with second-order choice of the pair (Fan, Chen and Lin 2005), step by step the same
as the one in numpy. */

#include "kernels.h"

static inline __attribute__((always_inline)) ptrdiff_t first_largest(ptrdiff_t n, const float *restrict x) {
    float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (ptrdiff_t j = 0; j < n; j++) largest = x[j] > largest ? x[j] : largest;
    for (ptrdiff_t j = 0; j < n; j++)
        if (x[j] == largest) return j;
    return 0;
}

/* curvature: n × n, 1 − kernel and a little; labels −1 and 1. Into beta the coefficients; rise and fall are left as the
intercept needs them: y − f of the rows whose coefficient may grow or shrink, infinite elsewhere. work: 2 n. */
WIDE EXPORT void textgauge_svm(int64_t n, const float *restrict curvature, const float *restrict labels,
                               double tolerance, double *restrict beta, float *restrict rise, float *restrict fall,
                               float *restrict work) {
    float *gap = work, *gain = work + n;
    for (ptrdiff_t j = 0; j < n; j++) {
        beta[j] = 0.0;
        rise[j] = labels[j] > 0 ? labels[j] : -INFINITY;
        fall[j] = labels[j] < 0 ? labels[j] : INFINITY;
    }
    for (;;) {
        ptrdiff_t i = first_largest(n, rise);
        const float *restrict of_i = curvature + i * n;
        float top = rise[i];
#pragma omp simd
        for (ptrdiff_t j = 0; j < n; j++) {
            gap[j] = top - fall[j];
            gain[j] = gap[j] / sqrtf(of_i[j]);
        }
        ptrdiff_t j = first_largest(n, gain);
        double width = gap[j];
        if (!(width >= tolerance) && !(gap[first_largest(n, gap)] >= tolerance)) return;
        const float *restrict of_j = curvature + j * n;
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
