"""Any vision model of `transformers`, by its name on the hub or by its directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.embed.images import Pixels
from dataworth.embed.network import Network, Vectors, one_thread
from dataworth.embed.pretrained import fetched, fingerprint, quietly
from dataworth.errors import DataworthError
from dataworth.extras import needed, short, versions

WHAT = "vision model"


def transformer(name: str, size: int | None) -> Network:
    """The model; with a size its processor neither resizes nor crops, for that has been done."""
    code = needed("transformers", f"model {name!r}")
    needed("torch", f"model {name!r}")
    with quietly(code):
        config = fetched(code.AutoConfig, name, WHAT)
        # Not the processors that use torchvision: it is not needed, and resizes otherwise.
        processor = fetched(code.AutoImageProcessor, name, WHAT, backend="pil")
    options = {} if size is None else {"do_resize": False, "do_center_crop": False}

    def prepare(pixels: Pixels) -> NDArray[Any]:
        inputs = processor(images=pixels, return_tensors="np", input_data_format="channels_last", **options)
        return np.asarray(inputs["pixel_values"][0], dtype=np.float32)

    version = getattr(config, "_commit_hash", None) or fingerprint(Path(name))
    identity = f"{name if version is None else version} ({versions('torch', 'transformers')})"
    return Network(identity, None, prepare, lambda: _vectors_of(code, name, size))


def _vectors_of(code: Any, name: str, size: int | None) -> Callable[[NDArray[Any]], Vectors]:
    with quietly(code):
        model, loaded = fetched(code.AutoModel, name, WHAT, output_loading_info=True)
    lacking = sorted(loaded["missing_keys"])
    unpooled = [key for key in lacking if "pooler" in key]
    if len(unpooled) < len(lacking):
        raise DataworthError(
            f"model {name!r} lacks {len(lacking)} of its weights, such as {lacking[0]}: give a complete one."
        )
    model = model.eval().float()

    def run(images: NDArray[Any]) -> Vectors:
        with one_thread() as torch:
            try:
                # A pooler without weights would be a random one: many classifiers come without.
                x = _pooled(model, torch.from_numpy(images), use_pooler=not unpooled)
            except (ValueError, RuntimeError, TypeError) as error:
                how = "leave size (--size) out" if size else "use a vision model"
                raise DataworthError(
                    f"model {name!r} does not take images of {images.shape[2]} × {images.shape[3]}"
                    f" ({short(error)}): {how}."
                ) from error
            return np.asarray(x.numpy(), dtype=np.float32)

    return run


def _pooled(model: Any, images: Any, use_pooler: bool) -> Any:
    if hasattr(model, "get_image_features"):  # of images and texts, such as CLIP
        output = model.get_image_features(pixel_values=images)
        return getattr(output, "pooler_output", output)
    output = model(pixel_values=images)
    pooled = getattr(output, "pooler_output", None)
    if pooled is not None and use_pooler:
        return pooled.flatten(1)
    hidden = output.last_hidden_state
    return hidden.mean((2, 3)) if hidden.ndim == 4 else hidden.mean(1)
