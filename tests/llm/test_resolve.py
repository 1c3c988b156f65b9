"""Which endpoint is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from nl2net.config import Settings
from nl2net.errors import EndpointError, UserError
from nl2net.llm import Endpoint, resolve_endpoint
from nl2net.llm.catalogue import local_model
from nl2net.llm.probe import LocalServer
from nl2net.locations import Locations


@dataclass
class Here:
    """A machine with nothing on it, to which a test adds what it needs."""

    locations: Locations

    def resolve(
        self,
        *,
        model: str | None = None,
        settings: Settings | None = None,
        environ: dict[str, str] | None = None,
        server: ScriptedServer | None = None,
    ) -> Endpoint:
        servers = (LocalServer("ollama", server.port),) if server else ()
        return resolve_endpoint(
            settings or Settings(), model=model, environ=environ or {}, locations=self.locations, servers=servers
        )

    def add_weights(self, name: str) -> Path:
        entry = local_model(name)
        path = entry.path(self.locations)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            stream.truncate(entry.bytes)  # sparse
        return path


@pytest.fixture
def here(locations: Locations) -> Here:
    return Here(locations)


def test_the_flag_names_a_model_at_the_endpoint_of_the_environment(here: Here) -> None:
    found = here.resolve(model="gpt-4.1", environ={"OPENAI_API_KEY": "k"})
    assert (found.model, found.base_url, found.kind) == ("gpt-4.1", "https://api.openai.com/v1", "openai")
    assert found.api_key == "k"
    assert "api_key" not in repr(found)


def test_the_flag_builtin_wins_over_everything(here: Here) -> None:
    here.add_weights("builtin-small")
    found = here.resolve(
        model="builtin-small", environ={"OPENAI_API_KEY": "k"}, settings=Settings(base_url="http://h/v1")
    )
    assert (found.kind, found.model, found.origin) == ("builtin", "builtin-small", "flag")
    assert found.api_key == ""


def test_settings_win_over_the_environment(here: Here) -> None:
    settings = Settings(base_url="http://gpu.example/v1/", model="big")
    found = here.resolve(settings=settings, environ={"OPENAI_BASE_URL": "http://other/v1", "OPENAI_API_KEY": "k"})
    assert (found.base_url, found.model, found.origin) == ("http://gpu.example/v1", "big", "settings")


def test_the_environment_wins_over_a_local_server(here: Here) -> None:
    with ScriptedServer() as server:
        found = here.resolve(environ={"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}, server=server)
        assert server.requests == []
    assert (found.model, found.origin) == ("m", "environment")


def test_a_local_server_is_found_and_its_code_model_taken(here: Here) -> None:
    with ScriptedServer(models=["nomic-embed-text", "llama3.2", "qwen2.5-coder:7b"]) as server:
        found = here.resolve(server=server)
        assert [(r.method, r.body) for r in server.requests] == [("GET", b"")]
    assert (found.model, found.kind, found.origin) == ("qwen2.5-coder:7b", "ollama", "loopback")


def test_probing_can_be_turned_off(here: Here) -> None:
    here.add_weights("builtin")
    with ScriptedServer() as server:
        found = here.resolve(settings=Settings(probe_local_servers=False), server=server)
        assert server.requests == []
    assert found.kind == "builtin"


def test_the_builtin_model_is_the_last_resort(here: Here) -> None:
    here.add_weights("builtin")
    found = here.resolve()
    assert (found.kind, found.origin, found.base_url) == ("builtin", "built-in", "")


def test_missing_weights_are_told_with_the_way_out(here: Here) -> None:
    with pytest.raises(EndpointError, match="not on this machine") as caught:
        here.resolve()
    assert "nl2net model pull builtin" in caught.value.hint


def test_a_model_that_is_nowhere_is_an_error_not_another_model(here: Here) -> None:
    here.add_weights("builtin")
    with ScriptedServer(models=["llama3.2"]) as server, pytest.raises(UserError, match="'gpt-9'") as caught:
        here.resolve(model="gpt-9", server=server)
    assert "llama3.2" in caught.value.hint


def test_an_endpoint_on_this_machine_without_a_model_name_is_asked(here: Here) -> None:
    with ScriptedServer(models=["my-model"]) as server:
        found = here.resolve(environ={"OPENAI_BASE_URL": server.base_url})
    assert found.model == "my-model"


def test_an_endpoint_elsewhere_without_a_model_name_is_not_asked(here: Here) -> None:
    with pytest.raises(UserError, match="no model is named"):
        here.resolve(environ={"OPENAI_BASE_URL": "http://models.invalid/v1"})


@pytest.mark.parametrize("url", ["ftp://h/v1", "h:8000", "http://user:pw@h/v1"])
def test_strange_addresses_are_refused(here: Here, url: str) -> None:
    with pytest.raises(UserError) as caught:
        here.resolve(settings=Settings(base_url=url, model="m"))
    assert "pw" not in caught.value.hint
