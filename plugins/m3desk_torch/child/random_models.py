"""Models with random weights: the classes and folders of real ones, tiny for tests, in full size for `m3desk bench gpu`.

Their words mean nothing; what they show is that loading, processors, token counts and speed are those of the class. The vocabulary of the
tokenizer is bytes in every size; the model's own has the full size of the original, which is what memory and speed depend on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}IMAGE{% elif c['type'] == 'video' %}VIDEO"
    "{% elif c['type'] == 'audio' %}AUDIO{% else %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)

_CHAT_MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_OMNI = {
    "image_token": "<|IMAGE|>",
    "audio_token": "<|AUDIO|>",
    "video_token": "<|VIDEO|>",
    "vision_bos_token": "<|vision_bos|>",
    "vision_eos_token": "<|vision_eos|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
}
_VISION = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]


def _template(image: str = "", video: str = "", audio: str = "") -> str:
    return CHATML.replace("IMAGE", image).replace("VIDEO", video).replace("AUDIO", audio)


def _tokenizer(marks: list[str], named: dict[str, str] | None = None, **more: Any) -> Any:
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import Qwen2Tokenizer

    # Bytes, and one merge: some readers of tokenizers want at least one.
    vocabulary = {c: i for i, c in enumerate([*sorted(ByteLevel.alphabet()), "th"])}
    tokenizer = Qwen2Tokenizer(
        vocab=vocabulary,
        merges=[("t", "h")],
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        unk_token=None,
        additional_special_tokens=[*_CHAT_MARKS, *marks],
        **({"extra_special_tokens": named} if named else {}),
        **more,
    )
    tokenizer.add_tokens(["<think>", "</think>"])
    return tokenizer


def _text(size: int, hidden: int, inner: int, layers: int, heads: int, shared_heads: int, positions: int, **more: Any) -> dict[str, Any]:
    return {
        "vocab_size": size,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": shared_heads,
        "max_position_embeddings": positions,
        **more,
    }


def _rope(theta: float, section: list[int], **more: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta, "mrope_section": section, **more}}


Made = tuple[Any, Any]
"""A configuration and what reads its input: a processor, or a tokenizer."""


def omni(tiny: bool) -> Made:
    """The thinker of Qwen2.5-Omni: the class of M3-Agent-Memorization (7B)."""
    from transformers import (
        Qwen2_5OmniProcessor,
        Qwen2_5OmniThinkerConfig,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
        WhisperFeatureExtractor,
    )

    tokenizer = _tokenizer([], _OMNI)
    ids = tokenizer.convert_tokens_to_ids
    mark = {k.removesuffix("_token"): v for k, v in _OMNI.items()}
    most = 28 * 28 * 16 if tiny else 28 * 28 * 768
    processor = Qwen2_5OmniProcessor(
        image_processor=Qwen2VLImageProcessor(min_pixels=3136, max_pixels=12845056),
        video_processor=Qwen2VLVideoProcessor(size={"shortest_edge": 28 * 28 * (1 if tiny else 128), "longest_edge": most}),
        feature_extractor=WhisperFeatureExtractor(
            feature_size=128, sampling_rate=16000, hop_length=160, chunk_length=300, n_fft=400, return_attention_mask=True
        ),
        tokenizer=tokenizer,
        chat_template=_template(
            mark["vision_bos"] + mark["image"] + mark["vision_eos"],
            mark["vision_bos"] + mark["video"] + mark["vision_eos"],
            mark["audio_bos"] + mark["audio"] + mark["audio_eos"],
        ),
    )
    if tiny:
        text = _text(len(tokenizer), 128, 256, 2, 4, 2, 8192, tie_word_embeddings=False, **_rope(1e6, [4, 6, 6]))
        sees = {
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": 128,
            "fullatt_block_indexes": [1],
        }
        hears = {
            "d_model": 32,
            "encoder_layers": 2,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 64,
            "num_mel_bins": 128,
            "output_dim": 128,
        }
    else:
        text = _text(152064, 3584, 18944, 28, 28, 4, 32768, tie_word_embeddings=False, **_rope(1e6, [16, 24, 24]))
        sees = {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "out_hidden_size": 3584,
            "fullatt_block_indexes": [7, 15, 23, 31],
        }
        hears = {
            "d_model": 1280,
            "encoder_layers": 32,
            "encoder_attention_heads": 20,
            "encoder_ffn_dim": 5120,
            "num_mel_bins": 128,
            "output_dim": 3584,
        }
    config = Qwen2_5OmniThinkerConfig(
        text_config=text,
        vision_config=sees,
        audio_config=hears,
        audio_token_index=ids(_OMNI["audio_token"]),
        image_token_index=ids(_OMNI["image_token"]),
        video_token_index=ids(_OMNI["video_token"]),
        audio_start_token_id=ids(_OMNI["audio_bos_token"]),
        audio_end_token_id=ids(_OMNI["audio_eos_token"]),
        vision_start_token_id=ids(_OMNI["vision_bos_token"]),
        vision_end_token_id=ids(_OMNI["vision_eos_token"]),
    )
    return config, processor


def qwen3_omni(tiny: bool) -> Made:
    """The thinker of Qwen3-Omni (30B, 3B of them active)."""
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
        Qwen3OmniMoeProcessor,
        Qwen3OmniMoeThinkerConfig,
        WhisperFeatureExtractor,
    )

    tokenizer = _tokenizer([], _OMNI)
    ids = tokenizer.convert_tokens_to_ids
    mark = {k.removesuffix("_token"): v for k, v in _OMNI.items()}
    least, most = (1024, 1024 * 16) if tiny else (1024 * 128, 1024 * 768)
    processor = Qwen3OmniMoeProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16, merge_size=2, size={"shortest_edge": 3136, "longest_edge": 12845056}),
        video_processor=Qwen2VLVideoProcessor(patch_size=16, merge_size=2, size={"shortest_edge": least, "longest_edge": most}),
        feature_extractor=WhisperFeatureExtractor(
            feature_size=128, sampling_rate=16000, hop_length=160, chunk_length=300, n_fft=400, return_attention_mask=True
        ),
        tokenizer=tokenizer,
        chat_template=_template(
            mark["vision_bos"] + mark["image"] + mark["vision_eos"],
            mark["vision_bos"] + mark["video"] + mark["vision_eos"],
            mark["audio_bos"] + mark["audio"] + mark["audio_eos"],
        ),
    )
    turn: dict[str, Any] = {"mrope_interleaved": True}
    if tiny:
        text = _text(len(tokenizer), 64, 128, 2, 4, 2, 8192, head_dim=16, **_rope(1e6, [4, 2, 2], **turn))
        text |= {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
        sees: dict[str, Any] = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}
        sees |= {"num_position_embeddings": 64, "deepstack_visual_indexes": [0], "patch_size": 16}
        hears = {"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 64, "num_mel_bins": 128}
        hears |= {"output_dim": 64, "downsample_hidden_size": 8}
    else:
        text = _text(151936, 2048, 768, 48, 32, 4, 65536, head_dim=128, **_rope(1e6, [24, 20, 20], **turn))
        text |= {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}
        sees = {"out_hidden_size": 2048}
        hears = {"d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "output_dim": 2048}
    config = Qwen3OmniMoeThinkerConfig(
        text_config=text,
        vision_config=sees,
        audio_config=hears,
        position_id_per_seconds=13,
        audio_token_id=ids(_OMNI["audio_token"]),
        image_token_id=ids(_OMNI["image_token"]),
        video_token_id=ids(_OMNI["video_token"]),
        audio_start_token_id=ids(_OMNI["audio_bos_token"]),
        audio_end_token_id=ids(_OMNI["audio_eos_token"]),
        vision_start_token_id=ids(_OMNI["vision_bos_token"]),
        vision_end_token_id=ids(_OMNI["vision_eos_token"]),
    )
    return config, processor


def _vision_ids(tokenizer: Any) -> dict[str, int]:
    start, end, image, video = (tokenizer.convert_tokens_to_ids(mark) for mark in _VISION)
    return {"image_token_id": image, "video_token_id": video, "vision_start_token_id": start, "vision_end_token_id": end}


_VISION_TEMPLATE = _template("<|vision_start|><|image_pad|><|vision_end|>", "<|vision_start|><|video_pad|><|vision_end|>")


def qwen2_5_vl(tiny: bool) -> Made:
    """Qwen2.5-VL (7B)."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLProcessor, Qwen2VLImageProcessor, Qwen2VLVideoProcessor

    tokenizer = _tokenizer(_VISION)
    if tiny:
        text = _text(len(tokenizer), 64, 128, 2, 4, 2, 8192, **_rope(1e6, [2, 3, 3]))
        sees = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64, "fullatt_block_indexes": [1]}
    else:
        text = _text(152064, 3584, 18944, 28, 28, 4, 128000, **_rope(1e6, [16, 24, 24]))
        sees = {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "out_hidden_size": 3584,
            "fullatt_block_indexes": [7, 15, 23, 31],
        }
    config = Qwen2_5_VLConfig(text_config=text, vision_config=sees, **_vision_ids(tokenizer))
    size = {"shortest_edge": 784, "longest_edge": 12544} if tiny else {"shortest_edge": 784 * 128, "longest_edge": 784 * 768}
    processor = Qwen2_5_VLProcessor(Qwen2VLImageProcessor(), tokenizer, Qwen2VLVideoProcessor(size=size), chat_template=_VISION_TEMPLATE)
    return config, processor


