"""M3Desk: an interactive desktop memory explorer built on M3-Agent memories."""

__version__ = "0.1.0"
