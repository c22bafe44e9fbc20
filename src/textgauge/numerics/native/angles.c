/* Angles of float32 cosines: arccos x = √(1 − x)·p(x) for 0 ≤ x ≤ 1, and π less that of −x below 0. */

#include "kernels.h"

INLINE float angle(float cosine, const float *restrict p) {
    const float right = 1.57079632679489661923f;
    float size = fabsf(cosine);
    size = size < 1.0f ? size : 1.0f;
    float sum = p[0] * size;
    sum = (sum + p[1]) * size;
    sum = (sum + p[2]) * size;
    sum = (sum + p[3]) * size;
    sum = (sum + p[4]) * size;
    sum = (sum + p[5]) * size;
    sum = sum + p[6];
    float found = right - sqrtf(1.0f - size) * sum;
    uint32_t sign, bits;
    memcpy(&sign, &cosine, sizeof sign);
    memcpy(&bits, &found, sizeof bits);
    bits |= sign & 0x80000000u;
    memcpy(&found, &bits, sizeof found);
    return right - found;
}

/* In place; p: seven coefficients, highest power first. */
WIDE EXPORT void textgauge_angles(int64_t count, float *restrict x, const float *restrict p) {
#pragma omp simd
    for (ptrdiff_t j = 0; j < count; j++) x[j] = angle(x[j], p);
}

/* Weighted sums of the angles of (cosine + down − across), by row over columns and by column over rows. */
WIDE EXPORT void textgauge_angle_sums(int64_t rows, int64_t columns, const float *restrict cosines,
                                      const float *restrict down, const float *restrict across,
                                      const float *restrict weights_down, const float *restrict weights_across,
                                      const float *restrict p, float *restrict by_row, float *restrict by_column) {
    memset(by_column, 0, (size_t)columns * sizeof(float));
    for (ptrdiff_t i = 0; i < rows; i++) {
        const float *restrict row = cosines + i * columns;
        float sum = 0.0f, shift = down[i], weight = weights_down[i];
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < columns; j++) {
            float found = angle(row[j] + shift - across[j], p);
            sum += weights_across[j] * found;
            by_column[j] += weight * found;
        }
        by_row[i] = sum;
    }
}
