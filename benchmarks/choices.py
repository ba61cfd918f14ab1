# SPDX-License-Identifier: Apache-2.0
"""What the constants behind the default tree were chosen by: test errors on invented people (people.py).

python benchmarks/choices.py [--rows 100000]

First `max_codes`; then, with two columns private, the default beside a tree in order of gain (``search=False``).
"""

from __future__ import annotations

import argparse
import time

from people import CATEGORICAL, NUMERIC, TARGET, people
from shoal import AnonymousTreeClassifier

PRIVATE = ("debt", "hours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    n_rows = parser.parse_args().rows
    everybody = people(n_rows * 2)
    train, test = everybody.slice(0, n_rows), everybody.slice(n_rows)
    fitted(train, test, 100)  # compiles the kernels
    print(f"{n_rows:,} people\n| max_codes | error at k = 100 | seconds |\n|---:|---:|---:|")
    for max_codes in (64, 256, 1024, 4096, 16384):
        error, seconds = fitted(train, test, 100, max_codes=max_codes)
        print(f"| {max_codes} | {error:.2%} | {seconds:.2f} |", flush=True)
    public = [name for name in (*CATEGORICAL, *NUMERIC) if name not in PRIVATE]
    print(f"\n{' and '.join(PRIVATE)} private\n| k | default | in order of gain |\n|---:|---:|---:|")
    for k in (10, 100, 1000):
        errors = [fitted(train, test, k, public=public, search=search)[0] for search in (True, False)]
        print(f"| {k} | {errors[0]:.2%} | {errors[1]:.2%} |", flush=True)


def fitted(train, test, k: int, **options) -> tuple[float, float]:
    """The test error of a tree, and the seconds it took."""
    start = time.perf_counter()
    tree = AnonymousTreeClassifier(privacy=k, unknown="ancestor", **options).fit(train, TARGET)
    seconds = time.perf_counter() - start
    truth = test[TARGET].to_numpy(zero_copy_only=False)
    return float((tree.predict(test) != truth).mean()), seconds


if __name__ == "__main__":
    main()
