#include "narrow.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define STEP(row, first, second)                                                                                       \
    {                                                                                                                  \
        int32_t pair;                                                                                                  \
        memcpy(&pair, row + l, sizeof pair);                                                                           \
        __m256i both = _mm256_set1_epi32(pair);                                                                        \
        first = _mm256_add_epi32(first, _mm256_madd_epi16(near, both));                                                \
        second = _mm256_add_epi32(second, _mm256_madd_epi16(far, both));                                               \
    }
#define STORE(row, first, second)                                                                                      \
    _mm256_storeu_si256((__m256i *)(out + row * across), first);                                                       \
    _mm256_storeu_si256((__m256i *)(out + row * across + PANEL / 2), second);

/* Eight sums by name: in an array they would not stay in registers. */
__attribute__((target("avx2"))) static void wide_tile(ptrdiff_t width, const int16_t *restrict rows,
                                                      const int16_t *restrict panel, int32_t *restrict out,
                                                      ptrdiff_t across) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (ptrdiff_t l = 0; l < width; l += 2) {
        __m256i near = _mm256_loadu_si256((const __m256i *)(panel + l * PANEL));
        __m256i far = _mm256_loadu_si256((const __m256i *)(panel + l * PANEL + PANEL));
        STEP(rows, a, b)
        STEP(rows + width, c, d)
        STEP(rows + 2 * width, e, f)
        STEP(rows + 3 * width, g, h)
    }
    STORE(0, a, b)
    STORE(1, c, d)
    STORE(2, e, f)
    STORE(3, g, h)
}
#define HAS_WIDE __builtin_cpu_supports("avx2")
#else
#define HAS_WIDE 0
#define wide_tile tile
#endif

/* For other processors: right, and slower than the products of a BLAS. */
static void tile(ptrdiff_t width, const int16_t *restrict rows, const int16_t *restrict panel, int32_t *restrict out,
                 ptrdiff_t across) {
    for (int r = 0; r < TALL; r++) {
        int32_t sums[PANEL] = {0};
        for (ptrdiff_t l = 0; l < width; l += 2) {
            const int16_t *restrict pair = rows + r * width + l, *restrict pairs = panel + l * PANEL;
            for (int c = 0; c < PANEL; c++) sums[c] += pair[0] * pairs[2 * c] + pair[1] * pairs[2 * c + 1];
        }
        memcpy(out + r * across, sums, sizeof sums);
    }
}

void narrow_pack(ptrdiff_t width, ptrdiff_t k, const int16_t *restrict rows, int16_t *restrict packed) {
    for (ptrdiff_t j = 0; j < k; j++) {
        int16_t *restrict to = packed + (j - j % PANEL) * width + 2 * (j % PANEL);
        for (ptrdiff_t l = 0; l < width; l += 2) memcpy(to + l * PANEL, rows + j * width + l, 2 * sizeof(int16_t));
    }
}

void narrow_products(ptrdiff_t n, ptrdiff_t width, ptrdiff_t k, const int16_t *restrict rows,
                     const int16_t *restrict packed, int32_t *restrict out) {
    int wide = HAS_WIDE;
    for (ptrdiff_t j = 0; j < k; j += PANEL)
        for (ptrdiff_t i = 0; i < n; i += TALL)
            (wide ? wide_tile : tile)(width, rows + i * width, packed + j * width, out + i * k + j, k);
}
