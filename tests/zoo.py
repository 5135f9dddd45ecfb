"""More models than the nine, chosen for variety: name -> () -> (module in eval mode, inputs), as in models.py.

The architectures are those of timm, transformers and torchvision, or of modules as people write them
(zoo_modules.py); weights are random, nothing is downloaded, and sizes are small. A module returns a tensor or a tuple
of tensors.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from models import MODELS, VOCABULARY, Model, image_of, noise, numbers, timm_model, tokens_of
from torch import nn

import zoo_modules

torch._dynamo.config.allow_rnn = True  # by default torch.compile leaves a whole LSTM to eager

# ---- timm: name -> (timm's name, image size, options)

TIMM: dict[str, tuple[str, int, dict[str, Any]]] = {
    "efficientnet": ("efficientnet_b0", 96, {}),
    "deit": ("deit_tiny_distilled_patch16_224", 96, {"img_size": 96, "depth": 3}),
    "regnet": ("regnety_002", 96, {}),
    "densenet": ("densenet121", 64, {}),
    "mobilevit": ("mobilevit_xxs", 96, {}),
    "efficientformer": ("efficientformer_l1", 224, {"depths": (1, 1, 1, 2)}),
    "poolformer": ("poolformer_s12", 64, {}),
    "maxvit": ("maxvit_rmlp_pico_rw_256", 128, {"img_size": 128}),
    "convnextv2": ("convnextv2_atto", 96, {}),
    "inception": ("inception_v3", 107, {}),
    "seresnet": ("legacy_seresnet18", 96, {}),
    "ghostnet": ("ghostnet_050", 96, {}),
    "xcit": ("xcit_nano_12_p16_224", 96, {"img_size": 96, "depth": 3}),
    "levit": ("levit_128s", 224, {}),
    "res2net": ("res2net50_14w_8s", 64, {"layers": (1, 1, 1, 1)}),
    "hrnet": ("hrnet_w18_small", 64, {}),
    "repvgg": ("repvgg_a0", 64, {}),
    "fastvit": ("fastvit_t8", 96, {}),
    "edgenext": ("edgenext_xx_small", 96, {}),
    "pvt": ("pvt_v2_b0", 96, {}),
    "volo": ("volo_d1_224", 64, {"img_size": 64}),
    "beit": ("beit_base_patch16_224", 96, {"img_size": 96, "depth": 2, "embed_dim": 192, "num_heads": 3}),
    "nfnet": ("eca_nfnet_l0", 64, {}),
    "resnest": ("resnest14d", 96, {}),
    "lambda_resnet": ("lambda_resnet26t", 96, {}),
    "efficientvit": ("efficientvit_b0", 96, {}),
}

# ---- transformers: name -> (class, configuration, names of inputs, inputs)

_LAYERS = {"num_hidden_layers": 2}
_WIDTHS = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": VOCABULARY, **_LAYERS}
_DECODER = {**_WIDTHS, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 128, "pad_token_id": 0}
_EXPERTS = {"moe_intermediate_size": 32, "num_experts": 4, "num_experts_per_tok": 2}
_SEQ2SEQ = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
            "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": VOCABULARY}
_T5 = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "vocab_size": VOCABULARY,
       "decoder_start_token_id": 0, "pad_token_id": 0}

TEXT: dict[str, tuple[str, dict[str, Any]]] = {
    "distilbert": ("DistilBert", {"dim": 64, "n_heads": 4, "hidden_dim": 128, "n_layers": 2, "vocab_size": VOCABULARY}),
    "albert": ("Albert", {**_WIDTHS, "embedding_size": 32}),
    "deberta": ("DebertaV2", {**_WIDTHS, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                              "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    "electra": ("Electra", {**_WIDTHS, "embedding_size": 32}),
    "fnet": ("FNet", _WIDTHS),
    "xlnet": ("XLNet", {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128, "vocab_size": VOCABULARY}),
    "convbert": ("ConvBert", {**_WIDTHS, "embedding_size": 64}),
    "opt": ("OPT", {**_WIDTHS, "ffn_dim": 128, "word_embed_proj_dim": 64, "max_position_embeddings": 128}),
    "bloom": ("Bloom", {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": VOCABULARY}),
    "falcon": ("Falcon", {**_WIDTHS, "alibi": False, "new_decoder_architecture": True, "num_kv_heads": 2}),
    "phi": ("Phi", {**_DECODER, "partial_rotary_factor": 0.5}),
    "gpt_neox": ("GPTNeoX", {**_WIDTHS, "max_position_embeddings": 128}),
    "qwen2": ("Qwen2", _DECODER),
    "qwen3": ("Qwen3", _DECODER),
    "gemma2": ("Gemma2", {**_DECODER, "sliding_window": 16}),
    "mixtral": ("Mixtral", {**_DECODER, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "qwen2_moe": ("Qwen2Moe", {**_DECODER, **_EXPERTS, "shared_expert_intermediate_size": 64}),
    "deepseek_v3": ("DeepseekV3", {
        **_DECODER, "moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2,
        "topk_group": 1, "first_k_dense_replace": 1, "kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "num_key_value_heads": 4, "head_dim": 8}),
    "mamba": ("Mamba", {"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2, "vocab_size": VOCABULARY}),
    "rwkv": ("Rwkv", {"hidden_size": 32, "attention_hidden_size": 32, "num_hidden_layers": 2, "context_length": 32,
                      "vocab_size": VOCABULARY}),
}  # fmt: skip


class Named(nn.Module):
    """A model of transformers as a function of tensors alone; `pick` chooses the results that count."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], pick: Callable[[Any], Any], **fixed):
        super().__init__()
        self.model, self.names, self.pick, self.fixed = model, names, pick, fixed

    def forward(self, *inputs: torch.Tensor):
        return self.pick(self.model(**dict(zip(self.names, inputs, strict=True)), **self.fixed))


