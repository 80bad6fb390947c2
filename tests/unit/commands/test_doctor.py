"""What of the doctor needs no editor and no hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vim_mcp.commands.check_around import has_private_tmp
from vim_mcp.commands.doctor import safely
from vim_mcp.commands.findings import Finding, ok, warning

MOUNT = "36 35 98:0 {root} {point} rw,noatime master:1 - ext4 /dev/root rw\n"


@pytest.mark.parametrize(
    ("root", "point", "private"),
    [
        ("/tmp/systemd-private-0a1b-x.service-cD/tmp", "/tmp", True),
        ("/", "/tmp", False),
        ("/tmp/systemd-private-0a1b-x.service-cD/tmp", "/var/tmp", False),
    ],
)
def test_a_private_tmp_is_seen_in_the_mounts(
    tmp_path: Path, root: str, point: str, private: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNT.format(root="/", point="/") + MOUNT.format(root=root, point=point))
    assert has_private_tmp(str(mounts)) == private


def test_where_mounts_are_not_told_none_is_private(tmp_path: Path) -> None:
    assert not has_private_tmp(str(tmp_path / "mountinfo"))


def test_a_check_that_fails_keeps_its_findings_and_is_told() -> None:
    def check() -> Iterator[Finding]:
        yield ok("a", "b")
        raise RuntimeError("no")

    first, second = safely(check())
    assert first == ok("a", "b")
    assert (second.level, second.topic) == ("error", "check")
    assert "RuntimeError('no')" in second.what


def test_a_line_has_level_topic_and_remedy() -> None:
    assert str(ok("hub", "it runs")) == "ok       hub: it runs"
    assert str(warning("hub", "old", "renew it")) == "warning  hub: old — renew it"
