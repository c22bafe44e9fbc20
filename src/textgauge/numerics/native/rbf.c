/* The radial kernel of squared distances: start + sign·exp(factor·x). */

#include "rbf.h"

enum { LANES = 8 }; /* of a sum, so that its order is told here and not by the compiler */

/* In place. */
WIDE EXPORT void textgauge_rbf(int64_t count, float *restrict x, double factor, double start, double sign) {
    float f = (float)factor, a = (float)start, b = (float)sign;
#pragma omp simd
    for (ptrdiff_t j = 0; j < count; j++) x[j] = a + b * power(f * x[j]);
}

/* Of some rows and columns of a square matrix. */
WIDE EXPORT void textgauge_rbf_picked(int64_t rows, int64_t columns, int64_t size, const float *restrict matrix,
                                      const int64_t *restrict left, const int64_t *restrict right, double factor,
                                      double start, double sign, float *restrict out) {
    float f = (float)factor, a = (float)start, b = (float)sign;
    for (ptrdiff_t i = 0; i < rows; i++) {
        float *restrict found = out + i * columns;
        picked(columns, matrix + left[i] * size, right, found);
#pragma omp simd
        for (ptrdiff_t j = 0; j < columns; j++) found[j] = a + b * power(f * found[j]);
    }
}

/* Σ weight · exp(factor · squared distance) from some rows to some others, of which `products` has all products, in
rows of `size`; squares: of the rows with themselves. work: columns. */
WIDE EXPORT void textgauge_rbf_weighted(int64_t rows, int64_t columns, int64_t size, const float *restrict products,
                                        const int64_t *restrict left, const int64_t *restrict right,
                                        const float *restrict left_squares, const float *restrict right_squares,
                                        double factor, const double *restrict weights, double *restrict out,
                                        float *restrict work) {
    float f = (float)factor;
    for (ptrdiff_t i = 0; i < rows; i++) {
        double sums[LANES] = {0};
        picked(columns, products + left[i] * size, right, work);
#pragma omp simd
        for (ptrdiff_t j = 0; j < columns; j++) work[j] = power(f * squared(left_squares[i], right_squares[j], work[j]));
        for (ptrdiff_t start = 0; start < columns; start += LANES)
            for (ptrdiff_t j = start; j < columns && j < start + LANES; j++) sums[j - start] += weights[j] * work[j];
        out[i] = 0.0;
        for (int lane = 0; lane < LANES; lane++) out[i] += sums[lane];
    }
}
