"""The program of the model's process (`answering.py`); its pipe is `m3desk/children/worker_side.py`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def _package() -> None:
    """Make this folder a package of its own name: `m3desk_torch` itself, and M3Desk, are not in this environment."""
    here = Path(__file__).parent
    spec = importlib.util.spec_from_file_location("m3desk_torch_child", here / "__init__.py", submodule_search_locations=[str(here)])
    assert spec is not None and spec.loader is not None
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


_package()

from m3desk_torch_child import answering  # type: ignore[import-not-found]  # noqa: E402

HANDLERS: dict[str, Any] = answering.handlers()
