"""More models, for variety: name -> () -> (module in eval mode, inputs), as in models.py, whose nine are in ALL.

A module gives one tensor; of models with several results, all of them one after the other. Weights are random, sizes are
small (a forward takes tens of milliseconds), the architectures are those of timm, transformers and torchvision, or what
people write with torch.nn.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

from models import MODELS, Model, timm_model

_VOCABULARY = 512


class _Flat(nn.Module):
    """All results that are real numbers, one after the other."""

    def __init__(self, model: nn.Module, **options: Any):
        super().__init__()
        self.model = model
        self.options = options

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        results = _tensors(self.model(*inputs, **self.options))
        return results[0] if len(results) == 1 else torch.cat([t.flatten() for t in results])


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, _VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(1))


def _normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


# ---- timm: name -> the size of the images

_TIMM = {
    "efficientnet_b0": 96,
    "deit_tiny_patch16_224": 224,
    "regnety_002": 96,
    "densenet121": 64,
    "mobilevit_xxs": 128,
    "efficientformer_l1": 224,
    "poolformer_s12": 96,
    "maxvit_pico_rw_256": 256,
    "convnextv2_atto": 96,
    "inception_v3": 96,
    "legacy_seresnet18": 96,
    "ghostnet_050": 96,
    "hrnet_w18_small": 96,
    "levit_128s": 224,
    "xcit_nano_12_p16_224": 224,
    "repvgg_a0": 96,
    "dla34": 96,
    "res2net50_14w_8s": 96,
}


# ---- transformers: name -> (configuration, model, options of the configuration)

_SMALL = {"vocab_size": _VOCABULARY, "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_DECODER = {**_SMALL, "num_key_value_heads": 2, "max_position_embeddings": 256}

_LANGUAGE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "distilbert": ("DistilBertConfig", "DistilBertModel",
                   {"vocab_size": _VOCABULARY, "dim": 128, "n_layers": 2, "n_heads": 4, "hidden_dim": 256}),
    "albert": ("AlbertConfig", "AlbertModel", {**_SMALL, "embedding_size": 64}),
    "deberta_v2": ("DebertaV2Config", "DebertaV2Model",
                   {**_SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 32}),
    "electra": ("ElectraConfig", "ElectraModel", {**_SMALL, "embedding_size": 64}),
    "opt": ("OPTConfig", "OPTModel", {"vocab_size": _VOCABULARY, "hidden_size": 128, "num_hidden_layers": 2,
                                      "num_attention_heads": 4, "ffn_dim": 256, "word_embed_proj_dim": 128}),
    "bloom": ("BloomConfig", "BloomModel", {"vocab_size": _VOCABULARY, "hidden_size": 128, "n_layer": 2, "n_head": 4}),
    "falcon": ("FalconConfig", "FalconModel", {"vocab_size": _VOCABULARY, "hidden_size": 128, "num_hidden_layers": 2,
                                               "num_attention_heads": 4}),
    "phi": ("PhiConfig", "PhiModel", {**_DECODER, "num_key_value_heads": 4}),
    "qwen3": ("Qwen3Config", "Qwen3Model", {**_DECODER, "head_dim": 32}),
    "gemma2": ("Gemma2Config", "Gemma2Model", {**_DECODER, "head_dim": 32, "sliding_window": 32}),
    "mixtral": ("MixtralConfig", "MixtralModel", {**_DECODER, "num_local_experts": 4}),
    "qwen2_moe": ("Qwen2MoeConfig", "Qwen2MoeModel",
                  {**_DECODER, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
                   "shared_expert_intermediate_size": 128}),
    "mamba": ("MambaConfig", "MambaModel", {"vocab_size": _VOCABULARY, "hidden_size": 64, "num_hidden_layers": 2,
                                            "state_size": 8}),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXModel", _SMALL),
}


def _language(configuration: str, model: str, options: dict[str, Any]) -> Model:
    import transformers

    torch.manual_seed(0)
    made = getattr(transformers, model)(getattr(transformers, configuration)(**options))
    extra = {"use_cache": False} if hasattr(made.config, "use_cache") else {}
    return _First(made, **extra).eval(), (_tokens(2, 64),)


class _First(nn.Module):
    """The first result of a transformers model."""

    def __init__(self, model: nn.Module, **options: Any):
        super().__init__()
        self.model = model
        self.options = options

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.model(*inputs, return_dict=False, **self.options)[0]


class _Translator(nn.Module):
    """Encoder and decoder."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=source, decoder_input_ids=target, use_cache=False, return_dict=False)[0]


