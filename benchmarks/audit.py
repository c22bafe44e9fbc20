"""Known weaknesses of the installed packages, as pip-audit finds them.

pip-audit calls a package that its source of advisories does not know skipped, and passes. Here a source that cannot be
reached is told in one line, so that it is not taken for a clean result.
"""

import json
import subprocess
import sys
from typing import Any

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


def main() -> int:
    """Print the summary; 1 if there is a weakness."""
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
