"""The timeline: what it shows as arrays, the canvas that paints it, and its dock."""
