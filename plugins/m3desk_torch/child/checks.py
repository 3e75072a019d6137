"""Checks a prompt before the model reads it: mistakes that transformers makes without a word become errors.

What was tried (transformers 5.23): `generate` without `use_audio_in_video` puts sound behind the pictures instead of beside them; a wrong
`fps` halves or doubles the video's time; sound that is too long is heard at the wrong pictures. None of them raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

HINT = "The installed transformers may not be the pinned one: m3desk backends install transformers."


class Mistaken(Exception):
    """What the model would get is not what was given."""


@dataclass
class Video:
    """A video as it was given: pictures (after the last was repeated), pictures a token in time, pictures a second, samples of sound."""

    pictures: int
    step: int
    rate: float
    samples: int
    n: int = 0
    """The tokens of its pictures."""
    shown: tuple[int, int] = (0, 0)
    """Height and width in pixels as the model gets them."""


@dataclass
class Given:
    images: int = 0
    videos: list[Video] = field(default_factory=list)
    positions: int | None = None
    """The largest position + 1 that the prompt must have; None where the model counts positions by tokens."""
    slack: int = 0
    """By how much it may be larger: a very short video whose pictures are wider than it is long."""


def check(opened: Any, inputs: Any, given: Given) -> None:
    """Compare numbers of tokens with what was given, and compute the largest position. Raises Mistaken."""
    ids = inputs["input_ids"][0]
    counts = {name: int((ids == token).sum()) for name, token in marks(opened.model.config).items()}
    if "video_grid_thw" in inputs or "image_grid_thw" in inputs:
        _grids(opened, inputs, given, counts)
    elif opened.processor is not None:
        _fixed(opened, given, counts)
    wanted = {"image": bool(given.images), "video": bool(given.videos), "audio": any(v.samples for v in given.videos)}
    for name, there in wanted.items():
        if not there and name != "image" and counts.get(name):
            raise Mistaken(f"the prompt has {counts[name]} tokens of {name}, but none was given")


def marks(config: Any) -> dict[str, int]:
    """Return the token that stands for a piece of each medium."""
    found = {}
    for name in ("image", "video", "audio"):
        for key in (f"{name}_token_id", f"{name}_token_index"):
            if (token := getattr(config, key, None)) is not None:
                found[name] = int(token)
                break
    return found


def _grids(opened: Any, inputs: Any, given: Given, counts: dict[str, int]) -> None:
    """Check a model of the Qwen families: each picture is a grid of patches, each video one of pictures."""
    merge = int(opened.model.config.vision_config.spatial_merge_size) ** 2
    images = [[int(x) for x in row] for row in inputs.get("image_grid_thw", [])]
    videos = [[int(x) for x in row] for row in inputs.get("video_grid_thw", [])]
    _same("images", given.images, len(images))
    _same("videos", len(given.videos), len(videos))
    _same("tokens of images", sum(t * h * w // merge for t, h, w in images), counts.get("image", 0))
    for video, (t, h, w) in zip(given.videos, videos, strict=True):
        _same("pairs of pictures", video.pictures // video.step, t)
        _same("tokens of a video", video.n, t * h * w // merge)
    _same("tokens of videos", sum(v.n for v in given.videos), counts.get("video", 0))
    heard = [sound_tokens(opened.kind, v.samples) for v in given.videos if v.samples]
    _same("tokens of sound", sum(heard), counts.get("audio", 0))
    times = [float(s) for s in inputs.get("video_second_per_grid", inputs.get("second_per_grid_ts", []))]
    if opened.hears:
        _same("times of videos", len(given.videos), len(times))
    for video, each in zip(given.videos, times, strict=False):
        if abs(each - video.step / video.rate) > 1e-4:
            raise Mistaken(f"a pair of pictures would stand for {each:g} s instead of {video.step / video.rate:g} s")
    if opened.hears and given.videos:
        given.positions = _omni_positions(opened.model.config, inputs, given, images, videos, counts)


def _omni_positions(
    config: Any, inputs: Any, given: Given, images: list[list[int]], videos: list[list[int]], counts: dict[str, int]
) -> int:
    """Return the largest position + 1: words count one each, a picture its longer side, a video its time, with its sound beside it."""
    merge = int(config.vision_config.spatial_merge_size)
    words = int(inputs["input_ids"].shape[1]) - sum(counts.values())
    total = words + sum(max(t and 1, h // merge, w // merge) for t, h, w in images)
    for video, (t, h, w) in zip(given.videos, videos, strict=True):
        last = int((t - 1) * video.step / video.rate * float(config.position_id_per_seconds))
        side = max(h, w) // merge
        if not video.samples:
            total += max(last + 1, side)  # the longer side of the pictures counts from the video's start, as its time does
            continue
        heard = sound_tokens(config.model_type, video.samples)  # as long as the pictures, so its end is the video's end
        # In Qwen2.5 the marks of the sound stand at the positions of those of the pictures.
        total += heard - (2 if config.model_type == "qwen2_5_omni_thinker" else 0)
        given.slack += max(0, side - heard)
    return total


def sound_tokens(kind: str, samples: int) -> int:
    """Return how many tokens sound takes: 25 a second in Qwen2.5-Omni, 13 in Qwen3-Omni."""
    pictures = samples // 160  # 10 ms each
    if kind == "qwen2_5_omni_thinker":
        return ((pictures - 1) // 2 + 1 - 2) // 2 + 1
    whole, rest = divmod(pictures, 100)
    for _ in range(3):  # three halvings; nothing stays nothing
        rest = (rest - 1) // 2 + 1
    return rest + 13 * whole


def _fixed(opened: Any, given: Given, counts: dict[str, int]) -> None:
    """Check a model whose pictures all take the same number of tokens (SmolVLM, Gemma 3)."""
    processor = opened.processor
    each = int(getattr(processor, "image_seq_len", 0) or getattr(processor, "image_seq_length", 0) or 0)
    pictures = given.images + sum(v.pictures for v in given.videos)
    there = counts.get("image", 0) + counts.get("video", 0)
    if there < pictures:  # whatever a picture takes, it is one token at least
        raise Mistaken(f"{pictures} pictures were given, but the prompt has {there} tokens of pictures")
    if each and there % each:
        raise Mistaken(f"{there} tokens of pictures are no whole pictures of {each} tokens")
    if each and not given.images and there // each != pictures:
        raise Mistaken(f"{pictures} pictures were given, but the prompt shows {there // each}")
    if each and there // each < pictures:  # large single pictures may be cut into several
        raise Mistaken(f"{pictures} pictures were given, but the prompt shows {there // each}")


def _same(what: str, wanted: int, found: int) -> None:
    if wanted != found:
        raise Mistaken(f"{what}: {wanted} were given, the prompt has {found}")


@contextmanager
def positions_checked(opened: Any, given: Given) -> Iterator[None]:
    """Look at the positions that the model really uses, in its first pass over the prompt, before it is made. Raises Mistaken there."""
    if given.positions is None:
        yield
        return
    wanted = given.positions
    seen: list[int] = []

    def look(_module: Any, args: Any, options: dict[str, Any]) -> None:
        if seen:
            return
        positions = options.get("position_ids")
        if positions is None:
            raise Mistaken("the model counts positions by tokens: sound and pictures would not be aligned")
        # A first row of four counts tokens; the others are time, height and width.
        seen.append(int((positions[1:] if positions.ndim == 3 and positions.shape[0] == 4 else positions).max()) + 1)
        if not wanted <= seen[0] <= wanted + given.slack:
            raise Mistaken(f"the largest position is {seen[0] - 1} instead of {wanted - 1}: sound and pictures would not be aligned")

    hook = opened.decoder.register_forward_pre_hook(look, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()