def _qwen3_vl(tiny: bool, full: dict[str, Any], sees_full: dict[str, Any]) -> Made:
    from transformers import Qwen2VLImageProcessor, Qwen3VLConfig, Qwen3VLProcessor, Qwen3VLVideoProcessor

    tokenizer = _tokenizer(_VISION)
    turn: dict[str, Any] = {"mrope_interleaved": True}
    if tiny:
        text = _text(len(tokenizer), 64, 128, 2, 4, 2, 8192, head_dim=16, **_rope(1e6, [4, 2, 2], **turn))
        sees: dict[str, Any] = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}
        sees |= {"num_position_embeddings": 64, "deepstack_visual_indexes": [0]}
        size = {"shortest_edge": 1024, "longest_edge": 32768}
    else:
        text = {**full, "head_dim": 128, **_rope(5e6, [24, 20, 20], **turn)}
        sees = {"num_heads": 16, "num_position_embeddings": 2304, **sees_full}
        size = {"shortest_edge": 4096, "longest_edge": 25165824}
    config = Qwen3VLConfig(text_config=text, vision_config={**sees, "patch_size": 16}, **_vision_ids(tokenizer))
    images = Qwen2VLImageProcessor(patch_size=16, merge_size=2)
    processor = Qwen3VLProcessor(images, tokenizer, Qwen3VLVideoProcessor(size=size), chat_template=_VISION_TEMPLATE)
    return config, processor


