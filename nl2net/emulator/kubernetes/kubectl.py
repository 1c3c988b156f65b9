"""A small ``kubectl`` over the emulated API, for command lines inside a node, where no API server can be reached."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from nl2net.emulator.kubernetes.requests import Answer, Api, Request

if TYPE_CHECKING:
    from nl2net.emulator.interface import Emulator

Outcome = tuple[int, str]
_POLICY = {"networkpolicy", "networkpolicies", "netpol", "networkpolicies.networking.k8s.io"}
_KINDS = {
    "pod": "pods",
    "pods": "pods",
    "po": "pods",
    "service": "services",
    "services": "services",
    "svc": "services",
    "namespace": "namespaces",
    "namespaces": "namespaces",
    "ns": "namespaces",
}
_PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}


def kubectl(network: Emulator, arguments: list[str]) -> Outcome:
    """Run ``get``, ``describe``, ``patch``, ``delete`` or ``apply -f -`` with JSON as the last word.

    Examples
    --------
    >>> from nl2net.emulator import build, online_boutique
    >>> with build(online_boutique(), backend="simulated") as network:
    ...     kubectl(network, ["delete", "networkpolicy", "deny-all"])
    (0, 'networkpolicy.networking.k8s.io "deny-all" deleted\\n')
    """
    options, words = _options(arguments)
    if network.topology.cluster is None:
        return 1, "this network has no cluster\n"
    if len(words) < 2 or words[0] not in {"get", "describe", "patch", "delete"}:
        return 127, f"kubectl {' '.join(arguments)}: not supported by the emulator\n"
    verb, kind, name = words[0], words[1], words[2] if len(words) > 2 else ""
    if "/" in kind:
        kind, _, name = kind.partition("/")
    path = _path(kind, name, options)
    if path is None:
        return 1, f'error: the server doesn\'t have a resource type "{kind}"\n'
    answer = _ask(Api(network), verb, path, options)
    if answer.status >= 400:
        return 1, f"Error from server ({answer.body['reason']}): {answer.body['message']}\n"
    if verb == "patch":
        return 0, f"networkpolicy.networking.k8s.io/{name} patched\n"
    if verb == "delete":
        return 0, f'networkpolicy.networking.k8s.io "{name}" deleted\n'
    return 0, _show(answer.body, "yaml" if verb == "describe" else options.get("output", ""))


def _options(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    short = {"-n": "namespace", "-o": "output", "-p": "patch", "-l": "selector", "--type": "type", "-A": "all"}
    options: dict[str, str] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            words.append(word)
            continue
        flag, equals, value = word.partition("=")
        name = short.get(flag, flag.lstrip("-"))
        if name in {"all", "all-namespaces"}:
            options["all"] = "yes"
        elif equals:
            options[name] = value
        elif rest:
            options[name] = rest.pop(0)
    return options, words


def _path(kind: str, name: str, options: dict[str, str]) -> str | None:
    namespace = options.get("namespace", "default")
    tail = f"/{name}" if name else ""
    scope = "" if options.get("all") else f"/namespaces/{namespace}"
    if kind in _POLICY:
        return f"/apis/networking.k8s.io/v1{scope}/networkpolicies{tail}"
    if kind not in _KINDS:
        return None
    return f"/api/v1/namespaces{tail}" if _KINDS[kind] == "namespaces" else f"/api/v1{scope}/{_KINDS[kind]}{tail}"


def _ask(api: Api, verb: str, path: str, options: dict[str, str]) -> Answer:
    query = {"labelSelector": options["selector"]} if "selector" in options else {}
    if verb == "patch":
        kind = _PATCHES.get(options.get("type", "strategic"), "")
        body = json.dumps(_read_patch(options.get("patch", ""))).encode()
        return api.handle(Request("PATCH", path, query, kind, body))
    return api.handle(Request("DELETE" if verb == "delete" else "GET", path, query))


def _read_patch(text: str) -> Any:
    """A patch in JSON, or in YAML, which takes twenty times as long to read."""
    try:
        return json.loads(text)
    except ValueError:
        return yaml.safe_load(text)


def _show(body: Any, output: str) -> str:
    if output == "json":
        return json.dumps(body, indent=2) + "\n"
    items = body.get("items")
    if output == "yaml" or (items is None and output == ""):
        return str(yaml.safe_dump(body, sort_keys=False))
    rows = [f"{item['metadata'].get('namespace', ''):<14} {item['metadata']['name']}" for item in items or [body]]
    return "\n".join([f"{'NAMESPACE':<14} NAME", *rows]) + "\n"
