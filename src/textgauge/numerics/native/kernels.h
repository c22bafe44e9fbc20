/* What the kernels share. Arrays are contiguous and do not overlap; the callers in Python see to sizes and types. */

#ifndef TEXTGAUGE_KERNELS_H
#define TEXTGAUGE_KERNELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACE 2 /* raise it with every change of a signature: libraries built before are then left alone */

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Into the loops that call it, for their processor. */
#define INLINE static inline __attribute__((always_inline))

/* One build for all processors: the loops are compiled twice, and the wider form is taken where it runs. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONED 1
#define WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

#endif
