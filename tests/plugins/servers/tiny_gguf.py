"""Writes a random vision model for llama.cpp by hand: model.gguf (llama) and mmproj.gguf (SmolVLM's projector, idefics3). NumPy only."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% elif c['type'] == 'media_marker' %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTEXT = 4096
_ALIGNED = 32


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(value: Any) -> bytes:
    """Return a value with its type: bool, int (uint32, or int32 in a list), float, string, or a list of one of these."""
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case list():
            kind = {str: 8, float: 6, int: 5}[type(value[0])]
            packed = b"".join(_text(v) if kind == 8 else struct.pack("<f" if kind == 6 else "<i", v) for v in value)
            return struct.pack("<IIQ", 9, kind, len(value)) + packed
    raise TypeError(value)


def write(path: Path, facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Write a GGUF file, version 3, of float32 tensors."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    head += b"".join(_text(key) + _value(value) for key, value in facts.items())
    at = 0
    for name, tensor in tensors.items():
        head += _text(name) + struct.pack(f"<I{tensor.ndim}QIQ", tensor.ndim, *reversed(tensor.shape), 0, at)
        at += -(-tensor.nbytes // _ALIGNED) * _ALIGNED
    with path.open("wb") as out:
        out.write(head + b"\0" * (-len(head) % _ALIGNED))
        for tensor in tensors.values():
            content = np.ascontiguousarray(tensor, np.float32).tobytes()
            out.write(content + b"\0" * (-len(content) % _ALIGNED))


def _bytes_as_letters() -> list[str]:
    """Return the letter by which byte-level tokenizers write each byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in keep else chr(next(others)) for b in range(256)]


NEXT = {'"': "j", "j": "u", "u": "m", "m": "p", "p": "s", "s": " ", " ": "[j", "[": "1", "1": "]", "]": ".", ".": '"'}
"""Of a model that speaks: what it likes to say after each letter, best first; where nothing constrains it, “jumps [1].” again and again."""

LIKED = ']}",j0A'
"""What it likes to say otherwise, best first: so that documents and replies end soon."""


def _speaking(tokens: list[str], dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return embedding and output of a model whose next token follows from the last alone."""
    known = {(" " if letter == "Ġ" else letter): n for n, letter in enumerate(tokens)}
    embedding, output = np.zeros((len(tokens), dim), np.float32), np.zeros((len(tokens), dim), np.float32)
    embedding[np.arange(len(tokens)), np.arange(len(tokens))] = embedding[:, -1] = 1
    for rank, letter in enumerate(LIKED):
        output[known[letter], -1] = 2 - 0.2 * rank
    for letter, following in NEXT.items():
        for rank, wanted in enumerate(following):
            output[known[wanted], known[letter]] = 8 - 2 * rank
    return embedding, output


def make(folder: Path, dim: int = 64, seed: int = 0, speaks: bool = False, context: int = CONTEXT) -> tuple[Path, Path]:
    """Return the paths of a language model and its vision projector. `speaks`: its replies follow `NEXT`; else they are random."""
    dim = 320 if speaks else dim
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    model, projector = folder / "model.gguf", folder / "mmproj.gguf"

    def drawn(*shape: int) -> np.ndarray:
        return random.normal(0, 0.05, shape).astype(np.float32)

    def ones(count: int) -> np.ndarray:
        return np.ones(count, np.float32)

    # The last two, and "\n\n", are what llama.cpp looks up for this projector.
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<fake_token_around_image>", "<global-img>"]
    tokens = [*_bytes_as_letters(), "ĊĊ", *specials]
    tensors = {"token_embd.weight": drawn(len(tokens), dim), "output_norm.weight": ones(dim), "output.weight": drawn(len(tokens), dim)}
    shapes = {
        "attn_q": (dim, dim), "attn_k": (dim // 2, dim), "attn_v": (dim // 2, dim), "attn_output": (dim, dim),
        "ffn_gate": (2 * dim, dim), "ffn_up": (2 * dim, dim), "ffn_down": (dim, 2 * dim),
    }  # fmt: skip
    for block in ("blk.0.", "blk.1."):
        tensors |= {f"{block}{name}.weight": drawn(*shape) for name, shape in shapes.items()}
        tensors |= {f"{block}{name}.weight": ones(dim) for name in ("attn_norm", "ffn_norm")}
    if speaks:
        tensors["token_embd.weight"], tensors["output.weight"] = _speaking(tokens, dim)
        tensors |= {name: np.zeros_like(t) for name, t in tensors.items() if "attn_output" in name or "ffn_down" in name}
    write(
        model,
        {
            "general.architecture": "llama", "llama.context_length": context, "llama.embedding_length": dim, "llama.block_count": 2,
            "llama.feed_forward_length": 2 * dim, "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2,
            "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": dim // 4, "llama.vocab_size": len(tokens),
            "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.merges": ["Ċ Ċ"], "tokenizer.ggml.token_type": [1] * 257 + [3] * len(specials),
            "tokenizer.ggml.eos_token_id": tokens.index("<|im_end|>"),
            "tokenizer.ggml.padding_token_id": tokens.index("<|endoftext|>"),
            "tokenizer.ggml.add_bos_token": False, "tokenizer.chat_template": TEMPLATE,
        },
        tensors,
    )  # fmt: skip
    width, size, patch, scale = 32, 64, 8, 4  # 8 x 8 patches, 4 x 4 to a token: 4 tokens a picture
    eyes = {
        "v.patch_embd.weight": drawn(width, 3, patch, patch), "v.patch_embd.bias": drawn(width),
        "v.position_embd.weight": drawn((size // patch) ** 2, width),
    }  # fmt: skip
    layers = {
        "attn_q": (width, width), "attn_k": (width, width), "attn_v": (width, width), "attn_out": (width, width),
        "ffn_up": (2 * width, width), "ffn_down": (width, 2 * width),
    }  # fmt: skip
    for block in ("v.blk.0.", "v.blk.1."):
        for name, (out, inner) in layers.items():
            eyes |= {f"{block}{name}.weight": drawn(out, inner), f"{block}{name}.bias": drawn(out)}
        for name in ("ln1", "ln2"):
            eyes |= {f"{block}{name}.weight": ones(width), f"{block}{name}.bias": drawn(width)}
    eyes |= {"v.post_ln.weight": ones(width), "v.post_ln.bias": drawn(width), "mm.model.fc.weight": drawn(dim, width * scale * scale)}
    numbers = {
        "image_size": size, "preproc_image_size": 2 * size, "patch_size": patch, "embedding_length": width,
        "feed_forward_length": 2 * width, "block_count": 2, "projection_dim": dim, "attention.head_count": 2,
        "projector.scale_factor": scale,
    }  # fmt: skip
    write(
        projector,
        {
            "general.architecture": "clip", "clip.has_vision_encoder": True, "clip.projector_type": "idefics3", "clip.use_gelu": True,
            **{f"clip.vision.{name}": number for name, number in numbers.items()},
            "clip.vision.attention.layer_norm_epsilon": 1e-6, "clip.vision.image_mean": [0.5] * 3, "clip.vision.image_std": [0.5] * 3,
        },
        eyes,
    )  # fmt: skip
    return model, projector


if __name__ == "__main__":
    import sys

    make(Path(sys.argv[1]), speaks=True)
