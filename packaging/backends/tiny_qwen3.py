"""Makes a tiny Qwen3 (the class of M3-Agent-Control) with random weights and a byte tokenizer, for vLLM: tiny_qwen3.py FOLDER.

Runs in the environment of a backend that has torch and transformers.
"""

import sys

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import Qwen2Tokenizer, Qwen3Config, Qwen3ForCausalLM

TEMPLATE = """{% for m in messages %}<|im_start|>{{ m['role'] }}
{{ m['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking is false %}<think>

</think>

{% endif %}{% endif %}"""

POSITIONS = 16_384


def make(folder: str) -> None:
    vocabulary = {c: i for i, c in enumerate(sorted(ByteLevel.alphabet()))}
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = Qwen2Tokenizer(
        vocab=vocabulary, merges=[], eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None,
        model_max_length=POSITIONS, additional_special_tokens=marks,
    )  # fmt: skip
    tokenizer.add_tokens(["<think>", "</think>"])
    tokenizer.chat_template = TEMPLATE
    # A head of 32 and a vocabulary of a multiple of 64: what vLLM's attention on the CPU and its padding take.
    config = Qwen3Config(
        vocab_size=320, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=32, max_position_embeddings=POSITIONS, tie_word_embeddings=True,
        eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"),
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    model.generation_config.eos_token_id = config.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


make(sys.argv[1])
