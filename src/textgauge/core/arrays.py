"""Names of the array types that annotations use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Masks = NDArray[np.bool_]
Embeddings = NDArray[np.floating[Any]]
