"""The reference pages of the site, written from what the package declares about itself.

metrics      a page per metric, and their index
protocols    protocols with their measures, suites, transformations
catalogues   datasets, resources, what metrics look at, properties of `describe`
commands     the command line, from the objects behind `--help`
notebooks    the notebooks as pages
python       the public names in Python
llms         the site in one page of links, for language models
"""

from _pages import catalogues, commands, metrics, notebooks, protocols, python

TITLES = {
    "reference/metrics/index.md": "Metrics",
    "reference/commands.md": "Command line",
    "reference/python.md": "Python",
    "reference/protocols.md": "Protocols",
    "reference/suites.md": "Suites",
    "reference/transformations.md": "Transformations",
    "reference/describe.md": "Properties of generated text",
    "reference/datasets.md": "Datasets",
    "reference/representations.md": "Embedders, tokenizers, language models",
    "reference/resources.md": "Resources",
}


def all_pages() -> dict[str, str]:
    """Every generated page: its path below `docs`, and its Markdown."""
    return (
        metrics.pages()
        | notebooks.pages()
        | {
            "reference/protocols.md": protocols.protocols_page(),
            "reference/suites.md": protocols.suites_page(),
            "reference/transformations.md": protocols.transformations_page(),
            "reference/describe.md": catalogues.properties_page(),
            "reference/datasets.md": catalogues.datasets_page(),
            "reference/representations.md": catalogues.representations_page(),
            "reference/resources.md": catalogues.resources_page(),
            "reference/commands.md": commands.commands_page(),
            "reference/python.md": python.python_page(),
        }
    )


def navigation() -> list[dict[str, object]]:
    """Return the entries of the section "Reference": metrics by kind, then the other pages."""
    first, *rest = TITLES.items()
    return [{first[1]: [first[0], *metrics.navigation()]}, *({title: path} for path, title in rest)]
