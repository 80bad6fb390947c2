"""The MCP server of one assistant's session, on the SDK's low-level server.

One dispatcher for all tools: it validates, picks the editor, names the acts and maps errors.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import mcp.types as t
from mcp import MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
)

from vim_mcp import __version__
from vim_mcp.assistants import resources, uris
from vim_mcp.assistants.asking import Context, settled
from vim_mcp.editors.budget import Budget, Share
from vim_mcp.editors.call import Call, sensible
from vim_mcp.editors.fleet import Fleet
from vim_mcp.editors.instance import Instance
from vim_mcp.editors.progress import Progress
from vim_mcp.editors.session import Session
from vim_mcp.errors import InstanceGone, InstanceNotFound, NoInstances, VimMcpError
from vim_mcp.tools import (
    buffers,
    diagnostics,
    edit,
    instances,
    navigate,
    search,
    selection,
    state,
)
from vim_mcp.tools.base import TOOLS, Desk, Tool, file_path
from vim_mcp.wire.messages import Json

# Importing a family registers its tools. They are listed in this order.
FAMILIES = (instances, state, buffers, edit, search, navigate, diagnostics, selection)

INSTRUCTIONS = """\
You are joined to the user's running Vim or Neovim. What it holds is what the user sees: unsaved text \
in a buffer wins over the file on disk, so read open files with vim_read and change them with vim_edit.
Start with vim_get_state (current file, cursor, open buffers); "this" is mostly what vim_get_selection \
returns or what is at the cursor. vim_search looks through open buffers, vim_get_diagnostics tells of \
errors and warnings, vim_open and vim_navigate show the user a place. Pass the changedtick that you read \
as expected_changedtick when you edit by line numbers. Every edit is one undo step that the user watches; ask \
before big changes, and leave saving to the user unless asked.
If several instances are connected and none is selected (error 1001), ask the user which one. Error 1003 \
means that the editor is busy or waits at a prompt: tell the user what it says."""


class AssistantServer:
    """Serves one session; `server` is what the SDK's loop runs."""

    def __init__(self, session: Session, fleet: Fleet, budget: Budget) -> None:
        self.session, self.fleet = session, fleet
        self._budget = budget
        self._shares: dict[object, Share] = {}
        self._desk = Desk(session, fleet)
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._listening: Counter[str] = Counter()
        self._legacy: Any = None
        self.server: Server[Session] = Server(
            "vim-mcp",
            version=__version__,
            title="Vim",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen_to,
        )
        # In the place of the SDK's tracing, which costs on every call and goes nowhere here.
        self.server.middleware[:] = [self._know]

    @property
    def options(self) -> InitializationOptions:
        """What `initialize` and `server/discover` announce."""
        return self.server.create_initialization_options(
            NotificationOptions(resources_changed=True, tools_changed=True)
        )

    def settled(self, request_id: object) -> None:
        """A request was answered and the answer taken, or there will be none."""
        if (share := self._shares.pop(request_id, None)) is not None:
            share.free()

    def close(self) -> None:
        """The assistant is gone: nothing is on its way to it."""
        for request_id in list(self._shares):
            self.settled(request_id)

    async def resource_changed(self, *uris: str) -> None:
        """Tell the assistant that resources it subscribed to may read differently now."""
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri))
            if uri in self.session.subscriptions and self._legacy is not None:
                await self._legacy.send_resource_updated(uri)

    async def editor_changed(
        self, instance_id: str, kinds: frozenset[str], buffers: frozenset[int] | None
    ) -> None:
        """Tell the assistant which of its resources may read differently.

        `kinds` are those of `uris.Address`, `buffers` the ones whose text may have changed (None: all).
        """
        subscribed = self.session.subscriptions | self._listening.keys()
        await self.resource_changed(
            *uris.concerned(subscribed, instance_id, self.session.selected, kinds, buffers)
        )

    # --- tools --------------------------------------------------------------------------------

    async def _list_tools(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListToolsResult:
        _first_page(params)
        return t.ListToolsResult(tools=list(map(describe, _in_order())))

    async def _call_tool(
        self, ctx: Context, params: t.CallToolRequestParams
    ) -> t.CallToolResult | t.InputRequiredResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(-32602, f"there is no tool {params.name!r}; tools/list names them")
        try:
            arguments = params.arguments or {}
            return await settled(ctx, params, self.fleet, lambda: self._run(tool, arguments, ctx))
        except VimMcpError as error:
            return failed(error)

    async def _run(self, tool: Tool, raw: Json, ctx: Context) -> t.CallToolResult:
        arguments = tool.parse(raw)
        if not tool.on_editor:
            return succeeded(await tool.run(self._desk, **arguments))
        # A relative path is the assistant's; the editor hears only absolute ones.
        if arguments.get("file") is not None:
            arguments["file"] = file_path(arguments["file"], self.session.cwd)
        wanted = arguments.pop("instance_id")
        likely = wanted or self.session.selected or "the editor"
        try:
            instance = await self.fleet.choose(
                self.session,
                instance_id=wanted,
                workspace_path=arguments.pop("workspace_path"),
                file=arguments.get("file"),
            )
        except (InstanceGone, InstanceNotFound, NoInstances):
            if tool.acts and ctx.request_id in self.session.asked_again:
                # An earlier hub had begun it, in an editor that has not come back to tell.
                raise InstanceGone(likely, effect_unknown=True) from None
            raise
        call = self._call_on(instance, ctx)
        # The arguments were checked, so what fails is what the editor answered.
        with sensible(instance, tool.name):
            return succeeded(await tool.run(call, **arguments))

    def _call_on(self, instance: Instance, ctx: Context) -> Call:
        """Return the call that serves a request on an editor."""
        request_id = ctx.request_id
        if request_id not in self._shares:
            self._shares[request_id] = self._budget.open(self.session.id)
        wants_progress = bool(ctx.meta and ctx.meta.get("progress_token") is not None)
        return Call(
            instance,
            self.session.actor,
            str(request_id),
            request_id in self.session.asked_again,
            self._shares[request_id],
            Progress(ctx.session.report_progress) if wants_progress else None,
        )

    # --- resources ----------------------------------------------------------------------------

    async def _list_resources(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourcesResult:
        _first_page(params)
        return t.ListResourcesResult(resources=resources.listing())

    async def _list_templates(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        _first_page(params)
        return t.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def _read_resource(
        self, ctx: Context, params: t.ReadResourceRequestParams
    ) -> t.ReadResourceResult | t.InputRequiredResult:
        uri = str(params.uri)
        try:
            return await settled(
                ctx,
                params,
                self.fleet,
                lambda: resources.read(uri, self._desk, lambda i: self._call_on(i, ctx)),
            )
        except VimMcpError as error:
            raise MCPError(error.code, str(error), error.data or None) from None

    async def _subscribe(self, ctx: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        uri = str(params.uri)
        try:
            uris.parse(uri)
        except VimMcpError as error:
            raise MCPError(error.code, str(error), error.data) from None
        self.session.subscribe(uri)
        return t.EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        self.session.unsubscribe(str(params.uri))
        return t.EmptyResult()

    async def _listen_to(
        self, ctx: Context, params: t.SubscriptionsListenRequestParams
    ) -> t.SubscriptionsListenResult:
        """Serve a stream of news, and know meanwhile what it is about: templates have no list."""
        wanted = list(params.notifications.resource_subscriptions or ())
        self._listening.update(wanted)
        try:
            return await self._listen(ctx, params)
        finally:
            # In its place, not by subtract(): that would keep the names with a count of 0.
            self._listening -= Counter(wanted)

    async def _know(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Learn who the client is; a legacy session can be written to outside a request.

        It sees the handshake too, which is all that a replay after a hub's death may bring.
        """
        if ctx.protocol_version < "2026":
            self._legacy = ctx.session
        if ctx.method == "initialize":
            # The SDK has it only after this.
            raw = (ctx.params or {}).get("clientInfo")
            if isinstance(raw, Mapping):
                self.session.known_as(f"{raw.get('name', '')} {raw.get('version', '')}".strip())
        elif (params := ctx.session.client_params) is not None:
            info = params.client_info
            self.session.known_as(f"{info.name} {info.version}".strip())
        return await call_next(ctx)


def _in_order() -> list[Tool]:
    families = [family.__name__ for family in FAMILIES]
    return sorted(TOOLS.values(), key=lambda tool: families.index(tool.run.__module__))


def _first_page(params: t.PaginatedRequestParams | None) -> None:
    """Refuse a cursor: these lists have one page."""
    if params is not None and params.cursor is not None:
        raise MCPError(-32602, "there is no such page: this list is told whole")


def describe(tool: Tool) -> t.Tool:
    """Return what a client is told of a tool."""
    return t.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=t.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.acts,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or not tool.acts,
            open_world_hint=False,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.always_load else None,
    )


def succeeded(result: Any) -> t.CallToolResult:
    """Return a tool's result: text alone, or structured with the same facts as text."""
    if isinstance(result, str):
        return t.CallToolResult(content=[t.TextContent(type="text", text=result)])
    data = result.model_dump(mode="json")
    text = json.dumps(data, ensure_ascii=False)
    texts = [words, text] if (words := result.preface()) else [text]
    return t.CallToolResult(
        content=[t.TextContent(type="text", text=one) for one in texts], structured_content=data
    )


def failed(error: VimMcpError) -> t.CallToolResult:
    """Return an error that the model can act on: code, message, data (first seed, section 8)."""
    body: Json = {"code": error.code, "message": str(error)}
    if error.data:
        body["data"] = error.data
    text = json.dumps(body, ensure_ascii=False)
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=True)
