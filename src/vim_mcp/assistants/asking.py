"""Asking the user, through the client, which editor is meant: MCP's elicitation of both eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import mcp.types as t
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import NoBackChannelError

from vim_mcp.editors.fleet import Fleet
from vim_mcp.editors.session import Session
from vim_mcp.errors import AmbiguousInstance

Context = ServerRequestContext[Session, Any]
_T = TypeVar("_T")

#: The key of our only question, and of the only field of its form.
_KEY = "instance_id"
#: From this version on a question is an answer: the client asks the user and calls again.
_MODERN = "2026"


async def settled(
    ctx: Context,
    params: t.InputResponseRequestParams,
    fleet: Fleet,
    work: Callable[[], Awaitable[_T]],
) -> _T | t.InputRequiredResult:
    """Do `work`; when several editors may be meant, let the user choose and do it again.

    The choice becomes the session's selection. `work` chooses its editor before all else, so
    what failed for want of a choice has done nothing.

    Raises:
        AmbiguousInstance: The client cannot ask, or the user did not choose.
        VimMcpError: As `work`.
    """
    try:
        return await work()
    except AmbiguousInstance as error:
        if not _can_ask(ctx.session.client_capabilities):
            raise
        form = _form(error)
        if ctx.protocol_version >= _MODERN:
            answer = (params.input_responses or {}).get(_KEY)
            if not isinstance(answer, t.ElicitResult):
                return t.InputRequiredResult(input_requests={_KEY: t.ElicitRequest(params=form)})
        else:
            answer = await _ask(ctx, form)
        chosen = _chosen(answer, error)
        if chosen is None or chosen not in fleet.instances:
            raise
        fleet.select(ctx.lifespan_context, fleet.instances[chosen])
    return await work()


def _can_ask(capabilities: t.ClientCapabilities | None) -> bool:
    # A bare `elicitation: {}`, the only shape before modes existed, means forms.
    modes = capabilities.elicitation if capabilities is not None else None
    return modes is not None and (modes.form is not None or modes.url is None)


def _form(error: AmbiguousInstance) -> t.ElicitRequestFormParams:
    listed = "".join(f"\n- {instance_id}  ({cwd})" for instance_id, cwd in error.instances)
    return t.ElicitRequestFormParams(
        message=f"Several Vim instances are connected. Which one is meant?{listed}",
        requested_schema={
            "type": "object",
            "properties": {
                _KEY: {
                    "type": "string",
                    "title": "Vim instance",
                    "enum": [instance_id for instance_id, _ in error.instances],
                }
            },
            "required": [_KEY],
        },
    )


async def _ask(ctx: Context, form: t.ElicitRequestFormParams) -> t.ElicitResult | None:
    """Ask by a request of our own, without a deadline: the user is thinking."""
    try:
        return await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    except (MCPError, NoBackChannelError):
        return None


def _chosen(answer: t.ElicitResult | None, error: AmbiguousInstance) -> str | None:
    """Return what the user chose among what was offered."""
    if answer is None or answer.action != "accept":
        return None
    chosen = (answer.content or {}).get(_KEY)
    return chosen if chosen in [i for i, _ in error.instances] else None
