"""The memory graph: which part is shown, its layout, the canvas that paints it, and its dock."""
