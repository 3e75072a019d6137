"""The model's process as it is, and besides what tests try in it: mistakes made on purpose, and what is inside of the model."""

from __future__ import annotations

import runpy
import shutil
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHILD = Path(__file__).parents[2] / "plugins" / "m3desk_torch" / "child"
HANDLERS: dict[str, Any] = dict(runpy.run_path(str(CHILD / "program.py"))["HANDLERS"])

from m3desk_torch_child import asking, checks, loading, replying  # noqa: E402
from m3desk_torch_child.room import Room  # noqa: E402


def _model() -> Any:
    return HANDLERS["open"].__self__


@contextmanager
def _instead(where: Any, **values: Any) -> Any:
    before = {name: getattr(where, name) for name in values}
    for name, value in values.items():
        setattr(where, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(where, name, value)


def mistake(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Watch a clip with a mistake made on purpose; answer the error, "" if there is none."""
    opened, room, which = _model().opened, _model().room, request["mistake"]
    turns, arrays = request["turns"], request["arrays"]
    cut = slice(None)
    build = asking._build

    def built(*args: Any) -> Any:
        asked = build(*args)
        match which:
            case "sound beside pictures is not asked for":
                asked.options.clear()
            case "another rate is said":
                asked.inputs["video_second_per_grid"] = [s / 2 for s in asked.inputs["video_second_per_grid"]]
            case "a token of the video is lost":
                drop(asked, "video")
            case "a token of the picture is lost":
                drop(asked, "image")
            case "a token of the sound is lost":
                drop(asked, "audio")
            case "a picture of the video is lost":
                asked.inputs["video_grid_thw"][0][0] -= 1
        return asked

    def drop(asked: Any, medium: str) -> None:
        token = checks.marks(opened.model.config)[medium]
        ids = asked.inputs["input_ids"]
        at = int((ids[0] == token).nonzero()[0])
        ids[0, at] = opened.tokenizer.convert_tokens_to_ids("a")

    changes: dict[str, Any] = {"_build": built}
    if which == "the sound overruns":
        changes["_filled"] = lambda sound, _seconds: asking.np.concatenate([sound, sound[:48_000]])
    if which == "sound of another length is given":
        arrays = [*arrays[:-1], asking.np.zeros(len(arrays[-1]) + 48_000, "f4")]
    try:
        with _instead(asking, **changes):
            asked = asking.ask(opened, turns, arrays[cut], room, reply=20)
        replying.reply(opened, asked, room, max_tokens=2)
    except (checks.Mistaken, loading.Refused) as error:
        return {"error": str(error)}
    return {"error": "", "positions": asked.given.positions, "tokens": asked.tokens}


def head(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Answer how many positions the head was applied to in each step, and whether the tokens are those without the saving."""
    opened, room = _model().opened, _model().room
    lengths: list[int] = []
    output = opened.model.get_output_embeddings()
    watched = output.register_forward_hook(lambda _m, _given, made: lengths.append(int(made.shape[1])))
    said: list[list[str]] = []
    for saving in (True, False):
        saved = dict(output._forward_pre_hooks)
        if not saving:
            output._forward_pre_hooks.clear()
        pieces: list[str] = []
        asked = asking.ask(opened, [{"role": "user", "parts": [{"text": "word " * 30}]}], [], room, reply=20)
        replying.reply(opened, asked, room, max_tokens=8, piece=pieces.append)
        output._forward_pre_hooks.update(saved)
        said.append(pieces)
        if saving:
            longest = max(lengths)
    watched.remove()
    return {"longest": longest, "same": said[0] == said[1], "without": max(lengths)}


def little_room(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Build a prompt as if only `tokens` fitted into memory; answer what was changed, or the error."""
    opened, room = _model().opened, _model().room
    small = Room(room.torch, room.device, room.limit, room.cache, room.work)
    small.tokens = lambda: request["tokens"]  # type: ignore[method-assign]
    try:
        with _instead(asking, _LEAST_SIDE=request.get("least", 112)):
            asked = asking.ask(opened, request["turns"], request["arrays"], small, reply=20)
    except loading.Refused as error:
        return {"error": str(error), "hint": error.hint}
    return {"error": "", "tokens": asked.tokens, "told": asked.told, "pictures": [v.pictures for v in asked.given.videos]}


def skipped(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Answer the names of what keeps its bits, and what counting says when the short names were given."""
    opened = _model().opened
    names = loading.outside_of_decoder(opened.model)
    answer: dict[str, Any] = {"names": names}
    if request.get("wrongly"):
        with _instead(loading, outside_of_decoder=lambda _m: [n.rsplit(".", 1)[-1] for n in names]):
            try:
                loading.open_model(opened.torch, Path(request["folder"]), bits=4)
            except loading.Refused as error:
                answer["error"] = str(error)
    return answer


def renamed(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Write a copy of a thinker with the names of 4.5x, with a prefix or as a whole repository; answer whether it gives the same."""
    import json

    from safetensors.torch import load_file, save_file

    opened = _model().opened
    source, copy = Path(request["folder"]), Path(request["copy"])
    shutil.copytree(source, copy)

    def old(key: str) -> str:
        return key.replace("model.language_model.", "model.").replace("model.audio_tower", "audio_tower").replace("model.visual", "visual")

    weights = {request["prefix"] + old(k): v for k, v in load_file(source / "model.safetensors").items()}
    if request["whole"]:
        weights["talker.codec_head.weight"] = opened.torch.zeros(4, 4)
        thinker = json.loads((source / "config.json").read_text())
        told = {"model_type": "qwen2_5_omni", "architectures": ["Qwen2_5OmniModel"], "thinker_config": thinker}
        (copy / "config.json").write_text(json.dumps(told))
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    again = loading.open_model(opened.torch, copy)
    ids = opened.torch.arange(40)[None]
    with opened.torch.inference_mode():
        same = opened.torch.equal(opened.model(input_ids=ids).logits, again.model(input_ids=ids).logits)
    return {"same": bool(same), "hears": again.hears}


def connect(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Try to leave the process."""
    found = {}
    for name, leave in (
        ("connect", lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
        ("look up", lambda: socket.getaddrinfo("localhost", 80)),
    ):
        try:
            leave()
            found[name] = "left"
        except PermissionError:
            found[name] = "refused"
    return found


HANDLERS |= {f.__name__: f for f in (mistake, head, little_room, skipped, renamed, connect)}
