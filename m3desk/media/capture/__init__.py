"""Captures live sources (cameras, microphones, network streams) into a recording on disk, which everybody else reads as a file."""
