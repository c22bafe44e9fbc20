/* Products of rows in float32, each with the same bits whatever other rows there are and wherever its two stand.

A product is summed one entry after the other within stretches of the dimension, and then stretch after stretch. Rows
are packed and filled up with rows of zeros, so that one loop makes all products. */

#include "kernels.h"

/* A product and its sum are rounded once, in all of this file, where the processor can: nearly twice as fast. */
#if defined(__clang__)
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

/* A tile of DOWN × ACROSS sums fits the registers; a stretch of ACROSS rows the first cache, of BAND rows the second. */
enum { DOWN = 6, ACROSS = 16, HALF = ACROSS / 2, STRETCH = 128, BAND = 24 * DOWN };

typedef float Half __attribute__((vector_size(sizeof(float) * HALF), may_alias));

/* Rows in panels of `width`, filled up with zeros: first entries of all its rows, then second ones, … */
INLINE void pack(ptrdiff_t n, ptrdiff_t d, ptrdiff_t width, const float *restrict rows, float *restrict panels) {
    for (ptrdiff_t start = 0; start < n; start += width, panels += width * d)
        for (ptrdiff_t i = 0; i < width; i++)
            for (ptrdiff_t k = 0; k < d; k++) panels[k * width + i] = start + i < n ? rows[(start + i) * d + k] : 0.0f;
}

/* Adds to sums what one stretch brings to the products of a panel of DOWN rows and one of ACROSS rows. */
INLINE void add_tile(ptrdiff_t depth, const float *restrict down, const float *restrict across, float *restrict sums) {
    Half tile[DOWN][2] = {0};
    for (ptrdiff_t k = 0; k < depth; k++, down += DOWN, across += ACROSS) {
        Half first = *(const Half *)across, second = *(const Half *)(across + HALF);
#pragma GCC unroll 6
        for (int i = 0; i < DOWN; i++) {
            tile[i][0] += down[i] * first;
            tile[i][1] += down[i] * second;
        }
    }
    for (int i = 0; i < DOWN; i++) {
        *(Half *)(sums + i * ACROSS) += tile[i][0];
        *(Half *)(sums + i * ACROSS + HALF) += tile[i][1];
    }
}

INLINE void put(ptrdiff_t first, ptrdiff_t stop, ptrdiff_t columns, const float *restrict sums, float *restrict out,
                ptrdiff_t size) {
    for (ptrdiff_t i = first; i < stop; i++, sums += ACROSS)
        if (columns == ACROSS) /* of a length that the compiler knows */
            memcpy(out + i * size, sums, sizeof(float) * ACROSS);
        else
            memcpy(out + i * size, sums, sizeof(float) * columns);
}

INLINE void put_turned(ptrdiff_t first, ptrdiff_t stop, ptrdiff_t columns, const float *restrict sums,
                       float *restrict out, ptrdiff_t size) {
    for (ptrdiff_t j = 0; j < columns; j++)
        for (ptrdiff_t i = first; i < stop; i++) out[j * size + i] = sums[(i - first) * ACROSS + j];
}

/* out: n × m. Without right it is left, and only the lower half is computed, and mirrored.
work: room for a band of sums and for left and right in full panels, and 16 more. */
WIDE EXPORT void textgauge_products(int64_t n, int64_t m, int64_t d, const float *restrict left,
                                    const float *restrict right, float *restrict out, float *work) {
    float *sums = (float *)(((uintptr_t)work + 63) & ~(uintptr_t)63);
    float *across = sums + BAND * ACROSS, *down = across + (m + ACROSS - 1) / ACROSS * ACROSS * d;
    pack(m, d, ACROSS, right ? right : left, across);
    pack(n, d, DOWN, left, down);
    for (ptrdiff_t start = 0; start < n; start += BAND) {
        ptrdiff_t stop = start + BAND < n ? start + BAND : n;
        for (ptrdiff_t column = 0; column < (right ? m : stop); column += ACROSS) {
            ptrdiff_t columns = column + ACROSS < m ? ACROSS : m - column;
            ptrdiff_t first = right || column < start ? start : start + (column - start) / DOWN * DOWN;
            memset(sums, 0, sizeof(float) * BAND * ACROSS);
            for (ptrdiff_t k = 0; k < d; k += STRETCH)
                for (ptrdiff_t i = first; i < stop; i += DOWN)
                    add_tile(k + STRETCH < d ? STRETCH : d - k, down + i * d + k * DOWN,
                             across + column * d + k * ACROSS, sums + (i - start) * ACROSS);
            put(first, stop, columns, sums + (first - start) * ACROSS, out + column, m);
            if (!right) put_turned(first, stop, columns, sums + (first - start) * ACROSS, out + column * m, m);
        }
    }
}

/* Products of rows with themselves, to the same bits: those on the diagonal of the above. */
WIDE EXPORT void textgauge_squares(int64_t n, int64_t d, const float *restrict rows, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const float *row = rows + i * d;
        out[i] = 0.0f;
        for (ptrdiff_t k = 0; k < d; k += STRETCH) {
            float sum = 0.0f;
            for (ptrdiff_t l = k; l < d && l < k + STRETCH; l++) sum += row[l] * row[l];
            out[i] += sum;
        }
    }
}
