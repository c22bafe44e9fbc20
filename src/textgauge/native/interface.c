/* Which signatures this library was built with. */

#include "kernels.h"

EXPORT int64_t textgauge_interface(void) { return INTERFACE; }
