"""Which editor is meant, in DESIGN's order, and never a guess."""

from __future__ import annotations

from typing import Any

import pytest

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.selection import choose
from vim_mcp.editors.session import Session
from vim_mcp.errors import AmbiguousInstance, InstanceGone, InstanceNotFound, NoInstances
from vim_mcp.wire.messages import EditorInfo


class Nowhere:
    """A transport for instances that are never written to."""

    def write(self, data: bytes) -> None:
        raise AssertionError("nothing is sent while choosing")

    def close(self) -> None:
        pass


def instance(instance_id: str, root: str, *buffers: str) -> Instance:
    return Instance(instance_id, EditorInfo(root=root, cwd=root, buffers=buffers), Nowhere())


A = instance("a-one-1", "/w/one", "/w/one/a.py")
B = instance("b-two-2", "/w/two", "/w/two/b.py", "/w/shared.txt")
NESTED = instance("c-deep-3", "/w/two/deep", "/w/shared.txt")


def pick(instances: list[Instance], session: Session | None = None, **wanted: Any) -> str:
    return choose(instances, session or Session("s"), directory="/run/x", **wanted).id


def test_none_says_what_to_do_and_where() -> None:
    with pytest.raises(NoInstances, match=r"No Vim instances found, run :VimMCPReconnect.*/run/x"):
        pick([])


def test_the_only_one_is_used() -> None:
    assert pick([A]) == "a-one-1"


def test_several_are_listed_never_guessed() -> None:
    with pytest.raises(AmbiguousInstance) as raised:
        pick([A, B])
    assert raised.value.code == 1001
    assert raised.value.data["instances"] == [
        {"instance_id": "a-one-1", "cwd": "/w/one"},
        {"instance_id": "b-two-2", "cwd": "/w/two"},
    ]


def test_the_call_says_which_before_all_else() -> None:
    session = Session("s", selected="a-one-1")
    assert pick([A, B], session, instance_id="b-two-2") == "b-two-2"
    with pytest.raises(InstanceNotFound, match="a-one-1, b-two-2"):
        pick([A, B], session, instance_id="gone")


def test_a_workspace_path_means_the_deepest_root_around_it() -> None:
    assert pick([A, B, NESTED], workspace_path="/w/two/deep/x") == "c-deep-3"
    assert pick([A, B, NESTED], workspace_path="/w/two/") == "b-two-2"
    with pytest.raises(InstanceNotFound):
        pick([A, B], workspace_path="/w/twofold")
    with pytest.raises(AmbiguousInstance):
        pick([A, instance("a2-one-9", "/w/one")], workspace_path="/w/one")


def test_the_selection_comes_before_the_terminal_and_the_file() -> None:
    session = Session("s", selected="b-two-2", started_in="a-one-1", cwd="/w/one")
    assert pick([A, B], session, file="/w/one/a.py") == "b-two-2"


def test_a_lost_selection_is_an_error_and_not_another_editor() -> None:
    with pytest.raises(InstanceGone, match="gone-x-9"):
        pick([A], Session("s", selected="gone-x-9"))


def test_the_terminal_that_started_the_assistant_and_a_stale_one() -> None:
    assert pick([A, B], Session("s", started_in="b-two-2")) == "b-two-2"
    with pytest.raises(AmbiguousInstance):
        pick([A, B], Session("s", started_in="stale"))


def test_the_only_one_with_the_file_then_the_only_root_around_the_cwd() -> None:
    assert pick([A, B], file="/w/two/b.py") == "b-two-2"
    assert pick([A, B], Session("s", cwd="/w/one/src")) == "a-one-1"
    with pytest.raises(AmbiguousInstance):
        pick([B, NESTED], file="/w/shared.txt")
    with pytest.raises(AmbiguousInstance):
        pick([B, NESTED], Session("s", cwd="/w/two/deep"))


def test_the_project_s_preference_comes_last() -> None:
    session = Session("s", cwd="/elsewhere")
    assert pick([A, B], session, preference=lambda _: "b-two") == "b-two-2"
    with pytest.raises(AmbiguousInstance):
        pick([A, B], session, preference=lambda _: "z-zero")
