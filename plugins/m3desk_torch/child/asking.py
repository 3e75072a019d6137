"""Turns into what a model gets: the chat's text, pictures, videos with their sound; small enough for the memory that is free."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .checks import Given, Video, check
from .loading import Opened, Refused, next_smaller
from .room import Room, gigabytes

SAMPLE_RATE = 16_000

_LEAST_SIDE = 112
"""Pictures are not made smaller than this: nothing can be told from them."""

_TRIES = 6


@dataclass
class Asked:
    """A prompt that is ready. `told`: what was changed to make it fit, for the log and the memory's notes."""

    inputs: Any
    options: dict[str, Any]
    given: Given
    told: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return int(self.inputs["input_ids"].shape[1])


@dataclass
class _Media:
    """What a conversation shows, in order. Pictures are RGB, (height, width, 3); videos (pictures, height, width, 3)."""

    images: list[np.ndarray[Any, Any]] = field(default_factory=list)
    videos: list[np.ndarray[Any, Any]] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    sounds: list[np.ndarray[Any, Any] | None] = field(default_factory=list)
    smaller: bool = False
    """Pictures of videos were made smaller: the processor must not enlarge them again to the least size it is used to."""


def ask(opened: Opened, turns: Sequence[dict[str, Any]], arrays: Sequence[Any], room: Room, *, reply: int, smaller: float = 1.0) -> Asked:
    """Build the prompt of a conversation, with room for a reply of so many tokens. Raises Refused.

    Pictures of videos are made smaller until the prompt fits; where the smallest do not, every second picture is left out.
    `smaller`: the share of the free memory that may be used (less after memory ran out).
    """
    if opened.processor is None and any("pictures" in part for turn in turns for part in turn["parts"]):
        raise Refused("this model reads text only: it can't watch.", "Choose a model that sees.")
    messages, media = _messages(opened, turns, arrays)
    free = int(room.tokens() * smaller)
    allowed = free - reply
    told: list[str] = []
    first = (media.videos[0].shape[2], media.videos[0].shape[1]) if media.videos else (0, 0)
    for _ in range(_TRIES):
        asked = _build(opened, messages, media)
        if asked.tokens <= allowed:
            break
        if not media.videos or allowed <= 0:
            raise _too_long(opened, room, asked.tokens + reply, free)
        shown = sum(v.n for v in asked.given.videos)
        share = (allowed - (asked.tokens - shown)) / max(1, shown)
        _shrink(media, asked.given, share * 0.95, told)
    else:
        raise _too_long(opened, room, asked.tokens + reply, free)
    if media.videos and (now := (media.videos[0].shape[2], media.videos[0].shape[1])) != first:
        told.append(f"pictures of {first[0]}×{first[1]} were made {now[0]}×{now[1]} to fit into memory")
    asked.told = told
    check(opened, asked.inputs, asked.given)
    return asked


def _too_long(opened: Opened, room: Room, tokens: int, allowed: int) -> Refused:
    if tokens > room.limit:
        return Refused(
            f"the prompt is too long for this model: {tokens} tokens with the reply, it reads {room.limit}.",
            "Give it less, or shorter clips.",
        )
    need, where = gigabytes(room.needs(tokens)), "GPU memory" if opened.device == "cuda" else "memory"
    return Refused(
        f"there is not enough {where} for this prompt: {tokens} tokens need about {need}, room is left for {allowed} tokens.",
        next_smaller(opened.bits) + " Shorter clips need less, too.",
    )


def _messages(opened: Opened, turns: Sequence[dict[str, Any]], arrays: Sequence[Any]) -> tuple[list[dict[str, Any]], _Media]:
    media = _Media()
    messages: list[dict[str, Any]] = []
    for turn in turns:
        content: list[dict[str, Any]] = []
        for part in turn["parts"]:
            if "text" in part:
                content.append({"type": "text", "text": inert(opened.tokenizer, part["text"])})
                continue
            pictures = [np.ascontiguousarray(arrays[i][..., ::-1]) for i in part["pictures"]]  # BGR → RGB
            rate = part.get("rate")
            if rate is None or not opened.watches_video:
                media.images += pictures
                content += [{"type": "image", "image": "picture"} for _ in pictures]
                continue
            media.videos.append(np.stack(pictures))
            media.rates.append(float(rate))
            media.sounds.append(_sound(opened, arrays[part["sound"]], len(pictures) / rate) if part.get("sound") is not None else None)
            content.append({"type": "video", "video": "clip"})
        if opened.processor is None:
            messages.append({"role": turn["role"], "content": "".join(c["text"] for c in content)})
        else:
            messages.append({"role": turn["role"], "content": content})
    return messages, media


def _sound(opened: Opened, sound: Any, seconds: float) -> np.ndarray[Any, Any] | None:
    """Return the sound of a video; None if there is none. Raises Refused if it does not belong to the pictures."""
    if not opened.hears:
        raise Refused("this model does not hear: it was given sound.", "Give it pictures only.")
    if not len(sound):
        return None
    over = len(sound) / SAMPLE_RATE - seconds
    if over > 0.5:  # half a second: the last picture of a clip may stand for less than its share
        raise Refused(
            f"the sound is {over:.1f} s longer than the video: it would be heard at the wrong pictures.", "Cut it at the clip's end."
        )
    return np.asarray(sound[: round(seconds * SAMPLE_RATE)], np.float32)


def _filled(sound: np.ndarray[Any, Any], seconds: float) -> np.ndarray[Any, Any]:
    """Return sound with silence after it, as long as its pictures: the model places what follows by the end of both."""
    return np.pad(sound, (0, max(0, round(seconds * SAMPLE_RATE) - len(sound))))


