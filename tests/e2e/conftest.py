"""Snapshots that serve all editors: what an assistant sees does not depend on the kind."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex


class OneForAllEditors(AmberSnapshotExtension):
    """Keeps a parametrised test's snapshots under one name for all kinds of editor."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return re.sub(r"\[n?vim(-|\])", lambda m: "[" if m[1] == "-" else "", name, count=1)


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compare with what is kept, the same for Vim and Neovim."""
    return snapshot.use_extension(OneForAllEditors)