def t5() -> Model:
    from transformers import T5Config, T5Model

    torch.manual_seed(0)
    config = T5Config(vocab_size=_VOCABULARY, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4)
    return _Translator(T5Model(config)).eval(), (_tokens(2, 48), _tokens(2, 32))


def bart() -> Model:
    from transformers import BartConfig, BartModel

    torch.manual_seed(0)
    config = BartConfig(vocab_size=_VOCABULARY, d_model=128, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, max_position_embeddings=128)
    return _Translator(BartModel(config)).eval(), (_tokens(2, 48), _tokens(2, 32))


def whisper_encoder() -> Model:
    from transformers import WhisperConfig, WhisperModel

    torch.manual_seed(0)
    config = WhisperConfig(vocab_size=_VOCABULARY, d_model=128, encoder_layers=2, decoder_layers=1,
                           encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=256,
                           decoder_ffn_dim=256, max_source_positions=100, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                           decoder_start_token_id=1)
    return _First(WhisperModel(config).encoder).eval(), (_normal(1, 80, 200),)


def wav2vec2() -> Model:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    torch.manual_seed(0)
    config = Wav2Vec2Config(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
                            conv_dim=(64,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
                            mask_time_prob=0.0, layerdrop=0.0)
    return _First(Wav2Vec2Model(config)).eval(), (_normal(1, 16000),)


def segformer() -> Model:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    torch.manual_seed(0)
    config = SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 64, 128], num_attention_heads=[1, 2, 4, 8],
                             decoder_hidden_size=64, num_labels=10)
    return _First(SegformerForSemanticSegmentation(config)).eval(), (_normal(1, 3, 128, 128),)


def clip() -> Model:
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

    torch.manual_seed(0)
    config = CLIPVisionConfig(hidden_size=128, intermediate_size=256, projection_dim=64, num_hidden_layers=2,
                              num_attention_heads=4, image_size=96, patch_size=16)
    return _First(CLIPVisionModelWithProjection(config)).eval(), (_normal(2, 3, 96, 96),)


# ---- torchvision


def retinanet_heads() -> Model:
    """A pyramid of features and the heads of a detector; what follows them depends on data."""
    from torchvision.models import resnet18
    from torchvision.models.detection.backbone_utils import BackboneWithFPN
    from torchvision.models.detection.retinanet import RetinaNetHead

    class Detector(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layers = {"layer2": "0", "layer3": "1", "layer4": "2"}
            self.backbone = BackboneWithFPN(resnet18(weights=None), layers, [128, 256, 512], 64)
            self.head = RetinaNetHead(64, 9, 20, norm_layer=functools.partial(nn.GroupNorm, 8))

        def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
            return self.head(list(self.backbone(images).values()))

    torch.manual_seed(0)
    return _Flat(Detector()).eval(), (_normal(1, 3, 128, 128),)


def lraspp() -> Model:
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large

    torch.manual_seed(0)
    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=10)
    return _Flat(model).eval(), (_normal(2, 3, 128, 128),)


def video_r3d() -> Model:
    from torchvision.models.video import r3d_18

    torch.manual_seed(0)
    return r3d_18(weights=None, num_classes=20).eval(), (_normal(1, 3, 4, 56, 56),)


def shufflenet() -> Model:
    from torchvision.models import shufflenet_v2_x0_5

    torch.manual_seed(0)
    return shufflenet_v2_x0_5(weights=None, num_classes=100).eval(), (_normal(2, 3, 96, 96),)


# ---- torch.nn


