"""A folder of roles and one of a policy, from the call graph of a real shop."""

from __future__ import annotations

from pathlib import Path

from nl2net.segmentation.draft import build_draft, later_edges, write_draft
from nl2net.segmentation.workspace import infer_from_files, open_workspace
from tests.conftest import SHARED
from tests.segmentation.stories import boutique_lines

CALLS = SHARED / "flows" / "online_boutique" / "calls.csv"
NOTES = SHARED / "incident" / "notes"
# A call that the shop did not make while roles were learnt.
LATER = (
    "ts,src,sport,dst,dport,proto,packets,bytes\n"
    "1790003600,10.0.0.10,40000,10.0.9.10,9999,6,10,1000\n1790003900,10.0.0.10,40001,10.0.9.10,9999,6,10,1000\n"
)


def make_roles(folder: Path) -> Path:
    """What ``nl2net segment roles`` writes."""
    log = folder / "hubble.jsonl"
    log.write_text("\n".join(boutique_lines(CALLS, replicas=3)) + "\n")
    infer_from_files([log], folder / "roles")
    return folder / "roles"


def make_policy(roles: Path, folder: Path) -> Path:
    """What ``nl2net segment policy --holdout`` writes, without compiled targets."""
    (folder / "later.csv").write_text(LATER)
    later = later_edges([folder / "later.csv"], folder / "holdout")
    write_draft(build_draft(open_workspace(roles), holdout=later), folder / "policy", [])
    for name in ("roles.json", "roles.csv"):
        (folder / "policy" / name).write_bytes((roles / name).read_bytes())
    return folder / "policy"
