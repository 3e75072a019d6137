"""Imports torch and transformers: without network, quiet, and with torchvision also where its C library does not load."""

from __future__ import annotations

import os
import sys
from typing import Any

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def close_network() -> None:
    """Refuse every connection and lookup of this process from now on, and set the libraries' own switches. It can't be undone."""
    os.environ.update(OFFLINE)

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
            raise PermissionError(f"the model's process may not use the network ({event})")

    sys.addaudithook(refuse)


def load(threads: int) -> Any:
    """Import torch and transformers, and return torch with `threads` threads on the processor."""
    import torch

    _declare_missing_operators(torch)
    torch.set_num_threads(max(1, threads))
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return torch


_operators: list[Any] = []


def _declare_missing_operators(torch: Any) -> None:
    """Declare what torchvision's Python expects of its C library, which does not load beside another build of torch.

    Resizing and normalizing, all that the processors use, are torch's own; `nms` itself stays without an implementation.
    """
    try:
        import torchvision  # noqa: F401

        return
    except ImportError:
        return
    except RuntimeError:  # operator torchvision::nms does not exist
        for name in [n for n in sys.modules if n == "torchvision" or n.startswith("torchvision.")]:
            del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in ("nms", "qnms"):
        library.define(schema + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _operators.append(library)  # a library that is collected takes its operators with it
