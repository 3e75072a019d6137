"""Opens a model's folder: only safetensors, no code of the repository, nothing from the network; 4 and 8 bit for the text part alone."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .room import available, gigabytes


class Refused(Exception):
    """The model can't be used: what is wrong, and what to do about it (`hint`)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass
class Opened:
    """A model in memory. `processor`: None for a model of text. `quantized`: how many layers of the text part have fewer bits."""

    torch: Any
    model: Any
    processor: Any | None
    tokenizer: Any
    device: str
    bits: int
    quantized: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return str(self.model.config.model_type)

    @property
    def hears(self) -> bool:
        return self.kind in HEARS

    @property
    def watches_video(self) -> bool:
        # SmolVLM's videos would take the place of its single pictures: it gets both as single pictures. So do models whose videos are
        # no grids of patches, because their tokens could not be checked.
        reads = getattr(self.processor, "video_processor", None)
        grids = getattr(getattr(self.model.config, "vision_config", None), "spatial_merge_size", None)
        return "pixel_values_videos" in getattr(reads, "model_input_names", ()) and grids is not None

    @property
    def decoder(self) -> Any:
        return self.model.get_decoder()

    @property
    def context(self) -> int:
        """The positions that the model was trained for."""
        return int(self.model.config.get_text_config().max_position_embeddings)


HEARS = ("qwen2_5_omni_thinker", "qwen3_omni_moe_thinker")
"""Classes whose videos have their sound."""

_THINKERS = {"qwen2_5_omni": "Qwen2_5OmniThinkerForConditionalGeneration", "qwen3_omni_moe": "Qwen3OmniMoeThinkerForConditionalGeneration"}
"""Whole Omni repositories: only the part that understands is loaded, not the one that speaks."""

_HEADER = 100_000_000


def open_model(torch: Any, folder: Path, *, bits: int = 16, random_weights: bool = False) -> Opened:
    """Load a model onto the GPU, or the processor where there is none. Raises Refused."""
    began = time.perf_counter()
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise Refused(
            f"{folder} is no model's folder (it has no config.json).", "Choose the folder that holds config.json and the weights."
        )
    if not random_weights:
        check_weights(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if bits < 16 and device == "cpu" and not _has("bitsandbytes"):
        raise Refused("4 and 8 bit need the package bitsandbytes.", "Set bits = 16, or install the backend again.")
    config = _config(folder)
    skeleton, cls = _skeleton(torch, config)
    need = needed_bytes(torch, skeleton, bits)
    free = available(torch, device)
    dtype = torch.bfloat16 if device == "cuda" or need * 2 > free else torch.float32  # float32 is the quicker one on a processor
    if need * (1 if dtype is torch.bfloat16 else 2) > free:
        where = "GPU memory" if device == "cuda" else "memory"
        raise Refused(f"the model needs {gigabytes(need)} of {where} in {bits} bit, {gigabytes(free)} are free.", next_smaller(bits))
    processor, tokenizer = _readers(folder, multimodal="CausalLM" not in cls.__name__)
    if random_weights:
        model = _random(torch, cls, config, device, dtype)
    else:
        model = _load(torch, cls, folder, device, dtype, bits, skeleton)
    opened = Opened(torch, model.eval(), processor, tokenizer, device, bits)
    opened.quantized = count_quantized(torch, model, skeleton) if bits < 16 and not random_weights else 0
    # The head on the last token only: on all of a clip's 22,000 tokens it would take 6.7 GB for nothing.
    model.get_output_embeddings().register_forward_pre_hook(lambda _module, given: (given[0][:, -1:],))
    opened.seconds = time.perf_counter() - began
    return opened


def next_smaller(bits: int) -> str:
    """Say what to try where the memory does not suffice."""
    return {
        16: "Set bits = 8 or bits = 4 in [backends.transformers], or choose a smaller model.",
        8: "Set bits = 4, or choose a smaller model.",
    }.get(bits, "Choose a smaller model, or end other programs that use the GPU.")


def check_weights(folder: Path) -> None:
    """Check that the weights are whole safetensors files. Raises Refused."""
    files = sorted(folder.glob("*.safetensors"))
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            wanted = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, AttributeError) as error:
            raise Refused(f"{index.name} cannot be read ({error}).", "Download the model again.") from error
        if missing := [name for name in wanted if Path(name).name != name or not (folder / name).is_file()]:
            raise Refused(
                f"{len(missing)} of {len(wanted)} files of the weights are missing (the first: {missing[0]}).", "Download the rest."
            )
    if not files:
        other = next((p.name for pattern in ("*.bin", "*.pt", "*.pth", "*.gguf") for p in folder.glob(pattern)), "")
        kind = f" (only {other}, which is not opened: such files can run code or need another backend)" if other else ""
        raise Refused(f"there are no weights in {folder}{kind}.", "Choose a folder with *.safetensors files.")
    for file in files:
        _check_safetensors(file)


def _check_safetensors(file: Path) -> None:
    """Check the header of a file (8-byte length, JSON), and that its tensors end where the file ends. Raises Refused."""
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(_HEADER, size - 8):
                raise ValueError("its header is damaged")
            header = json.loads(stream.read(length))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        if 8 + length + max(ends, default=0) != size:
            raise ValueError("it is cut off or too long")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"the weights {file.name} cannot be used: {error}.", "Download this file again.") from error


