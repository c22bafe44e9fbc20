/* Parts of the radial kernel. */

#ifndef TEXTGAUGE_RBF_H
#define TEXTGAUGE_RBF_H

#include "kernels.h"

/* exp, within two units of the last place; below −87 it is 0, above 0 it is 1. */
INLINE float power(float x) {
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

INLINE float squared(float left, float right, float product) {
    return (left + right) - 2.0f * product;
}

INLINE const float *picked(ptrdiff_t n, const float *restrict from, const int64_t *restrict places,
                           float *restrict out) {
    for (ptrdiff_t j = 0; j < n; j++) out[j] = from[places[j]];
    return out;
}

#endif