def _shrink(media: _Media, given: Given, share: float, told: list[str]) -> None:
    """Make videos take this share of their tokens: smaller pictures, or every second one where they would be too small."""
    media.smaller = True
    for i, video in enumerate(media.videos):
        height, width = (min(a, b) for a, b in zip(video.shape[1:3], given.videos[i].shown, strict=True))
        factor = max(share, 0.0) ** 0.5
        if min(height, width) * factor >= _LEAST_SIDE:
            media.videos[i] = _resized(video, max(28, round(height * factor)), max(28, round(width * factor)))
            continue
        if len(video) < 8:
            scale = _LEAST_SIDE / min(height, width)
            if scale < 1:
                media.videos[i] = _resized(video, round(height * scale), round(width * scale))
            continue
        media.videos[i] = video[::2]
        media.rates[i] /= 2
        told.append(f"{media.rates[i]:g} pictures a second were shown, to fit into memory")


def _resized(video: np.ndarray[Any, Any], height: int, width: int) -> np.ndarray[Any, Any]:
    import torch
    from torch.nn.functional import interpolate

    small = []
    for picture in video:
        values = torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1)[None].float()
        scaled = interpolate(values, (height, width), mode="bicubic", antialias=True, align_corners=False)
        small.append(scaled[0].round().clamp(0, 255).to(torch.uint8).permute(1, 2, 0).numpy())
    return np.stack(small)


def _build(opened: Opened, messages: list[dict[str, Any]], media: _Media) -> Asked:
    """Run the processor, always with the names of its arguments in the pinned version of transformers."""
    if opened.processor is None:
        text = opened.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
        inputs = opened.tokenizer([text], return_tensors="pt", add_special_tokens=False)
        return Asked(inputs, {}, Given())
    text = opened.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    # Two pictures make one token in time; the last one stands twice where their number is odd.
    step = int(getattr(opened.processor.video_processor, "temporal_patch_size", 1) or 1) if opened.watches_video else 1
    videos = [np.concatenate([v, np.repeat(v[-1:], -len(v) % step, axis=0)]) for v in media.videos]
    sounds = [None if s is None else _filled(s, len(v) / rate) for s, v, rate in zip(media.sounds, videos, media.rates, strict=True)]
    more: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if videos:
        more["videos"] = videos
        if media.smaller:
            sizes = opened.processor.video_processor
            more["videos_kwargs"] = {"size": {"shortest_edge": 4 * 28 * 28, "longest_edge": int(sizes.size["longest_edge"])}}
        if opened.hears:
            more["fps"] = _one_rate(media.rates)
            heard = [i for i, sound in enumerate(sounds) if sound is not None]
            if heard and len(heard) < len(videos):
                raise Refused("videos with sound and videos without cannot be mixed in one prompt.", "Give them one after the other.")
            if heard:
                more["audio"] = [sounds[i] for i in heard]
                more["audio_from_video_indices"] = heard
                more["load_audio_from_video"] = True
                # Forgotten here, sound and pictures would be placed one after the other, without any error.
                options["use_audio_in_video"] = True
        else:
            more.setdefault("videos_kwargs", {})
            more["videos_kwargs"] |= {
                "do_sample_frames": False,
                "video_metadata": [
                    {"total_num_frames": len(v), "fps": rate, "frames_indices": list(range(len(v))), "duration": len(v) / rate}
                    for v, rate in zip(videos, media.rates, strict=True)
                ],
            }
    if media.images:
        more["images"] = media.images
        if getattr(opened.processor.image_processor, "do_image_splitting", False):
            more["images_kwargs"] = {"do_image_splitting": False}  # cut into tiles, one picture would take the room of seventeen
    try:
        inputs = opened.processor(text=[text], return_tensors="pt", add_special_tokens=False, **more)
    except (ValueError, RuntimeError, IndexError, TypeError) as error:
        raise Refused(f"the pictures and sound could not be prepared for the model ({type(error).__name__}: {error}).") from error
    given = Given(images=len(media.images))
    config = opened.model.config
    for video, rate, sound, grid in zip(videos, media.rates, sounds, inputs.get("video_grid_thw", []), strict=True):
        pairs, high, wide = (int(x) for x in grid)
        merge, patch = int(config.vision_config.spatial_merge_size), int(config.vision_config.patch_size)
        samples = 0 if sound is None else round(len(video) / rate * SAMPLE_RATE)
        given.videos.append(Video(len(video), step, rate, samples, pairs * high * wide // merge**2, (high * patch, wide * patch)))
    return Asked(inputs, options, given)


def _one_rate(rates: Sequence[float]) -> float:
    if len(set(rates)) > 1:
        raise Refused("videos of different rates cannot be shown in one prompt.", "Give them one after the other.")
    return rates[0]


def inert(tokenizer: Any, text: str) -> str:
    """Return text in which nothing stands for a mark of the chat, a picture or a sound: said and read words are data.

    `<|im_end|>` and all other tokens of the tokenizer that look like `<…>` or `[…]` get a space after their first character.
    """
    text = text.replace("<|", "< |").replace("|>", "| >").replace("\0", " ")
    marks = getattr(tokenizer, "_m3desk_marks", None)
    if marks is None:
        added = {str(t) for t in getattr(tokenizer, "added_tokens_decoder", {}).values()} | set(
            getattr(tokenizer, "all_special_tokens", ())
        )
        found = sorted((t for t in added if len(t) > 2 and (t[0], t[-1]) in (("<", ">"), ("[", "]"))), key=len, reverse=True)
        marks = re.compile("|".join(map(re.escape, found))) if found else re.compile(r"(?!)")
        tokenizer._m3desk_marks = marks
    return str(marks.sub(lambda m: m[0][0] + " " + m[0][1:], text))
