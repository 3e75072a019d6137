"""Embedded backends: models that run on a CPU without torch."""

import m3desk  # noqa: F401 - switches off what the model libraries would send, also where a plugin is used on its own
