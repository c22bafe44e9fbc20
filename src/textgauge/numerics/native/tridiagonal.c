/* Symmetric matrices as Q T Qᵀ, T tridiagonal, for matrices that fit into the second cache.

A step goes over what is left of the matrix once: it applies the reflection of the step before and multiplies by the one
that follows. */

#include "kernels.h"

/* v = (1, …) and tau with (1 − tau v vᵀ) x = (beta, 0, …); x becomes v but for its first entry. */
INLINE double reflect(ptrdiff_t m, double *restrict x, double *restrict beta) {
    double squares = 0.0, alpha = x[0];
#pragma omp simd reduction(+ : squares)
    for (ptrdiff_t j = 1; j < m; j++) squares += x[j] * x[j];
    if (squares == 0.0) {
        *beta = alpha;
        return 0.0;
    }
    *beta = alpha > 0.0 ? -sqrt(alpha * alpha + squares) : sqrt(alpha * alpha + squares);
    double scale = 1.0 / (alpha - *beta);
    for (ptrdiff_t j = 1; j < m; j++) x[j] *= scale;
    return (*beta - alpha) / *beta;
}

/* Row by row, a (n × n) gives its triangle j ≥ i and takes the reflections, as LAPACK's dsytrd does column by column.
work: 4 n. */
WIDE EXPORT void textgauge_tridiagonal(int64_t n, double *restrict a, double *restrict diagonal,
                                       double *restrict beside, double *restrict tau, double *restrict work) {
    double *restrict v = work, *restrict w = work + n, *restrict next = work + 2 * n, *restrict y = work + 3 * n;
    memset(work, 0, 4 * (size_t)n * sizeof(double));
    for (ptrdiff_t k = 0; k < n; k++) {
        double *restrict row = a + k * n, vk = v[k], wk = w[k];
#pragma omp simd
        for (ptrdiff_t j = k; j < n; j++) row[j] -= vk * w[j] + wk * v[j];
        diagonal[k] = row[k];
        if (k == n - 1) break;
        tau[k] = reflect(n - k - 1, row + k + 1, beside + k);
        memcpy(next + k + 1, row + k + 1, (size_t)(n - k - 1) * sizeof(double));
        next[k + 1] = 1.0;
        memset(y + k + 1, 0, (size_t)(n - k - 1) * sizeof(double));
        ptrdiff_t i = k + 1;
        for (; i + 1 < n; i += 2) {
            double *restrict upper = a + i * n, *restrict lower = upper + n;
            double v0 = v[i], w0 = w[i], x0 = next[i], v1 = v[i + 1], w1 = w[i + 1], x1 = next[i + 1];
            upper[i] -= 2.0 * v0 * w0;
            upper[i + 1] -= v0 * w1 + w0 * v1;
            lower[i + 1] -= 2.0 * v1 * w1;
            double sum0 = upper[i] * x0 + upper[i + 1] * x1, sum1 = upper[i + 1] * x0 + lower[i + 1] * x1;
#pragma omp simd reduction(+ : sum0, sum1)
            for (ptrdiff_t j = i + 2; j < n; j++) {
                double s = upper[j] - (v0 * w[j] + w0 * v[j]), t = lower[j] - (v1 * w[j] + w1 * v[j]);
                upper[j] = s;
                lower[j] = t;
                sum0 += s * next[j];
                sum1 += t * next[j];
                y[j] += s * x0 + t * x1;
            }
            y[i] += sum0;
            y[i + 1] += sum1;
        }
        if (i < n) {
            a[i * n + i] -= 2.0 * v[i] * w[i];
            y[i] += a[i * n + i] * next[i];
        }
        double along = 0.0;
#pragma omp simd reduction(+ : along)
        for (ptrdiff_t j = k + 1; j < n; j++) along += y[j] * next[j];
        double back = 0.5 * tau[k] * tau[k] * along;
#pragma omp simd
        for (ptrdiff_t j = k + 1; j < n; j++) {
            w[j] = tau[k] * y[j] - back * next[j];
            v[j] = next[j];
        }
    }
}
