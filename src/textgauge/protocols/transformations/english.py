"""Words of English that the transformations know; texts in other languages have few of them."""

from __future__ import annotations


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


ABBREVIATIONS = _words("mr. mrs. ms. dr. prof. st. vs. e.g. i.e. cf. fig. no. gen. sen. rep. gov.")

# `may` and `will` are not here: with a capital they are a month and a name.
AUXILIARIES = _words("am is are was were can could would shall should might must has have had do does did")
NEGATED = _words("is are was were do does did has have had could would should might must need")
PRONOUNS = _words("i you he she it we they that there this what who")

# Clauses that may stand before or after what they belong to, and those of them that are safe to bring forward.
FRONTED = _words("because although though when whenever while if unless until since after before as once whereas")
TRAILING = _words("because although unless whereas while until whenever")

# Words after a comma that lean on what went before.
LEANING = _words("and but or nor so yet for which who whom whose where that then not")

# Words that begin a sentence with a capital without being names.
COMMON = FRONTED.union(
    AUXILIARIES,
    PRONOUNS,
    _words("a an the these those some any each every all both many most few several no not only also even just"),
    _words("my your his her its our their here which whose where why how be been may will yes"),
    _words("and but or nor so yet for in on at by with from to of about under over between into through during"),
    _words("against without then now today yesterday tomorrow later soon never always often sometimes perhaps"),
    _words("maybe however therefore"),
)
