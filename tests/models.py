"""The nine models that tests, demo and benchmark share: name -> () -> (module in eval mode, inputs).

Weights are random and nothing is downloaded. Sizes are those of small published variants, or a few layers of
the larger ones, so that a test run on two cores stays short.
"""

from __future__ import annotations

from typing import Callable

import torch
from torch import nn

Model = tuple[nn.Module, tuple[torch.Tensor, ...]]
VOCABULARY = 1000


class FirstOutput(nn.Module):
    """A transformers model as a function from token numbers to one tensor."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=tokens, use_cache=False, return_dict=False)[0]


def noise(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(1))


def numbers(below: int, *sizes: int) -> torch.Tensor:
    return torch.randint(0, below, sizes, generator=torch.Generator().manual_seed(1))


def tokens_of(batch: int, length: int) -> torch.Tensor:
    return numbers(VOCABULARY, batch, length)


def image_of(batch: int, size: int) -> torch.Tensor:
    return noise(batch, 3, size, size)


def bert() -> Model:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=1024,
    )
    return FirstOutput(BertModel(config)).eval(), (tokens_of(2, 128),)


def gpt2() -> Model:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=256, n_layer=4, n_head=4)
    return FirstOutput(GPT2LMHeadModel(config)).eval(), (tokens_of(2, 128),)


def llama() -> Model:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    return FirstOutput(LlamaForCausalLM(config)).eval(), (tokens_of(2, 128),)


def timm_model(name: str, size: int, **options) -> Model:
    import timm

    torch.manual_seed(0)
    model = timm.create_model(name, pretrained=False, **options).eval()
    for parameter in model.parameters():
        if parameter.ndim >= 2 and not parameter.any():  # a head that starts at zero would make every output zero
            nn.init.normal_(parameter, std=0.02)
    return model, (image_of(2, size),)


def resnet18() -> Model:
    return timm_model("resnet18", 224)


def vit_tiny() -> Model:
    return timm_model("vit_tiny_patch16_224", 224)


def convnext_atto() -> Model:
    return timm_model("convnext_atto", 224)


def mobilenetv3_small() -> Model:
    return timm_model("mobilenetv3_small_100", 224)


def swin_tiny() -> Model:
    return timm_model("swin_tiny_patch4_window7_224", 224)


def mixer_s32() -> Model:
    return timm_model("mixer_s32_224", 224)


MODELS: dict[str, Callable[[], Model]] = {
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "resnet18": resnet18,
    "vit_tiny": vit_tiny,
    "convnext_atto": convnext_atto,
    "mobilenetv3_small": mobilenetv3_small,
    "swin_tiny": swin_tiny,
    "mixer_s32": mixer_s32,
}
