"""Properties of a generated corpus: what is new, repeated, plausible, covered, copied."""

from textgauge.metrics.properties.base import (
    CorpusProperty,
    MeasuredCorpus,
    PropertyValue,
    list_properties,
    register_property,
)

__all__ = ["CorpusProperty", "MeasuredCorpus", "PropertyValue", "list_properties", "register_property"]