class _Tagger(nn.Module):
    def __init__(self, cell: type[nn.RNNBase]):
        super().__init__()
        torch._dynamo.config.allow_rnn = True  # else it leaves the whole module to eager
        self.embedding = nn.Embedding(_VOCABULARY, 64)
        self.layers = cell(64, 64, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(128, 20)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.tags(self.layers(self.embedding(tokens))[0]).log_softmax(-1)


def lstm_tagger() -> Model:
    torch.manual_seed(0)
    return _Tagger(nn.LSTM).eval(), (_tokens(4, 24),)


def gru_tagger() -> Model:
    torch.manual_seed(0)
    return _Tagger(nn.GRU).eval(), (_tokens(4, 24),)


class _Temporal(nn.Module):
    """Dilated causal convolutions over time."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(32, 64, 3, dilation=2**k) for k in range(4))
        self.first = nn.Conv1d(8, 32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for k, layer in enumerate(self.layers):
            x = x + F.glu(layer(F.pad(x, (2 * 2**k, 0))), 1)
        return x.mean(-1)


def tcn() -> Model:
    torch.manual_seed(0)
    return _Temporal().eval(), (_normal(4, 8, 200),)


class _UNet(nn.Module):
    """One step of diffusion: residual blocks with a time embedding, down and up again."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 64))
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.down = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.norms = nn.ModuleList([nn.GroupNorm(8, 32), nn.GroupNorm(8, 64), nn.GroupNorm(8, 96)])
        self.block = nn.Conv2d(64, 64, 3, padding=1)
        self.last = nn.Conv2d(96, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        frequencies = torch.exp(-torch.arange(16, device=x.device) * 0.5)
        angles = t[:, None].float() * frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, :, None, None]
        skip = F.silu(self.norms[0](self.first(x)))
        y = self.down(skip)
        y = y + self.block(F.silu(self.norms[1](y)) + time)
        y = F.interpolate(y, scale_factor=2.0, mode="nearest")
        return self.last(F.silu(self.norms[2](torch.cat([y, skip], 1))))


def diffusion_unet() -> Model:
    torch.manual_seed(0)
    return _UNet().eval(), (_normal(2, 3, 32, 32), torch.tensor([3, 70]))


class _PointNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        sizes = [3, 32, 64, 128]
        self.layers = nn.ModuleList(nn.Conv1d(a, b, 1) for a, b in zip(sizes, sizes[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm1d(b) for b in sizes[1:])
        self.classes = nn.Linear(128, 10)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        for layer, norm in zip(self.layers, self.norms):
            points = norm(layer(points)).relu()
        return self.classes(points.amax(-1))


def pointnet() -> Model:
    torch.manual_seed(0)
    return _PointNet().eval(), (_normal(4, 3, 500),)


class _Recommender(nn.Module):
    """Bags of categories beside numbers, and the products of all pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(_VOCABULARY, 16, mode=mode) for mode in ("sum", "mean", "sum"))
        self.bottom = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(16 + 6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, numbers: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        dense = self.bottom(numbers)
        features = torch.stack([dense] + [bag(categories[:, k]) for k, bag in enumerate(self.bags)], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        rows, columns = torch.tril_indices(4, 4, -1)
        return torch.sigmoid(self.top(torch.cat([dense, products[:, rows, columns]], 1)))


def recommender() -> Model:
    torch.manual_seed(0)
    return _Recommender().eval(), (_normal(64, 8), _tokens(64, 15).reshape(64, 3, 5))


class _Graph(nn.Module):
    """Messages along the edges of a graph, with attention over those that arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = nn.ModuleList(nn.Linear(32, 32) for _ in range(2))
        self.scores = nn.ModuleList(nn.Linear(64, 1) for _ in range(2))

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        for message, score in zip(self.messages, self.scores):
            sent = message(x)
            weight = F.leaky_relu(score(torch.cat([sent[source], sent[target]], 1)), 0.2).exp()
            total = torch.zeros(x.shape[0], 1).index_add(0, target, weight)
            x = x + torch.zeros_like(x).index_add(0, target, weight * sent[source] / (total[target] + 1e-9))
        return F.elu(x)


def graph_attention() -> Model:
    torch.manual_seed(0)
    edges = torch.randint(0, 200, (2, 1000), generator=torch.Generator().manual_seed(1))
    return _Graph().eval(), (_normal(200, 32), edges)


def transformer_encoder() -> Model:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), (_normal(4, 50, 64),)


ZOO: dict[str, Callable[[], Model]] = {
    **{name: functools.partial(timm_model, name, size, num_classes=100) for name, size in _TIMM.items()},
    **{name: functools.partial(_language, *entry) for name, entry in _LANGUAGE.items()},
    **{make.__name__: make for make in (
        t5, bart, whisper_encoder, wav2vec2, segformer, clip, retinanet_heads, lraspp, video_r3d, shufflenet, lstm_tagger,
        gru_tagger, tcn, diffusion_unet, pointnet, recommender, graph_attention, transformer_encoder)},
}
ALL: dict[str, Callable[[], Model]] = {**MODELS, **ZOO}