def seeded(make: Callable[[], Model]) -> Callable[[], Model]:
    def made() -> Model:
        torch.manual_seed(0)
        module, inputs = make()
        return module.eval(), inputs

    return made


def text_model(kind: str, config: dict[str, Any]) -> Model:
    import transformers

    made = getattr(transformers, kind + "Config")(**config)
    length = 16 if kind in ("Mamba", "Rwkv") else 48  # their scans are a step for each token
    model = getattr(transformers, kind + "Model")(made)
    fixed = {"use_cache": False} if hasattr(made, "use_cache") else {}
    return Named(model, ("input_ids",), lambda out: out[0], **fixed), (tokens_of(2, length),)


def t5() -> Model:
    from transformers import T5Config, T5ForConditionalGeneration

    model = T5ForConditionalGeneration(T5Config(**_T5))
    names = ("input_ids", "decoder_input_ids")
    return Named(model, names, lambda out: out.logits, use_cache=False), (tokens_of(2, 40), tokens_of(2, 24))


def bart() -> Model:
    from transformers import BartConfig, BartForConditionalGeneration

    model = BartForConditionalGeneration(BartConfig(**_SEQ2SEQ, max_position_embeddings=128))
    names = ("input_ids", "decoder_input_ids")
    return Named(model, names, lambda out: out.logits, use_cache=False), (tokens_of(2, 40), tokens_of(2, 24))


def whisper_encoder() -> Model:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    model = WhisperEncoder(WhisperConfig(**_SEQ2SEQ, num_mel_bins=40, max_source_positions=64, pad_token_id=0))
    return Named(model, ("input_features",), lambda out: out[0]), (noise(2, 40, 128),)


def wav2vec2() -> Model:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    layers = {"conv_dim": (32,) * 3, "conv_kernel": (10, 3, 3), "conv_stride": (5, 2, 2)}
    config = Wav2Vec2Config(**{**_WIDTHS, **layers}, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
                            apply_spec_augment=False, layerdrop=0.0)
    return Named(Wav2Vec2Model(config), ("input_values",), lambda out: out[0]), (noise(2, 1600),)


def clip() -> Model:
    from transformers import CLIPConfig, CLIPModel

    vision = {**_WIDTHS, "image_size": 64, "patch_size": 16}
    text = {**_WIDTHS, "max_position_embeddings": 32, "eos_token_id": 2}
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=32))
    pick = lambda out: (out.logits_per_image, out.text_embeds, out.image_embeds)  # noqa: E731
    return Named(model, ("input_ids", "pixel_values"), pick), (tokens_of(2, 16), image_of(2, 64))


def segformer() -> Model:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 48, 64], decoder_hidden_size=32, num_labels=5)
    return Named(SegformerForSemanticSegmentation(config), ("pixel_values",), lambda out: out.logits), (image_of(2, 96),)


def detection_transformer(kind: str) -> Model:
    """DETR's queries over a convolutional backbone; the deformable kind samples by grid_sample at several levels."""
    import transformers

    backbone = transformers.ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1],
                                         out_features=["stage2", "stage3", "stage4"])
    sizes = {k: v for k, v in _SEQ2SEQ.items() if k != "vocab_size"}
    config = getattr(transformers, kind + "Config")(
        **sizes, num_queries=10, num_labels=6, use_timm_backbone=False, use_pretrained_backbone=False,
        backbone=None, backbone_config=backbone)
    model = getattr(transformers, kind + "ForObjectDetection")(config)
    return Named(model, ("pixel_values",), lambda out: (out.logits, out.pred_boxes)), (image_of(2, 96),)


def patchtst() -> Model:
    from transformers import PatchTSTConfig, PatchTSTForPrediction

    config = PatchTSTConfig(num_input_channels=3, context_length=64, prediction_length=16, patch_length=8, d_model=32,
                            num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, loss="mse")
    return Named(PatchTSTForPrediction(config), ("past_values",), lambda out: out.prediction_outputs), (noise(2, 64, 3),)


