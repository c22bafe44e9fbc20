/* Which signatures this library was built with, and for which processors. */

#include "kernels.h"

EXPORT int64_t textgauge_interface(void) { return INTERFACE; }

/* Whether the wider form of the loops is taken. Elsewhere a BLAS, which has its own forms, makes products sooner. */
EXPORT int64_t textgauge_wide(void) {
#if defined(CLONED)
    return __builtin_cpu_supports("x86-64-v3") != 0;
#else
    return 0;
#endif
}
