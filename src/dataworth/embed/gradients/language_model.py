"""Any causal language model of `transformers`, and which of its layers gradients are taken of."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dataworth.embed.pretrained import fetched, fingerprint, quietly
from dataworth.errors import DataworthError
from dataworth.extras import check_installed, needed, versions

PACKAGES = ("torch", "transformers")
LAST = "last-quarter"
ALL = "all"


class LanguageModel:
    """A causal language model with its tokenizer, in float32 and frozen."""

    def __init__(self, name: str, device: str = "cpu") -> None:
        self.name = name
        what = f"model {name!r}"
        check_installed(PACKAGES, what, extra="llm")
        self.torch = needed("torch", what, extra="llm")
        code = needed("transformers", what, extra="llm")
        place, options = _place(name)
        if options:
            check_installed(("gguf", "accelerate"), f"{what}, a GGUF file,", extra="llm")
        with quietly(code):
            self.tokenizer = _tokenizer(code, place, options)
            options["dtype"] = self.torch.float32
            model = fetched(code.AutoModelForCausalLM, place, "causal language model", **options)
        self.model = model.eval().requires_grad_(False).to(_device(self.torch, device))
        version = getattr(self.model.config, "_commit_hash", None) or fingerprint(Path(name))
        self.identity = f"{version or name} ({versions(*PACKAGES)})"

    def layers(self, modules: str | Sequence[str] = LAST) -> dict[str, Any]:
        """Linear layers by name: those of the last quarter of the blocks, all, or those that patterns name.

        A pattern is one of the shell: `*.down_proj`, `model.layers.2?.*`.
        """
        linear = {
            name: module
            for name, module in self.model.named_modules()
            if isinstance(module, self.torch.nn.Linear)
        }
        patterns = [modules] if isinstance(modules, str) else list(modules)
        if patterns == [LAST]:
            patterns = self._last_blocks()
        elif patterns == [ALL]:
            patterns = ["*"]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in linear):
                some = ", ".join(list(linear)[:3])
                raise DataworthError(
                    f"modules (--modules) {pattern!r} is no linear layer of {self.name}, which has {some}, …:"
                    f" give such a name, a pattern, {ALL} or {LAST}."
                )
        return {
            name: module
            for name, module in linear.items()
            if any(fnmatchcase(name, pattern) for pattern in patterns)
        }

    def _last_blocks(self) -> list[str]:
        lists = {
            name: module
            for name, module in self.model.named_modules()
            if isinstance(module, self.torch.nn.ModuleList)
        }
        name = max(lists, key=lambda name: len(lists[name]))
        blocks = len(lists[name])
        return [f"{name}.{i}.*" for i in range(blocks - max(1, blocks // 4), blocks)]


def _place(name: str) -> tuple[str, dict[str, Any]]:
    """A directory or a name on the hub; a GGUF file is named inside its directory."""
    path = Path(name)
    return (str(path.parent), {"gguf_file": path.name}) if path.suffix == ".gguf" else (name, {})


def _tokenizer(code: Any, place: str, options: dict[str, Any]) -> Any:
    if Path(place).is_dir() and not options:
        known = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
        if not any((Path(place) / file).exists() for file in known):
            raise DataworthError(
                f"the directory {place!r} has no tokenizer ({', '.join(known)}): save the model's tokenizer"
                " there too."
            )
    return fetched(code.AutoTokenizer, place, "tokenizer", **options)


def _device(torch: Any, device: str) -> Any:
    try:
        torch.empty(0, device=device)
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        raise DataworthError(
            f"device (--device) is {device!r}, which torch cannot use here: give cpu, or cuda on a machine"
            " that has it."
        ) from error
