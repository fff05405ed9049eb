"""Fixtures for plugin authors, there as soon as matrixx-core is installed."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def rig() -> Callable[..., Any]:
    """``rig(module, settings=..., directory=...)``: a host that holds only these plugins, without an event loop."""
    from . import Rig  # not before a test asks for it: the plugin is loaded in every pytest run of the environment

    return Rig
