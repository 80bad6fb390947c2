"""The registry file and the preferences: written whole, read with suspicion."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.registry import Preferences, Registry, inside, without_pid
from vim_mcp.wire.messages import EditorInfo


class Nowhere:
    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def instance(instance_id: str = "a-proj-1", root: str = "/w") -> Instance:
    info = EditorInfo(pid=os.getpid(), cwd="/w", main_file="/w/a", buffers=("/w/a",), root=root)
    return Instance(instance_id, info, Nowhere())


def test_entries_have_the_seed_s_fields_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    Registry(str(path), "/run/s.sock").write([instance()])
    entry = json.loads(path.read_text())["a-proj-1"]
    assert {"socket", "pid", "cwd", "main_file", "started", "buffers", "last_seen"} <= entry.keys()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["registry.json"], "no temporary file is left"


def test_what_an_earlier_hub_knew_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    Registry(str(path), "s").write([instance()])
    [known] = Registry(str(path), "s").load()
    assert (known.id, known.info.root, known.info.buffers) == ("a-proj-1", "/w", ("/w/a",))
    assert known.gone, "it is not back yet"


@pytest.mark.parametrize("text", ["{", "[]", "", "\x00", '{"a":'])
def test_a_corrupt_file_is_set_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "registry.json"
    path.write_text(text)
    assert Registry(str(path), "s").load() == []
    assert (tmp_path / "registry.json.corrupt").read_text() == text


def test_4_1_old_and_dead_entries_are_forgotten(tmp_path: Path) -> None:
    now = datetime.now(timezone.utc)
    fresh, old = now.isoformat(), (now - timedelta(hours=25)).isoformat()
    entries = {
        "alive": {"pid": os.getpid(), "last_seen": fresh},
        "old": {"pid": os.getpid(), "last_seen": old},
        "dead": {"pid": 2**22 + 1, "last_seen": fresh},
        "no pid of this world": {"pid": 10**30, "last_seen": fresh},
        "odd": {"pid": "x", "last_seen": 5},
        "odder": 7,
    }
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(entries))
    assert [i.id for i in Registry(str(path), "s").load()] == ["alive"]


def test_4_3_a_preference_is_one_line_and_one_entry_a_project(tmp_path: Path) -> None:
    line, projects = tmp_path / "preference.txt", tmp_path / "state" / "preferences.json"
    preferences = Preferences(str(line), str(projects))
    assert preferences.project("/w/src") is None
    preferences.remember(instance("a-proj-17"))
    assert line.read_text() == "a-proj-17\n"
    assert preferences.project("/w/src") == "a-proj"
    assert preferences.project("/elsewhere") is None


def test_inside_is_about_whole_path_components() -> None:
    assert inside("/w/one", "/w/one")
    assert inside("/w/one/x", "/w/one/")
    assert not inside("/w/oneself", "/w/one")
    assert not inside("/w", "")


def test_a_project_name_may_have_dashes() -> None:
    assert without_pid("index-my-project-123") == "index-my-project"
