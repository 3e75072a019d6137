"""Whether a widget can be seen: Qt calls one visible that lies in a dock behind another."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def is_on_show(widget: QWidget) -> bool:
    """Return whether any of a widget can be seen: it is neither hidden nor behind another dock, nor outside of its window."""
    return not widget.visibleRegion().isEmpty()
