"""M3Desk: an interactive desktop memory explorer built on M3-Agent memories."""

from m3desk import privacy

__version__ = "0.1.0"

privacy.switch_off()  # before anything can import a model library
