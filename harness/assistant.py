"""A scripted assistant: the official SDK's client over stdio, with plain calls that wait."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
import threading
import uuid
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import mcp.types as t
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT, IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client

from . import process
from .errors import AssistantGone
from .sandbox import Sandbox
from .wait import slow, wait_until

_T = TypeVar("_T")

Era = Literal["modern", "legacy"]

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """What a tool answered: its text, its structured data, whether it is an error, and all of it."""

    text: str
    data: Any
    is_error: bool
    raw: t.CallToolResult

    @property
    def error(self) -> dict[str, Any]:
        """The {code, message, data} of an error the model can act on.

        Raises:
            AssertionError: the call did not fail.
        """
        assert self.is_error, f"the call did not fail: {self.text}"
        if isinstance(self.data, dict) and "code" in self.data:
            return self.data
        return dict(json.loads(self.text))


class Assistant:
    """One MCP client with a server process of its own, started as a real client starts it.

    `era` "modern" opens with server/discover, as Claude Code does, "legacy" with initialize.
    Calls wait for their answers at most `seconds`. The response cache of the SDK is off: what a
    test asks for reaches the server. Duties of the caller: `start()`, then `stop()`, or `with`.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        name: str = "harness",
        era: Era = "modern",
        elicitation: ElicitationFnT | None = None,
        seconds: float = 30.0,
    ) -> None:
        self.sandbox = sandbox
        self.cwd = cwd or sandbox.project()
        self.name = name
        self.era = era
        self.seconds = seconds
        self.notifications: list[t.ServerNotification] = []
        self._elicitation = elicitation
        # The SDK keeps the process to itself; this entry in its environment tells which it is.
        self._mark = uuid.uuid4().hex
        self._env = sandbox.env(**(env or {}), HARNESS_ASSISTANT=self._mark)
        self._errors = sandbox.root / f"assistant-{next(_numbers)}.err"
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._leave: asyncio.Event | None = None
        self._started: Future[None] = Future()
        self._background: set[asyncio.Task[None]] = set()

    def start(self) -> Assistant:
        """Start the server process and do the handshake.

        Raises:
            AssistantGone: the handshake failed; with what the server wrote to stderr.
        """
        self._started = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run()), name=f"assistant-{self.name}", daemon=True
        )
        self._thread.start()
        try:
            self._started.result(self.seconds * slow())
        except Exception as error:
            self.stop()
            raise AssistantGone(f"the handshake failed: {error!r}", self.stderr()) from error
        return self

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave = asyncio.Event()
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "vim_mcp"], env=self._env, cwd=self.cwd
        )
        try:
            with self._errors.open("a") as errors:
                async with Client(
                    stdio_client(parameters, errlog=errors),
                    mode="auto" if self.era == "modern" else "legacy",
                    client_info=t.Implementation(name=self.name, version="1"),
                    message_handler=self._heard,
                    elicitation_callback=self._elicitation,
                    cache=None,
                ) as client:
                    self._client = client
                    self._started.set_result(None)
                    await self._leave.wait()
                    for task in self._background:
                        task.cancel()
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)
        finally:
            self._client = None

    async def _heard(self, message: IncomingMessage) -> None:
        if not isinstance(message, Exception):
            self.notifications.append(message)

    def _submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        if self._loop is None or self._client is None:
            work.close()
            raise AssistantGone("the assistant was not started, or was stopped", self.stderr())
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._submit(work).result(self.seconds * slow())

    @property
    def client(self) -> Client:
        """The SDK's client; its methods belong to the assistant's own thread, see `run()`.

        Raises:
            AssistantGone: not started, or stopped.
        """
        if self._client is None:
            raise AssistantGone("the assistant was not started, or was stopped", self.stderr())
        return self._client

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine on the client's own thread and return its result."""
        return self._wait(work)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool and return its answer; an error the model may see is one with `is_error`.

        Raises:
            mcp.MCPError: the server refused the request itself.
            TimeoutError: no answer within `seconds`.
        """
        return self._wait(self._call(tool, arguments))

    def call_async(self, tool: str, /, **arguments: Any) -> Future[Answer]:
        """Call a tool and return at once, with a future of its answer."""
        return self._submit(self._call(tool, arguments))

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = await self.client.call_tool(tool, arguments)
        texts = [block.text for block in result.content if isinstance(block, t.TextContent)]
        return Answer("\n".join(texts), result.structured_content, bool(result.is_error), result)

    def read(self, uri: str) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Read a resource and return its contents.

        Raises:
            mcp.MCPError: the server's error.
        """
        return list(self._wait(self.client.read_resource(uri)).contents)

    def read_async(self, uri: str) -> Future[t.ReadResourceResult]:
        """Read a resource and return at once, with a future of the whole result."""
        return self._submit(self.client.read_resource(uri))

    def read_json(self, uri: str) -> Any:
        """Read a resource that is one JSON text, and return its value. Raises as `read()`."""
        (content,) = self.read(uri)
        assert isinstance(content, t.TextResourceContents)
        return json.loads(content.text)

    def tools(self) -> list[t.Tool]:
        """Return the tools the server lists."""
        return list(self._wait(self.client.list_tools()).tools)

    def resources(self) -> list[t.Resource]:
        """Return the resources the server lists."""
        return list(self._wait(self.client.list_resources()).resources)

    def subscribe(self, *uris: str) -> None:
        """Ask to be told of changes to resources, and of list changes where the era has them.

        What comes is appended to `notifications`, in both eras alike.
        """
        if self.era == "legacy":
            for uri in uris:
                # The client's own method warns that later eras have no such request.
                request = t.SubscribeRequest(params=t.SubscribeRequestParams(uri=uri))
                self._wait(self.client.session.send_request(request, t.EmptyResult))
        else:
            self._wait(self._listen(uris))

    async def _listen(self, uris: tuple[str, ...]) -> None:
        acknowledged = asyncio.Event()

        async def listen() -> None:
            async with self.client.listen(
                tools_list_changed=True, resources_list_changed=True, resource_subscriptions=uris
            ) as subscription:
                acknowledged.set()
                async for _ in subscription:
                    pass  # _heard() was told as well

        assert self._loop is not None
        task = self._loop.create_task(listen())
        self._background.add(task)
        wait = self._loop.create_task(acknowledged.wait())
        await asyncio.wait({task, wait}, return_when=asyncio.FIRST_COMPLETED)
        wait.cancel()
        if task.done():
            task.result()

    @property
    def protocol_version(self) -> str:
        """The protocol version that was agreed on."""
        return self.client.protocol_version

    @property
    def instructions(self) -> str | None:
        """What the server tells a model about itself."""
        return self.client.instructions

    @property
    def pid(self) -> int:
        """The process id of the server process (on Linux).

        Raises:
            AssistantGone: it does not run.
        """
        for one in process.with_environment(f"HARNESS_ASSISTANT={self._mark}"):
            # Its children (a hub it started) inherit the mark; it is our own child.
            if one.ppid == os.getpid():
                return one.pid
        raise AssistantGone("the assistant's server process does not run", self.stderr())

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the server process; after SIGKILL, wait until it is gone."""
        pid = self.pid
        os.kill(pid, number)
        if number == signal.SIGKILL:
            wait_until(lambda: not process.exists(pid), what="the server process to be gone")

    def stderr(self) -> str:
        """Return what the server process wrote to its standard error."""
        with contextlib.suppress(FileNotFoundError):
            return self._errors.read_text(errors="replace")
        return ""

    def stop(self) -> None:
        """Close the connection and end the server process. May be called again."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if self._loop is not None and self._leave is not None:
            # The loop may have closed meanwhile, with the server process.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._leave.set)
        thread.join(10 * slow())
        self._loop = None

    def __enter__(self) -> Assistant:
        return self if self._thread is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