def _config(folder: Path) -> Any:
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise Refused(
            f"the model in {folder} is of a kind that this version cannot load ({_first_line(error)}).", "Choose another model."
        ) from error


def _skeleton(torch: Any, config: Any) -> tuple[Any, Any]:
    """Return the model without memory (to count and to name its parts) and its class. Raises Refused."""
    import transformers

    multimodal = transformers.AutoModelForMultimodalLM._model_mapping
    causal = transformers.AutoModelForCausalLM._model_mapping
    if config.model_type in _THINKERS:
        cls = getattr(transformers, _THINKERS[config.model_type])
        config = config.thinker_config
    elif type(config) in multimodal:
        cls = multimodal[type(config)]
    elif type(config) in causal:
        cls = causal[type(config)]
    else:
        raise Refused(f"a model of the kind {config.model_type} neither writes nor watches.", "Choose another model.")
    with torch.device("meta"):
        return cls(config), cls


def decoder_name(model: Any) -> str:
    """Return the full name of the part that reads and writes text."""
    decoder = model.get_decoder()
    return str(next(name for name, module in model.named_modules() if module is decoder))


def outside_of_decoder(model: Any) -> list[str]:
    """Return the full names of all parts beside the decoder: `model.visual`, `model.audio_tower`, `lm_head`.

    Short names such as `visual` would be ignored without a word, and the towers quantized (transformers 5).
    """
    path, found, here = decoder_name(model).split("."), [], model
    for depth, step in enumerate(path):
        prefix = "".join(part + "." for part in path[:depth])
        found += [prefix + name for name, _ in here.named_children() if name != step]
        here = getattr(here, step)
    return found


def _linears(torch: Any, model: Any) -> dict[str, Any]:
    return {name: module for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}


def needed_bytes(torch: Any, skeleton: Any, bits: int) -> int:
    """Return what the weights take in memory: 2 bytes a parameter, fewer for the linear layers of the text part in 4 or 8 bit."""
    total: int = sum(p.numel() for p in skeleton.parameters())
    if bits == 16:
        return 2 * total
    prefix = decoder_name(skeleton) + "."
    small: int = sum(module.weight.numel() for name, module in _linears(torch, skeleton).items() if name.startswith(prefix))
    return round(2 * (total - small) + small * {8: 1.01, 4: 0.5 + 1 / 16}[bits])


def count_quantized(torch: Any, model: Any, skeleton: Any) -> int:
    """Return how many linear layers have fewer bits: all of the text part, and none of the towers and the head. Raises Refused."""
    prefix = decoder_name(skeleton) + "."
    wanted = {name for name in _linears(torch, skeleton) if name.startswith(prefix)}
    found = {name for name, module in model.named_modules() if type(module).__name__ in ("Linear4bit", "Linear8bitLt")}
    if found != wanted:
        lost, wrong = sorted(wanted - found), sorted(found - wanted)
        raise Refused(
            f"fewer bits went wrong: {len(lost)} layers of the text part were left out, {len(wrong)} outside of it were changed "
            f"({(wrong or lost)[0]}).",
            "Set bits = 16.",
        )
    text = sum(p.numel() for p in skeleton.get_decoder().parameters())
    share = sum(_linears(torch, skeleton)[name].weight.numel() for name in wanted) / max(1, text)
    if share < 0.5:
        raise Refused(f"only {share:.0%} of this model's text part can have fewer bits (a mixture of experts).", "Set bits = 16.")
    return len(found)


def _load(torch: Any, cls: Any, folder: Path, device: str, dtype: Any, bits: int, skeleton: Any) -> Any:
    more: dict[str, Any] = {}
    if bits < 16:
        from transformers import BitsAndBytesConfig

        kind = (
            {"load_in_8bit": True}
            if bits == 8
            else {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": torch.bfloat16}
        )
        more["quantization_config"] = BitsAndBytesConfig(**kind, llm_int8_skip_modules=outside_of_decoder(skeleton))
        dtype = torch.bfloat16
    if device == "cuda":
        more["device_map"] = {"": 0}
    try:
        model, told = cls.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            **more,
        )
    except torch.OutOfMemoryError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise Refused(
            f"the model did not load: {_first_line(error)}.", "Check that its files are whole, or choose another model."
        ) from error
    wrong = {k: sorted(map(str, told.get(k) or ())) for k in ("missing_keys", "mismatched_keys")}
    if any(wrong.values()):
        key, names = next((k, v) for k, v in wrong.items() if v)
        raise Refused(
            f"the weights do not fit the model: {key.replace('_', ' ')}: {len(names)} (the first: {names[0]}).", "Download the model again."
        )
    return model


def _random(torch: Any, cls: Any, config: Any, device: str, dtype: Any) -> Any:
    """Build the model with random weights in place (for measuring)."""
    config = getattr(config, "thinker_config", config)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            return cls(config)
    finally:
        torch.set_default_dtype(before)


def _readers(folder: Path, *, multimodal: bool) -> tuple[Any | None, Any]:
    from transformers import AutoProcessor, AutoTokenizer

    try:
        if multimodal:
            processor = AutoProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            return processor, processor.tokenizer
        return None, AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        what = "processor" if multimodal else "tokenizer"
        raise Refused(
            f"the {what} in {folder} cannot be read ({_first_line(error)}).", "Download the model's small files again."
        ) from error


def _has(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".")[:300]
