"""The timeline: its data as arrays, the canvas that paints it, and its dock."""
