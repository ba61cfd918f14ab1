# SPDX-License-Identifier: Apache-2.0
"""Ten owners of Adult with income as the class, k = 50 each, beside learning from their pooled rows.

python benchmarks/sharing.py --data FOLDER [--json FILE]

The experiments of Tian et al. (2012), Sect. 7, are ``shoal papers run tian12-fig10`` and the following.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from shoal.papers.sharing_income import compare_settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    found = compare_settings(Path(options.data), lambda told: print(told, file=sys.stderr, flush=True))
    if options.json is not None:
        options.json.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
    header = list(dict.fromkeys(key for line in found for key in line))
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for line in found:
        print("| " + " | ".join(cell(line.get(key, "")) for key in header) + " |")


def cell(value: Any) -> str:
    return f"{100 * value:.1f} %" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
