"""What the model's process answers: `open` a folder, `reply` to a conversation, `make` a model with random weights."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import libraries
from .asking import ask
from .checks import HINT, Mistaken
from .loading import Opened, Refused, next_smaller, open_model
from .replying import reply
from .room import Room, available, gigabytes


class _Model:
    """The one model of this process."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.room: Room | None = None
        self.last: dict[str, Any] = {}

    def open(self, request: dict[str, Any], call: Any) -> dict[str, Any]:
        """Load `folder` in `bits` bits. Answers what the model can do, and what it took."""
        libraries.close_network()
        call.progress("loading torch and transformers")
        torch = libraries.load(int(request.get("threads", 2)))
        if request.get("random_weights"):
            torch.manual_seed(0)
        folder = Path(request["folder"])
        call.progress(f"loading {folder.name} ({_device_name(torch)})")
        with _refusing(call, torch):
            self.opened = opened = open_model(
                torch, folder, bits=int(request.get("bits", 16)), random_weights=bool(request.get("random_weights"))
            )
            self.room = room = Room.of(opened)
            if room.tokens() < 2048 and room.tokens() < room.limit:
                raise Refused(f"no memory is left for clips: room for {room.tokens()} tokens.", next_smaller(opened.bits))
        call.progress(f"loaded in {opened.seconds:.0f} s", 1.0)
        import transformers

        return {
            "kind": opened.kind,
            "context": min(room.limit, room.tokens()),
            "hears": opened.hears,
            "sees": opened.processor is not None,
            "watches_video": opened.watches_video,
            "most_pictures": most_pictures(opened, room),
            "quantized": opened.quantized,
            "seconds": round(opened.seconds, 1),
            "device": _device_name(torch),
            "free": available(torch, opened.device),
            "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        }

    def reply(self, request: dict[str, Any], call: Any) -> dict[str, Any]:
        """Answer a conversation in pieces; a clip that does not fit after all is tried once more with half of the memory."""
        opened, room = self.opened, self.room
        if opened is None or room is None:
            call.refuse("no model is open.", kind="missing")
            return {}  # never reached: refuse raises
        most = int(request.get("max_tokens", 1024))
        told: list[str] = []
        with _refusing(call, opened.torch):
            for smaller in (1.0, 0.5):
                began = time.perf_counter()
                asked = ask(opened, request["turns"], request["arrays"], room, reply=most, smaller=smaller)
                prepared = time.perf_counter() - began
                sent: list[int] = []
                ran_out = False
                try:
                    measured = reply(
                        opened,
                        asked,
                        room,
                        schema=request.get("schema"),
                        grammar=request.get("grammar"),
                        max_tokens=most,
                        at_least=int(request.get("at_least", 0)),
                        cancelled=lambda: bool(call.cancelled),
                        piece=lambda text, sent=sent: (sent.append(len(text)), call.piece(text))[1],  # type: ignore[misc]
                    )
                except opened.torch.OutOfMemoryError:
                    if sent or smaller < 1.0 or not asked.given.videos:
                        raise
                    ran_out = True
                if not ran_out:
                    break
                # Only here, after the error with its traceback, is nothing of the try held any more.
                gc.collect()
                opened.torch.cuda.empty_cache()
                told.append("GPU memory ran out: tried again with smaller pictures")
        self.last = {**measured.told(), "prepared": prepared, "told": [*told, *asked.told], "cancelled": bool(call.cancelled)}
        for line in self.last["told"]:
            print(line, flush=True)  # into the log
        return self.last

    def measured(self, _request: dict[str, Any], _call: Any) -> dict[str, Any]:
        """Answer what the last reply took."""
        return self.last

    def make(self, request: dict[str, Any], call: Any) -> dict[str, Any]:
        """Write the folder of an architecture with random weights (`tiny`), or its configuration alone."""
        libraries.close_network()
        libraries.load(int(request.get("threads", 2)))
        from . import random_models

        name = request["architecture"]
        if name not in random_models.ARCHITECTURES:
            call.refuse(f"there is no architecture “{name}”.", f"There are: {', '.join(random_models.ARCHITECTURES)}.")
        random_models.save(name, request["folder"], tiny=bool(request["tiny"]), weights=bool(request["tiny"]), says=request.get("says", ()))
        return {}

    def architectures(self, request: dict[str, Any], _call: Any) -> dict[str, Any]:
        """Answer what `make` can make, and the device on which it would run."""
        libraries.close_network()
        torch = libraries.load(int(request.get("threads", 2)))
        from . import random_models

        gpu = torch.cuda.is_available()
        return {
            "gpu": gpu,
            "device": _device_name(torch),
            "free": available(torch, "cuda" if gpu else "cpu"),
            "architectures": {name: (make.__doc__ or "").rstrip(".") for name, make in random_models.ARCHITECTURES.items()},
        }


def most_pictures(opened: Opened, room: Room) -> int:
    """Return how many pictures of a clip are worth giving: 600 of a video, fewer where memory or the context ends earlier."""
    if opened.processor is None:
        return 0
    fixed = int(getattr(opened.processor, "image_seq_len", 0) or getattr(opened.processor, "image_seq_length", 0) or 0)
    # A picture of 320×240 in the Qwen families: 28 × 28 pixels a token, two pictures sharing them in a video.
    each = fixed or (48 if opened.watches_video else 96)
    most = 600 if opened.watches_video else 16
    return max(1, min(most, (min(room.tokens(), room.limit) - 2048) // each))


@contextlib.contextmanager
def _refusing(call: Any, torch: Any) -> Iterator[None]:
    """Turn what goes wrong into an error that the user can act on."""
    try:
        yield
    except Refused as error:
        call.refuse(str(error), error.hint)
    except Mistaken as error:
        call.refuse(f"the prompt is not what was given: {error}.", HINT)
    except (torch.OutOfMemoryError, MemoryError) as error:
        free = ""
        with contextlib.suppress(Exception):
            free = f" ({gigabytes(available(torch, 'cuda' if torch.cuda.is_available() else 'cpu'))} are free now)"
        where = "on the GPU (CUDA out of memory)" if isinstance(error, torch.OutOfMemoryError) else "in this machine"
        call.refuse(f"there is not enough memory {where}{free}.", next_smaller(16), kind="memory")


def _device_name(torch: Any) -> str:
    if not torch.cuda.is_available():
        return "processor"
    try:
        return str(torch.cuda.get_device_name(0))
    except RuntimeError:
        return "GPU"


def handlers() -> dict[str, Any]:
    model = _Model()
    return {"open": model.open, "reply": model.reply, "measured": model.measured, "make": model.make, "architectures": model.architectures}