def qwen3_vl_2b(tiny: bool) -> Made:
    """Qwen3-VL (2B)."""
    sees = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "out_hidden_size": 2048, "deepstack_visual_indexes": [5, 11, 17]}
    return _qwen3_vl(tiny, _text(151936, 2048, 6144, 28, 16, 8, 262144, tie_word_embeddings=True), sees)


def qwen3_vl_8b(tiny: bool) -> Made:
    """Qwen3-VL (8B)."""
    sees = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "out_hidden_size": 4096, "deepstack_visual_indexes": [8, 16, 24]}
    return _qwen3_vl(tiny, _text(151936, 4096, 12288, 36, 32, 8, 262144), sees)


def smolvlm(tiny: bool) -> Made:
    """SmolVLM2 (500M)."""
    from transformers import SmolVLMConfig, SmolVLMImageProcessor, SmolVLMProcessor, SmolVLMVideoProcessor

    tokenizer = _tokenizer(
        ["<row_1_col_1>", "<row_1_col_2>", "<row_2_col_1>", "<row_2_col_2>"],
        {
            "image_token": "<image>",
            "fake_image_token": "<fake_token_around_image>",
            "global_image_token": "<global-img>",
            "end_of_utterance_token": "<end_of_utterance>",
        },
    )
    side, patch = (64, 16) if tiny else (512, 16)
    image = tokenizer.convert_tokens_to_ids("<image>")
    sees = (
        {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        if tiny
        else {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
        }
    )
    text = _text(len(tokenizer), 64, 128, 2, 4, 2, 8192) if tiny else _text(49280, 960, 2560, 32, 15, 5, 8192, head_dim=64)
    config = SmolVLMConfig(
        image_token_id=image,
        text_config={"model_type": "llama", **text},
        vision_config={**sees, "image_size": side, "patch_size": patch},
        scale_factor=4 if not tiny else 2,
        tie_word_embeddings=not tiny,
    )
    each = (side // patch) ** 2 // (4 if tiny else 16)
    sizes = {"size": {"longest_edge": side}, "max_image_size": {"longest_edge": side}}
    processor = SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(do_image_splitting=True, **sizes),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(**sizes, video_sampling={"video_size": {"longest_edge": side}, "fps": 1, "max_frames": 64}),
        image_seq_len=each,
        chat_template=_template("<image>", "<video>"),
    )
    return config, processor


def gemma3(tiny: bool) -> Made:
    """Gemma 3 (4B)."""
    from transformers import Gemma3Config, Gemma3ImageProcessor, Gemma3Processor

    marks = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = _tokenizer([], marks, bos_token="<|endoftext|>")
    ids = tokenizer.convert_tokens_to_ids
    each = 16 if tiny else 256
    side = 56 if tiny else 896
    if tiny:
        text = _text(len(tokenizer), 64, 128, 2, 4, 2, 8192, head_dim=16, sliding_window=64)
        sees = {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": side,
            "patch_size": 14,
        }
    else:
        text = _text(262208, 2560, 10240, 34, 8, 4, 131072, head_dim=256, sliding_window=1024)
        sees = {
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_hidden_layers": 27,
            "num_attention_heads": 16,
            "image_size": side,
            "patch_size": 14,
        }
    config = Gemma3Config(
        text_config=text,
        vision_config=sees,
        mm_tokens_per_image=each,
        boi_token_index=ids(marks["boi_token"]),
        eoi_token_index=ids(marks["eoi_token"]),
        image_token_index=ids(marks["image_token"]),
    )
    images = Gemma3ImageProcessor(size={"height": side, "width": side})
    processor = Gemma3Processor(images, tokenizer, chat_template=_template(marks["boi_token"]), image_seq_length=each)
    return config, processor


def _qwen3(tiny: bool, full: dict[str, Any]) -> Made:
    from transformers import Qwen3Config

    tokenizer = _tokenizer([], model_max_length=8192)
    tokenizer.chat_template = CHATML
    # A head of 32 and a vocabulary rounded up to 64 are what vLLM takes, too.
    text = _text(320, 64, 128, 2, 2, 1, 8192, head_dim=32, tie_word_embeddings=True) if tiny else {**full, "head_dim": 128}
    return Qwen3Config(**text, eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>")), tokenizer


def qwen3_8b(tiny: bool) -> Made:
    """Qwen3 (8B): a stand-in for the control model."""
    return _qwen3(tiny, _text(151936, 4096, 12288, 36, 32, 8, 40960))


def qwen3_32b(tiny: bool) -> Made:
    """Qwen3 (32B): the class of M3-Agent-Control."""
    return _qwen3(tiny, _text(151936, 5120, 25600, 64, 64, 8, 40960))


ARCHITECTURES: dict[str, Callable[[bool], Made]] = {
    "qwen2.5-omni-7b": omni,
    "qwen3-omni-30b-a3b": qwen3_omni,
    "qwen2.5-vl-7b": qwen2_5_vl,
    "qwen3-vl-2b": qwen3_vl_2b,
    "qwen3-vl-8b": qwen3_vl_8b,
    "smolvlm2-500m": smolvlm,
    "gemma-3-4b": gemma3,
    "qwen3-8b": qwen3_8b,
    "qwen3-32b": qwen3_32b,
}


def save(name: str, folder: str | Path, *, tiny: bool = True, weights: bool = True, says: Sequence[str] = (), seed: int = 0) -> None:
    """Write the folder of an architecture: configuration, processor, and random weights (or none).

    `says`: what it is made to write, see `_speaking`; random words of a random model are no memory.
    """
    import torch

    config, reads = ARCHITECTURES[name](tiny)
    reads.save_pretrained(folder)
    if not weights:
        config.architectures = [_class_of(config).__name__]
        config.save_pretrained(folder)
        return
    torch.manual_seed(seed)
    if says:
        config.get_text_config().tie_word_embeddings = config.tie_word_embeddings = False
    model = _class_of(config)(config).eval()
    tokenizer: Any = getattr(reads, "tokenizer", reads)
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids("<|im_end|>")
    model.generation_config.pad_token_id = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    if says:
        _speaking(torch, model, tokenizer, says)
    model.save_pretrained(folder)


def _speaking(torch: Any, model: Any, tokenizer: Any, says: Sequence[str]) -> None:
    """Make a model follow each letter by the one that follows it in these texts; by the earlier text's where both are allowed.

    What it sees and hears is still read by every layer, but is hardly louder than the last letter. A grammar or schema decides between
    several followers; after the last letter of a text the turn ends.
    """
    with torch.no_grad():
        for name, weight in model.get_decoder().named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                weight.mul_(0.01)
        letters = model.get_input_embeddings().weight
        letters.copy_(torch.nn.functional.normalize(torch.randn_like(letters), dim=1))
        head = model.get_output_embeddings().weight
        head.zero_()
        followers: dict[int, list[int]] = {}
        for text in says:
            ids = [tokenizer.encode(letter, add_special_tokens=False)[0] for letter in text] + [
                tokenizer.convert_tokens_to_ids("<|im_end|>")
            ]
            for one, then in pairwise(ids):
                if then not in followers.setdefault(one, []):
                    followers[one].append(then)
                    head[then] += letters[one] * (1.1 - 0.1 * len(followers[one]))


def _class_of(config: Any) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForMultimodalLM

    for auto in (AutoModelForMultimodalLM, AutoModelForCausalLM):
        if type(config) in auto._model_mapping:
            return auto._model_mapping[type(config)]
    raise ValueError(f"no class reads {type(config).__name__}")


def checkpoint(folder: str | Path) -> dict[str, Any]:
    """Return the configuration in a folder as its file says it."""
    found: dict[str, Any] = json.loads((Path(folder) / "config.json").read_text("utf-8"))
    return found
