"""Utterances to a voice assistant, with intents: templates of Home Assistant, questions of two Open Voice OS skills.

Only the data files of the packages are read. The places and things that the templates leave open are ours.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from textgauge.core.errors import ResourceError
from textgauge.data.samples.grammar import Grammar, Meaning, Template, Wording, parse

NEEDS = ("home-assistant-intents", "ovos-skill-weather", "ovos-skill-date-time")

_FILLERS = {
    "area": "kitchen|living room|bedroom|bathroom|garage|hallway|office|nursery|garden|attic|cellar|dining room",
    "floor": "ground|first|second|top|lower|upper",
    "message": "dinner is ready|the bus leaves in ten minutes|it is time for bed|someone is at the door|we leave now",
    "search_query": "some jazz|the Beatles|rain sounds|the morning news|Vivaldi|a fairy tale|nineties hits|Nina Simone",
    "zone": "garden|office|living room|school|gym",
    "timer_name": "pasta|laundry|eggs|workout|pizza|homework|tea|oven",
    "timer_command": "turn off the lights|lock the front door|stop the music|open the blinds|start the dishwasher",
    "shopping_list_item": "milk|oat flakes|two lemons|washing powder|bread|olive oil|batteries|apples|toothpaste",
    "todo_list_item": "call the dentist|water the plants|renew the passport|buy a gift|fix the bike|book the train",
    "offset": "2|3|4|5|6|8|10|12|18|24|36|48",
    "name.binary_sensor": "front door|kitchen window|smoke detector|garage door|motion sensor",
    "name.button": "doorbell|coffee machine|garden gate button|restart button",
    "name.climate": "thermostat|heat pump|air conditioner|bedroom radiator|floor heating",
    "name.cover": "left blind|garage door|awning|bedroom curtain|roof window|patio shutter",
    "name.fan": "ceiling fan|desk fan|extractor fan|bathroom fan",
    "name.lawn_mower": "lawn mower|robot mower|mower",
    "name.light": "bedside lamp|desk lamp|porch|chandelier|reading lamp|fairy lights|floor lamp|mirror",
    "name.lock": "front door|back door|shed|garden gate|side entrance",
    "name.media_player": "television|radio|soundbar|kitchen speaker|record player|projector",
    "name.person": "Maria|Tom|grandma|Amina|Jonas|Lee",
    "name.scene": "movie night|dinner party|good morning|reading|romantic",
    "name.script": "bedtime|leaving home|guest mode|wake up|vacation",
    "name.sensor": "outdoor temperature|washing machine|solar output|battery level|water meter",
    "name.todo": "chores|packing|work|garden|birthday",
    "name.vacuum": "robot vacuum|upstairs vacuum|hoover",
    "name.valve": "garden hose|main water valve|sprinkler|greenhouse valve",
    "name.weather": "home|the cottage|the office",
}


@cache
def grammar() -> Grammar:
    """All templates as one grammar; the labels are the packages' own names of the intents."""
    from textgauge.encode.resources import locate

    home, weather, clock = (locate(name) for name in NEEDS)
    source = _read_json(home / "data" / "en.json")
    slots = {name: tuple(parse(value) for value in values.split("|")) for name, values in _FILLERS.items()}
    slots |= {name: values for name, spec in source["lists"].items() if (values := _list(spec))}
    for entity in ("location", "date"):
        slots[entity] = tuple((line,) for line in _lines(clock / "locale/en-us" / f"{entity}.entity"))
    intents = {name: _home_intent(name, spec["data"]) for name, spec in source["intents"].items()}
    intents |= _skill(weather, "weather") | _skill(clock, "time")
    rules = {name: parse(text) for name, text in source["expansion_rules"].items()}
    return Grammar("assistant", intents, slots, rules)


def _home_intent(name: str, blocks: list[dict[str, Any]]) -> tuple[Meaning, ...]:
    return tuple(Meaning(name, tuple(_home_wording(text, block) for text in block["sentences"])) for block in blocks)


def _home_wording(text: str, block: dict[str, Any]) -> Wording:
    domains = block.get("requires_context", {}).get("domain") or ["light"]
    domain = domains[0] if isinstance(domains, list) else domains
    return Wording(parse(text.replace("{name}", f"{{name.{domain}:name}}")))


def _list(spec: dict[str, Any]) -> tuple[Template, ...]:
    if "range" in spec:
        span = spec["range"]
        return tuple((str(value),) for value in range(span["from"], span["to"] + 1, span.get("step", 1)))
    return tuple(parse(value if isinstance(value, str) else value["in"]) for value in spec.get("values", ()))


def _skill(folder: Path, topic: str) -> dict[str, tuple[Meaning, ...]]:
    paths = sorted((folder / "locale/en-us/intents").glob("*.intent"))
    if not paths:
        raise ResourceError(f"{folder}: no intents found")
    names = {path: f"{topic}.{path.stem.replace('.', '_')}" for path in paths}
    return {
        name: (Meaning(name, tuple(Wording(parse(line)) for line in _lines(path))),) for path, name in names.items()
    }


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]


def _read_json(path: Path) -> dict[str, Any]:
    source: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return source
