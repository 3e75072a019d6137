"""Exports, imports, and the checks of a memory."""
