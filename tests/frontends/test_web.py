"""The application in a real headless Chromium: only with the key, only from its own page, and usable."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from scripted_server import ScriptedServer

from nl2net.assistant import Store
from nl2net.tui.web import free_port

ROWS = "```python\ndef answer(graph):\n    return [[n, d] for n, d in graph.degree]\n```"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in _NAMES if (found := shutil.which(name))), "")
pytestmark = [pytest.mark.slow]


@asynccontextmanager
async def served(home: Path, base_url: str) -> AsyncIterator[str]:
    """A served application; gives the printed address."""
    environment = {
        **os.environ, "NL2NET_HOME": str(home), "NL2NET_MODEL": "scripted", "NL2NET_BASE_URL": base_url,
        "OPENAI_API_KEY": "k", "NL2NET_THRESHOLD": "0.0",
    }  # fmt: skip
    data = home / "data"
    data.mkdir(parents=True)
    (data / "tui.json").write_text(json.dumps({"toured": True}))
    command = f"from nl2net.cli import main; main(['tui', '--web', '--graph', 'abilene', '--port', '{free_port()}'])"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", command, env=environment, stderr=asyncio.subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        assert child.stderr is not None
        line = (await asyncio.wait_for(child.stderr.readline(), 60)).decode()
        address = line.split()[1]
        async with aiohttp.ClientSession() as session:
            for _ in range(200):
                try:
                    async with session.get(address):
                        break
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.1)
        yield address
    finally:
        child.terminate()
        await child.communicate()


class Browser:
    """A page of Chromium over its debugging protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            reply = await self._socket.receive_json(timeout=60)
            if reply.get("id") == self._number:
                return reply["result"]

    async def evaluate(self, expression: str) -> Any:
        return (await self.call("Runtime.evaluate", expression=expression))["result"].get("value")

    async def type(self, text: str) -> None:
        await self.evaluate("document.querySelector('textarea').focus()")
        for letter in text:
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter, unmodifiedText=letter)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)
        enter: dict[str, Any] = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        await self.call("Input.dispatchKeyEvent", type="rawKeyDown", **enter)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **enter)


@asynccontextmanager
async def browser(folder: Path, address: str) -> AsyncIterator[Browser]:
    port = free_port()
    child = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--remote-debugging-port={port}",
        f"--user-data-dir={folder}", "--window-size=1200,800", "--no-first-run", "--disable-background-networking",
        address, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with aiohttp.ClientSession() as session:
            pages: list[Any] = []
            for _ in range(300):
                try:
                    async with session.get(f"http://127.0.0.1:{port}/json") as reply:
                        pages = [page for page in await reply.json() if page["type"] == "page"]
                except aiohttp.ClientConnectionError:
                    pass
                if pages:
                    break
                await asyncio.sleep(0.1)
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Browser(socket)
    finally:
        child.terminate()
        await child.wait()


async def test_other_pages_and_strangers_are_turned_away(tmp_path: Path) -> None:
    with ScriptedServer([ROWS]) as server:
        async with served(tmp_path, server.base_url) as address, aiohttp.ClientSession() as session:
            plain = address.split("?")[0]
            async with session.get(plain) as reply:
                assert reply.status == 403
            async with session.get(address, headers={"Host": "evil.example"}) as reply:
                assert reply.status == 403
            async with session.get(address) as reply:
                page = await reply.text()
                assert reply.status == 200 and "googleapis" not in page
                assert "HttpOnly" in reply.headers["Set-Cookie"] and "SameSite=Strict" in reply.headers["Set-Cookie"]
            with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
                await session.ws_connect(f"{plain}ws", headers={"Origin": "http://evil.example"})
            assert caught.value.status == 403


async def test_a_question_is_asked_in_chromium(tmp_path: Path) -> None:
    if not CHROMIUM:
        if "CI" in os.environ:
            pytest.fail("no Chromium on this machine; CI must have one")
        pytest.skip("no Chromium on this machine: the browser front end is NOT tested here")
    with ScriptedServer([ROWS]) as server:
        home = served(tmp_path / "home", server.base_url)
        async with home as address, browser(tmp_path / "profile", address) as page:
            for _ in range(300):
                if await page.evaluate("document.body.classList.contains('-first-byte')"):
                    break
                await asyncio.sleep(0.2)
            await asyncio.sleep(8)  # the graph is read in a thread; a question before that is turned away
            await page.type("Weigh the nodes by their frobnication")
            await asyncio.sleep(2)
            picture = await page.call("Page.captureScreenshot", format="png")
            assert len(picture["data"]) > 20_000
            if target := os.environ.get("NL2NET_SCREENSHOTS"):
                Path(target, "browser.png").write_bytes(base64.b64decode(picture["data"]))
            store = Store(tmp_path / "home" / "data" / "history.sqlite3")
            try:
                for _ in range(300):
                    turns = store.turns()
                    if turns and turns[0].status:
                        break
                    await asyncio.sleep(0.2)
                assert [(turn.question, turn.status) for turn in turns] == [
                    ("Weigh the nodes by their frobnication", "answered")
                ]
            finally:
                store.close()
