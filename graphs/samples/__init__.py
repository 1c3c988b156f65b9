"""Shipped sample networks; README.md beside them names source and licence of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent

# Name, file, what it is. The stem of the file is an alias of the name.
_SAMPLES: tuple[tuple[str, str, str], ...] = (
    ("abilene", "zoo_abilene.graphml", "research network, 11 nodes, no speeds"),
    ("geant2012", "zoo_geant2012.graphml", "European research network, speeds on 39 of 61 links"),
    ("ntt", "zoo_ntt_multigraph_disconnected.graphml", "provider network, parallel links, several parts"),
    ("airtel", "zoo_airtel_dup_edges.gml", "provider network, parallel links, GML"),
    ("comm10", "nemoeval_comm_node10.json", "communication graph of 10 addresses"),
    ("comm50", "nemoeval_comm_node50.json", "communication graph of 50 addresses"),
    ("malt", "malt_ju1_a1_s1_excerpt.textproto", "typed data-centre model, 1534 entities"),
    ("clos02", "containerlab_clos02.clab.yml", "lab topology, two-pod fabric"),
    ("lan", "netlab_addressing_lan.yml", "lab topology with multi-access links"),
    ("layers", "rfc8345_netoviz_l2.json", "three layers, links and supporting nodes"),
    ("netbox", "netbox_demo_dcim_excerpt.json", "inventory with cables, racks, prefixes, circuits"),
    ("cdp", "ntc_cisco_ios_show_cdp_neighbors.raw", "neighbour table of one switch"),
    ("dualbgp", "suzieq_lldp_dual-bgp", "LLDP of ten devices from both ends"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One shipped network."""

    name: str
    path: Path
    summary: str


def all_samples() -> tuple[Sample, ...]:
    """Every shipped network."""
    return tuple(Sample(name, _FOLDER / file, summary) for name, file, summary in _SAMPLES)


def sample_names() -> tuple[str, ...]:
    """Names of the shipped networks.

    Examples
    --------
    >>> sample_names()[:2]
    ('abilene', 'geant2012')
    """
    return tuple(sample.name for sample in all_samples())


def find_sample(name: str) -> Sample | None:
    """The sample of that name or file stem, or ``None``.

    Examples
    --------
    >>> find_sample("zoo_geant2012").name
    'geant2012'
    """
    for sample in all_samples():
        if name in (sample.name, sample.path.name, sample.path.name.split(".")[0]):
            return sample
    return None
