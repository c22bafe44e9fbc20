"""In which panel of the help an option stands; one that is not named stands under Options."""

from __future__ import annotations

from typing import Any

PANELS = {
    "Data": (
        "pairs left right left_column right_column rating column columns limit source_a source_b set_column "
        "system_column item_column only steps reference candidate rated comparisons documents labelled beir "
        "train validation against representative foreign baseline background group source also task data "
        "texts label labels by paired system baselines"
    ),
    "Metrics and method": (
        "metrics ci level permutations resamples seed k n repetitions param settings embedder grammar plausibility "
        "near_copies judge repeat swapped margin "
        "effect power weights judgements ties linearity scope measures model scale explain top variant "
        "metric max_ratio max min max_rise max_drop threshold "
        "word_vectors epochs temperature top_k top_p alpha_sr alpha_ri alpha_rs p_rd compat candidates passes per_step"
    ),
    "Running": "out jobs scheduler dry_run budget checkpoint approx",
    "Output": (
        "form output to explain_to parts summary per_text pick pick_to plausible lists figure figures folder kind "
        "segments junit markdown update repetition title detail tests on ceiling tables table every quiet verbose"
    ),
}
_PANEL = {name: panel for panel, names in PANELS.items() for name in names.split()}
_PANEL |= {"compare test": "Metrics and method", "describe test": "Data"}  # a test, and test texts
_PANEL |= {"steps steps": "Metrics and method"}


def put_into_panels(command: Any) -> None:
    """Give the options of a command their panels."""
    for item in command.params:
        if item.param_type_name == "option" and not getattr(item, "rich_help_panel", None):
            written = "Output" if {"--output", "--folder"} & set(item.opts) else None
            item.rich_help_panel = written or _PANEL.get(f"{command.name} {item.name}") or _PANEL.get(item.name)
