/* The radial kernel of squared distances: start + sign·exp(factor·x). */

#include "kernels.h"

/* exp, within two units of the last place; below −87 it is 0, above 0 it is 1. */
static inline __attribute__((always_inline)) float power(float x) {
    float below = x < 0.0f ? x : 0.0f, bounded = below > -87.0f ? below : -87.0f;
    float whole = (bounded * 1.44269504f + 12582912.0f) - 12582912.0f; /* to the nearest whole number */
    float rest = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float sum = 1.9875691500e-4f;
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * (rest * rest) + rest + 1.0f;
    int32_t bits = ((int32_t)whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return x > -87.0f ? sum * scale : 0.0f;
}

/* In place. */
WIDE EXPORT void textgauge_rbf(int64_t count, float *restrict x, double factor, double start, double sign) {
    float f = (float)factor, a = (float)start, b = (float)sign;
#pragma omp simd
    for (ptrdiff_t j = 0; j < count; j++) x[j] = a + b * power(f * x[j]);
}

/* Of some rows and columns of a square matrix. */
WIDE EXPORT void textgauge_rbf_picked(int64_t rows, int64_t columns, int64_t size, const float *restrict squared,
                                      const int64_t *restrict left, const int64_t *restrict right, double factor,
                                      double start, double sign, float *restrict out) {
    float f = (float)factor, a = (float)start, b = (float)sign;
    for (ptrdiff_t i = 0; i < rows; i++) {
        const float *restrict row = squared + left[i] * size;
        float *restrict found = out + i * columns;
        for (ptrdiff_t j = 0; j < columns; j++) found[j] = row[right[j]];
#pragma omp simd
        for (ptrdiff_t j = 0; j < columns; j++) found[j] = a + b * power(f * found[j]);
    }
}
