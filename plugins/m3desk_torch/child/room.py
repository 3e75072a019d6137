"""How much of a clip fits into the memory that is free now: a cost a token, estimated first, then measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_KEPT_FREE = 0.08
"""Share of the free memory that is left alone: other programs draw their windows with the same GPU."""


def available(torch: Any, device: str) -> int:
    """Return bytes that are free now: of the GPU (as its driver says), or of the machine."""
    if device == "cuda":
        free, _total = torch.cuda.mem_get_info()
        # What torch holds and does not use can be used again.
        return int(free + torch.cuda.memory_reserved() - torch.cuda.memory_allocated())
    return _machine_memory()


def _machine_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:  # noqa: PTH123
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    import os

    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # Windows
        return 8 << 30


def gigabytes(count: float) -> str:
    """Return bytes as people read them: 17.9 GB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


def cache_bytes(config: Any, width: int) -> int:
    """Return the bytes of the key-value cache for a token; `width`: bytes a number."""
    text = config.get_text_config()
    head = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(2 * text.num_hidden_layers * text.num_key_value_heads * head * width)


def work_bytes(config: Any, width: int) -> int:
    """Estimate what reading a token takes besides: the widest layer's inputs and outputs, and the picture's way to it."""
    text = config.get_text_config()
    sees = getattr(config, "vision_config", None)
    towers = 8 * (getattr(sees, "hidden_size", 0) + getattr(sees, "intermediate_size", 0)) if sees is not None else 0
    return int(width * (10 * text.hidden_size + 4 * text.intermediate_size + 4 * towers))


@dataclass
class Room:
    """What the model's memory allows. `limit`: tokens of prompt and reply that the model itself can read."""

    torch: Any
    device: str
    limit: int
    cache: int
    work: float
    measured: list[tuple[int, int]] = field(default_factory=list)
    """Tokens of a prompt and the bytes it took at its peak, newest last."""

    @classmethod
    def of(cls, opened: Any) -> Room:
        width = 4 if opened.model.dtype == opened.torch.float32 else 2
        config = opened.model.config
        return cls(opened.torch, opened.device, opened.context, cache_bytes(config, width), work_bytes(config, width))

    def tokens(self) -> int:
        """Return how many tokens of prompt and reply fit now."""
        free = available(self.torch, self.device) * (1 - _KEPT_FREE)
        return max(0, min(self.limit, int(free / (self.cache + self.work))))

    def needs(self, tokens: int) -> int:
        """Return the bytes that a prompt and reply of so many tokens take beside the weights."""
        return int(tokens * (self.cache + self.work))

    def before(self) -> int:
        """Begin to measure; give the result to `after`."""
        if self.device != "cuda":
            return 0
        self.torch.cuda.reset_peak_memory_stats()
        return int(self.torch.cuda.memory_allocated())

    def after(self, before: int, tokens: int) -> int:
        """Learn from what a clip really took, and return its peak in bytes; 0 where it can't be measured."""
        if self.device != "cuda":
            return 0
        peak = int(self.torch.cuda.max_memory_allocated())
        if tokens >= 512:  # less says more about fixed costs than about tokens
            self.measured = [*self.measured[-7:], (tokens, peak - before)]
            # The dearest of the last clips, with a tenth on top.
            self.work = max(1.1 * max(b / t for t, b in self.measured) - self.cache, 0.05 * self.cache)
        return peak
