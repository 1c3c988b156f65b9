"""``python -m nl2net.segmentation.evaluation``: the whole protocol, or parts of it."""

from __future__ import annotations

import argparse
import sys

from nl2net.segmentation.evaluation.protocol import FAMILIES, PUBLISHED, evaluate_family


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main(arguments: list[str] | None = None) -> None:
    """Print the figures of the chosen families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="repeatable; default all")
    parser.add_argument("--seeds", type=_seeds, default=list(PUBLISHED), help="A-B")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--ablations", action="store_true")
    options = parser.parse_args(arguments)
    for name in options.family or list(FAMILIES):
        lines = evaluate_family(FAMILIES[name], options.seeds, baselines=options.baselines, ablations=options.ablations)
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
