"""Neighbour tables: LLDP and CDP as command-line text, and NAPALM getters as JSON."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from nl2net.graphs.both_ends import Sighting, add_links, merge_names
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

_MAX_TEXT = 4 * 2**20  # a table of one device; the templates are line-wise regular expressions

# What a text must hold, and the templates to try for it, by platform and command.
_TEXTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        r"Device ID\s+Local Intrfce\s+Holdtme",
        (("cisco_ios", "show cdp neighbors"), ("cisco_nxos", "show cdp neighbors")),
    ),
    (r"Device-ID\s+Local Intrfce\s+Hldtme", (("cisco_nxos", "show cdp neighbors"),)),
    (
        r"Device ID:\s*\S+[\s\S]{0,2000}?Port ID \(outgoing port\)",
        (("cisco_ios", "show cdp neighbors detail"), ("cisco_nxos", "show cdp neighbors detail")),
    ),
    (r"Neighbor Device ID\s+Neighbor Port ID", (("arista_eos", "show lldp neighbors"),)),
    (r"Local Interface\s+Parent Interface\s+Chassis Id", (("juniper_junos", "show lldp neighbors"),)),
    (
        r"Device ID\s+Local Intf\s+Hold-time",
        (
            ("cisco_ios", "show lldp neighbors"),
            ("cisco_nxos", "show lldp neighbors"),
            ("cisco_xr", "show lldp neighbors"),
        ),
    ),
    (
        r"Local Intf:\s*\S+[\s\S]{0,400}?Chassis id:",
        (("cisco_ios", "show lldp neighbors detail"), ("cisco_xr", "show lldp neighbors detail")),
    ),
    (r"Interface \S+ detected \d+ LLDP neighbors", (("arista_eos", "show lldp neighbors detail"),)),
)
_PROMPT = re.compile(r"^(?:\S+@)?([\w.-]+)(?:\([^)]*\))?[#>]\s*(?:sh\w*|display)\s", re.MULTILINE)
_FILE_WORDS = re.compile(r"[._-]?(?:show|sh|display|cdp|lldp|neighbou?rs?|detail|output)(?=[._-]|\Z)", re.IGNORECASE)
_PLATFORMS = re.compile(r"cisco|ios|nxos|arista|eos|juniper|junos|ntc|sample|test", re.IGNORECASE)


def _is_text(source: Source) -> bool:
    if source.is_folder or source.is_binary:
        return False
    return any(re.search(pattern, source.head_text[:20_000]) for pattern, _ in _TEXTS)


def local_name(source: Source, options: ReadOptions, draft: Draft) -> str:
    """Name of the device whose table this is: `--local`, the prompt in the text, the file name, else ``local``."""
    if options.local:
        return options.local
    prompt = _PROMPT.search(source.text[:20_000])
    if prompt is not None:
        return prompt.group(1)
    stem = source.path.name.split(".")[0]
    found = _FILE_WORDS.search(stem)
    name = stem[: found.start()] if found else stem
    if name and not _PLATFORMS.search(name):
        return name
    message = "the table does not name its own device, which is called 'local'"
    draft.find("local-name", 1, message, severity="info", advice="Name it with --local NAME.")
    return "local"


def _parse_text(source: Source) -> list[dict[str, Any]]:
    from ntc_templates.parse import ParsingException, parse_output
    from textfsm import TextFSMError

    text = source.text
    if len(text) > _MAX_TEXT:
        raise source.error(f"{len(text)} characters are too many for a table of one device")
    body = "\n".join(line for line in text.splitlines() if not _PROMPT.match(line)) + "\n"
    for pattern, templates in _TEXTS:
        if not re.search(pattern, text[:20_000]):
            continue
        for platform, command in templates:
            rows: list[Any] = []
            # A template raises on the first line that it does not know; the next one may know it.
            with suppress(TextFSMError, ParsingException):
                rows = parse_output(platform=platform, command=command, data=body)
            if rows:
                return list(rows)
    raise source.error(
        "no known template reads this neighbour table",
        hint="Save the table as CSV with the columns source, source_port, target, target_port.",
    )


def _first(row: dict[str, Any], *names: str) -> str:
    return next((str(row[name]).strip() for name in names if row.get(name)), "")


# In LLDP the letter T is a telephone and P a repeater; in CDP T is a transparent bridge and P a phone.
_LLDP_TEXT = re.compile(r"\(T\)\s*Telephone|Hold-time\s+Capab", re.IGNORECASE)


def _is_endpoint(row: dict[str, Any], *, phone: str) -> bool:
    """Phones and access points; switches and routers say so among their capabilities."""
    capabilities = _first(row, "capabilities", "remote_system_enable_capab").replace(",", " ").lower().split()
    platform = _first(row, "platform", "remote_system_description").lower()
    if phone in capabilities or "telephone" in capabilities or "phone" in platform:
        return True
    return platform.startswith(("air-", "ap")) or "wlan-access-point" in capabilities or "w" in capabilities


def read_neighbour_text(source: Source, options: ReadOptions) -> Draft:
    """Read a table as a switch prints it."""
    rows = _parse_text(source)
    draft = Draft(implicit_nodes=True)
    local = local_name(source, options, draft)
    phone = "t" if _LLDP_TEXT.search(source.text[:20_000]) else "p"
    sightings, details = [], {local: {"name": local, "kind": "device"}}
    for row in rows:
        peer = _first(row, "neighbor_name", "neighbor", "remote_system_name", "system_name", "chassis_id")
        port = _first(row, "local_interface", "local_port", "local_intf")
        if not peer or not port:
            draft.skip("row without neighbour or local interface")
            continue
        far = _first(row, "neighbor_interface", "neighbor_port_id", "remote_port", "port_id")
        sightings.append(Sighting(local, port, peer, far or None))
        known = details.setdefault(
            peer, {"name": peer, "kind": "endpoint" if _is_endpoint(row, phone=phone) else "device"}
        )
        for name in ("platform", "capabilities", "mgmt_address"):
            if _first(row, name):
                known.setdefault(name, _first(row, name))
    draft.counts = {"rows": len(rows)}
    merged = merge_names(sightings, draft)
    for name in dict.fromkeys([local, *(row.peer for row in merged)]):
        draft.add_node(name, details.get(name, {"name": name, "kind": "device"}))
    add_links(merged, draft)
    return draft


def _tables(source: Source) -> dict[str | None, dict[str, list[dict[str, Any]]]]:
    """Tables of a NAPALM export by device; ``None`` where the device is not named."""
    document = source.json
    for key in ("lldp_neighbors", "lldp_neighbors_detail", "get_lldp_neighbors", "get_lldp_neighbors_detail"):
        if isinstance(document, dict) and isinstance(document.get(key), dict):
            document = document[key]
    if not isinstance(document, dict) or not document:
        return {}
    if all(_is_table_row(value) for value in document.values()):
        return {None: document}
    found: dict[str | None, dict[str, list[dict[str, Any]]]] = {}
    for device, table in document.items():
        for key in ("lldp_neighbors", "lldp_neighbors_detail", "get_lldp_neighbors", "get_lldp_neighbors_detail"):
            if isinstance(table, dict) and isinstance(table.get(key), dict):
                table = table[key]
        if not isinstance(table, dict) or not all(_is_table_row(value) for value in table.values()):
            return {}
        found[device] = table
    return found


def _is_table_row(value: Any) -> bool:
    named = ("hostname", "remote_system_name")
    return isinstance(value, list) and all(isinstance(r, dict) and any(n in r for n in named) for r in value)


def _is_napalm(source: Source) -> bool:
    if not source.looks_like_json or source.json_keys & {"nodes", "edges", "links", "results"}:
        return False
    tables = _tables(source)
    return any(rows for table in tables.values() for rows in table.values())


def read_napalm(source: Source, options: ReadOptions) -> Draft:
    """Read `get_lldp_neighbors` or its detailed form, of one device or of several."""
    tables = _tables(source)
    if not tables:
        raise source.error("interfaces with lists of neighbours were expected")
    draft = Draft(implicit_nodes=True)
    sightings = []
    hosts = set()
    for device, table in tables.items():
        host = device if device is not None else local_name(source, options, draft)
        hosts.add(host)
        for port, rows in table.items():
            for row in rows:
                peer = _first(row, "hostname", "remote_system_name")
                if peer:
                    far = _first(row, "port", "remote_port", "remote_port_description")
                    sightings.append(Sighting(host, port, peer, far or None))
                else:
                    draft.skip("row without neighbour")
    draft.counts = {"devices": len(hosts), "rows": len(sightings)}
    merged = merge_names(sightings, draft)
    for name in dict.fromkeys([*sorted(hosts), *(end for row in merged for end in (row.host, row.peer))]):
        if any(name in (row.host, row.peer) for row in merged) or name in hosts:
            draft.add_node(name, {"name": name})
    add_links(merged, draft, hosts={row.host for row in merged})
    return draft


READERS = (
    Reader("neighbours", _is_text, read_neighbour_text, "LLDP or CDP table as a switch prints it"),
    Reader("napalm", _is_napalm, read_napalm, "NAPALM LLDP getters (JSON)"),
)
