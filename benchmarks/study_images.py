"""Make the image files of the studies from the originals, and say whether they are the ones that were used.

    python benchmarks/study_images.py --mnist DIR --cifar cifar-10-binary.tar.gz --photos DIR --out DATA

--mnist: the four files of MNIST (train-images-idx3-ubyte.gz …). --cifar: CIFAR-10, the binary version.
--photos: cat.1.jpg … dog.5000.jpg of Kaggle's dogs-vs-cats, in any folders. Any of them may be left out.
Nothing is downloaded: docs/curation-study.md says where they are.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

KNOWN = {
    "mnist01.npz": {
        "x_train": "277dd37159a4fcb5ac41d496fd32717bf722b3a08ff4907dfa0c83a92fad6c56",
        "y_train": "1ec307cdcb2d3d82fa13a6e9298451afb925f7dab4491c066447be84bbce1296",
        "x_test": "620423c6851800ec7b44c21a3ef692fe10c34936d4b8622e447990543687d074",
        "y_test": "bbea707bf0dd8e0f3c2877969fc07cabd9e5bc7d27e1492acf37c48afe694c0f",
    },
    "cifar_airplane_automobile.npz": {
        "x_train": "9ac752eea46118ad53502f9fc3b408e9ab0e2d9bd9a05ef600e2da3b8d0813a3",
        "y_train": "f45c20446a5506aa133f5bb7399bce8931aa3226b812bd6ec0c816cefef34578",
        "x_test": "50c531f9a72e3d2200397b97f26117334ae94daaa9e3793fe5fe480da76e595c",
        "y_test": "160aa0d54d4cb897e9f644af9df1693ba4e088457ea2bc8099df8eb76383903f",
    },
}
"""SHA-256 of the bytes of each array; the npz around them is packed otherwise by every version of numpy."""
PHOTOS = {"train": range(1, 1001), "test": range(4001, 5001)}
SIDE = 128


def mnist(folder: Path) -> dict[str, np.ndarray]:
    """Digits 0 and 1, in the order of the originals."""
    found = {}
    for part, name in (("train", "train"), ("test", "t10k")):
        labels = np.frombuffer(
            gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes())[8:], np.uint8
        )
        pixels = gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes())[16:]
        images = np.frombuffer(pixels, np.uint8).reshape(-1, 28, 28)
        found |= {f"x_{part}": images[labels < 2], f"y_{part}": labels[labels < 2]}
    return found


def cifar(path: Path) -> dict[str, np.ndarray]:
    """Airplanes (0) and automobiles (1), in the order of the originals; a record: label, red, green, blue."""
    batches: dict[str, list[np.ndarray]] = {"train": [], "test": []}
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda one: one.name):
            file = archive.extractfile(member) if member.name.endswith(".bin") else None
            if file is not None:
                part = "test" if "test_batch" in member.name else "train"
                batches[part].append(np.frombuffer(file.read(), np.uint8).reshape(-1, 3073))
    found = {}
    for part, rows in batches.items():
        records = np.concatenate(rows)
        chosen = records[records[:, 0] < 2]
        images = chosen[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        found |= {f"x_{part}": np.ascontiguousarray(images), f"y_{part}": chosen[:, 0]}
    return found


def photographs(folder: Path, out: Path) -> int:
    """Cats and dogs by number, cut to the square in their middle, 128 pixels a side; how many."""
    from PIL import Image

    paths = {path.name: path for path in folder.rglob("*.jpg")}
    count = 0
    with zipfile.ZipFile(out, "w") as archive:
        for part, numbers in PHOTOS.items():
            for name in (f"{animal}.{i}.jpg" for animal in ("cat", "dog") for i in numbers):
                if name in paths:
                    image = Image.open(paths[name]).convert("RGB")
                    side, (w, h) = min(image.size), image.size
                    corner = ((w - side) // 2, (h - side) // 2)
                    square = image.crop((*corner, corner[0] + side, corner[1] + side)).resize((SIDE, SIDE))
                    packed = io.BytesIO()
                    square.save(packed, "JPEG", quality=90)
                    archive.writestr(f"{part}/{name[:3]}/{name}", packed.getvalue())
                    count += 1
    return count


def differing(name: str, arrays: dict[str, np.ndarray]) -> list[str]:
    """Arrays that are not those of the studies."""
    return [
        key
        for key, known in KNOWN[name].items()
        if hashlib.sha256(arrays[key].tobytes()).hexdigest() != known
    ]


def _quick() -> None:
    """Ten made images of each MNIST file, to see that they are read and that they are not the originals."""
    with tempfile.TemporaryDirectory() as name:
        for part in ("train", "t10k"):
            labels, pixels = np.arange(10, dtype=np.uint8), np.zeros((10, 28, 28), dtype=np.uint8)
            for kind, head, body in (("labels-idx1", 8, labels), ("images-idx3", 16, pixels)):
                path = Path(name) / f"{part}-{kind}-ubyte.gz"
                path.write_bytes(gzip.compress(bytes(head) + body.tobytes()))
        print(
            "mnist01.npz: not those of the studies:", ", ".join(differing("mnist01.npz", mnist(Path(name))))
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("mnist", "cifar", "photos"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        _quick()
        return
    if args.out is None:
        parser.error("--out is needed")
    args.out.mkdir(parents=True, exist_ok=True)
    for given, name, read in (
        (args.mnist, "mnist01.npz", mnist),
        (args.cifar, "cifar_airplane_automobile.npz", cifar),
    ):
        if given is not None:
            arrays = read(given)
            np.savez_compressed(args.out / name, **arrays)
            others = differing(name, arrays)
            print(
                f"{name}: "
                + (f"not those of the studies: {', '.join(others)}" if others else "those of the studies")
            )
    if args.photos is not None:
        count = photographs(args.photos, args.out / "cats_dogs_128.zip")
        print(f"cats_dogs_128.zip: {count} photographs; the studies' 3995 were cut by another program")


if __name__ == "__main__":
    main()
