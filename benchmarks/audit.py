"""Known weaknesses of the installed packages, as pip-audit finds them, and their licences.

python -m benchmarks.audit              weaknesses
python -m benchmarks.audit licences     the table of SECURITY.md: what textgauge needs, and what that needs

pip-audit calls a package that its source of advisories does not know skipped, and passes. Here a source that cannot be
reached is told in one line, so that it is not taken for a clean result.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from benchmarks.trust import markdown

COMMAND = [sys.executable, "-m", "pip_audit", "--skip-editable", "--format=json", "--progress-spinner=off"]


def summary(packages: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """What to print, and whether a package has a known weakness."""
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        return ["Not audited: the source of advisories cannot be reached."], False
    found = [
        f"{package['name']} {package['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'none'}"
        for package in audited
        for one in package["vulns"]
    ]
    return [f"Packages: {len(audited)} audited, {len(packages) - len(audited)} not.", *found], bool(found)


def needed(name: str, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """What a package needs here, and what that needs; the extras that are named, too."""
    found: dict[str, Distribution] = {}
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:  # not for this machine
            continue
        name = package.name.lower().replace("_", "-")
        if name not in found:
            found[name] = package
            items = map(Requirement, package.requires or ())
            waiting += [(item.name, frozenset(item.extras)) for item in items if applies(item, extras)]
    return found


def applies(item: Requirement, extras: frozenset[str]) -> bool:
    """Whether a package that was asked for with these extras needs this one here."""
    return item.marker is None or any(item.marker.evaluate({"extra": one}) for one in (*extras, ""))


def licence_of(package: Distribution) -> str:
    """The licence that a package declares: as an expression, as a classifier, or in words."""
    said = package.metadata
    classified = [line.split(" :: ")[-1] for line in said.get_all("Classifier") or () if line.startswith("License :: ")]
    words = (said.get("License") or "").strip().splitlines()
    return said.get("License-Expression") or " or ".join(one for one in classified if "OSI" not in one) or words[0]


def licences() -> str:
    """The table of licences, direct dependencies first."""
    own = {
        Requirement(line).name.lower() for line in distribution("textgauge").requires or () if "extra ==" not in line
    }
    packages = {name: one for name, one in needed("textgauge").items() if name != "textgauge"}
    order = sorted(packages, key=lambda name: (name not in own, name))
    return markdown(
        ["package", "licence", "needed by"],
        [[name, licence_of(packages[name]), "textgauge" if name in own else "these"] for name in order],
    )


def write_licences(page: Path) -> None:
    """Put the table into a page."""
    parts = "<!-- licences -->", "<!-- /licences -->"
    table = f"{parts[0]}\n\n{licences()}\n\n{parts[1]}"
    page.write_text(re.sub(f"{parts[0]}.*{parts[1]}", lambda _: table, page.read_text("utf-8"), flags=re.DOTALL))


def main() -> int:
    """Print the summary; 1 if there is a weakness."""
    if sys.argv[1:] == ["licences"]:
        write_licences(Path(__file__).parents[1] / "SECURITY.md")
        return 0
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:  # no answer at all
        packages = []
    lines, weak = summary(packages)
    print("\n".join(lines))
    return int(weak)


if __name__ == "__main__":
    sys.exit(main())