# ---- torchvision


class Detector(nn.Module):
    """What a detector of torchvision computes before boxes are chosen: scores and box codes of all anchors."""

    def __init__(self, detector: nn.Module):
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.head

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.head(list(self.backbone(images).values())).values())


class Detections(nn.Module):
    """A whole detector, non-maximum suppression included."""

    def __init__(self, detector: nn.Module):
        super().__init__()
        self.detector = detector

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not self.training:
            found = self.detector(list(images))
            return tuple(t for one in found for t in (one["boxes"], one["scores"]))
        boxes = torch.tensor([[4.0, 6.0, 30.0, 40.0], [10.0, 8.0, 50.0, 60.0]])
        targets = [{"boxes": boxes, "labels": torch.tensor([1, 3])} for _ in images]
        return tuple(self.detector(list(images), targets).values())


def ssdlite() -> Model:
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large as make

    detector = make(weights=None, weights_backbone=None, num_classes=5, score_thresh=0.1, detections_per_img=20)
    return Detections(detector), (image_of(2, 96),)


def retinanet() -> Model:
    from torchvision.models import resnet18
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor as pyramid

    backbone = pyramid(resnet18(weights=None), 5, returned_layers=[2, 3, 4])
    anchors = AnchorGenerator(((32,), (64,), (128,), (256,)), ((0.5, 1.0, 2.0),) * 4)
    return Detector(RetinaNet(backbone, 5, anchor_generator=anchors)), (image_of(1, 96),)


def vision_model(name: str, inputs: tuple[torch.Tensor, ...]) -> Model:
    import torchvision

    return torchvision.models.get_model(name, weights=None), inputs


def lraspp() -> Model:
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large as make

    return Named(make(weights=None, weights_backbone=None), ("input",), lambda out: out["out"]), (image_of(2, 96),)


# ---- all of them

_EDGES = (40, 160)  # nodes and edges of a graph

ZOO: dict[str, Callable[[], Model]] = {
    **{name: lambda row=row: timm_model(row[0], row[1], **row[2]) for name, row in TIMM.items()},
    **{name: seeded(lambda row=row: text_model(*row)) for name, row in TEXT.items()},
    "t5": seeded(t5),
    "bart": seeded(bart),
    "whisper_encoder": seeded(whisper_encoder),
    "wav2vec2": seeded(wav2vec2),
    "clip": seeded(clip),
    "segformer": seeded(segformer),
    "detr": seeded(lambda: detection_transformer("Detr")),
    "deformable_detr": seeded(lambda: detection_transformer("DeformableDetr")),
    "patchtst": seeded(patchtst),
    "ssdlite": seeded(ssdlite),
    "retinanet": seeded(retinanet),
    "shufflenet": seeded(lambda: vision_model("shufflenet_v2_x0_5", (image_of(2, 96),))),
    "lraspp": seeded(lraspp),
    "r3d": seeded(lambda: vision_model("r3d_18", (noise(1, 3, 4, 32, 32),))),
    "lstm": seeded(lambda: (zoo_modules.Recurrent(nn.LSTM), (numbers(100, 4, 20),))),
    "gru": seeded(lambda: (zoo_modules.Recurrent(nn.GRU), (numbers(100, 4, 20),))),
    "attentive_lstm": seeded(lambda: (zoo_modules.CellByCell(), (noise(4, 12, 32),))),
    "tcn": seeded(lambda: (zoo_modules.TemporalConvolutions(), (noise(2, 32, 100),))),
    "unet": seeded(lambda: (zoo_modules.UNet(), (image_of(2, 64),))),
    "diffusion_block": seeded(lambda: (zoo_modules.DiffusionBlock(),
                                       (noise(2, 4, 16, 16), numbers(1000, 2), noise(2, 7, 16)))),
    "pointnet": seeded(lambda: (zoo_modules.PointNet(), (noise(4, 3, 256),))),
    "dlrm": seeded(lambda: (zoo_modules.ClickModel(), (noise(16, 13), numbers(200, 16, 4, 5)))),
    "message_passing": seeded(lambda: (zoo_modules.MessagePassing(),
                                       (noise(_EDGES[0], 32), numbers(_EDGES[0], 2, _EDGES[1])))),
    "volume_vae": seeded(lambda: (zoo_modules.Variational(), (noise(2, 1, 16, 16, 16),))),
    "selective_scan": seeded(lambda: (zoo_modules.SelectiveScan(), (noise(2, 24, 16),))),
    "translation": seeded(lambda: (zoo_modules.TranslationModel(), (numbers(100, 2, 18), numbers(100, 2, 14)))),
}

ALL_MODELS = {**MODELS, **ZOO}
