/* Products of rows in 16 bits: a filter, and about twice as many a second as in float32.

Rows are `width` long, a multiple of PANEL; sums of products must fit into 32 bits. */

#ifndef TEXTGAUGE_NARROW_H
#define TEXTGAUGE_NARROW_H

#include "kernels.h"

#define TALL 4   /* rows that are multiplied at a time */
#define PANEL 16 /* and columns */

/* What narrow_products takes for its right side: k rows (a multiple of PANEL) by panels, in these pairs of numbers. */
void narrow_pack(ptrdiff_t width, ptrdiff_t k, const int16_t *restrict rows, int16_t *restrict packed);

/* All products of n rows, a multiple of TALL, with k that are packed: n × k. */
void narrow_products(ptrdiff_t n, ptrdiff_t width, ptrdiff_t k, const int16_t *restrict rows,
                     const int16_t *restrict packed, int32_t *restrict out);

INLINE int32_t narrow_product(ptrdiff_t width, const int16_t *restrict x, const int16_t *restrict y) {
    int32_t sum = 0;
    for (ptrdiff_t l = 0; l < width; l++) sum += (int32_t)x[l] * y[l];
    return sum;
}

#endif
