"""A frozen torch network with a Bayesian last layer: y ~ head(φ(x)), φ the network's body.

    log Z(S) = log ∫ p(y_S | φ(X_S), θ) p(θ) dθ

φ does not learn, so the evidence is the head's own on the body's features. The body must not have been
trained on the data that are valued. torch is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..extras import needed
from ..parallel.threads import one_torch_thread
from .base import Fitter, Model, Posterior, bind, require_model
from .gaussian import distinct_rows
from .logistic import Logistic
from .softmax import Softmax


@dataclass(frozen=True, repr=False)
class Neural:
    """A torch module, or a function of tensors, as features for one of our models.

    The body's weights stay as they are and it runs in evaluation mode (no dropout, frozen batch norms); a
    module that was in training mode is so again afterwards.

    Args:
        body: takes a batch of rows, of `shape` if that is given, and gives a vector a row.
        head: the Bayesian last layer; by default Logistic() for two classes and Softmax() for more.
        shape: of one row as the body takes it, such as (1, 8, 8) for images.
        batch: rows that go through the body at once.

    Raises:
        DataworthError: body cannot be called, head is no model, or torch is not installed (when it is used).

    Examples:
        >>> from torch import nn
        >>> body = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Dropout())
        >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([0.0, 1.0, 1.0])
        >>> model = Neural(body, Logistic(2.0))
        >>> model.fit(X, y).log_evidence == Logistic(2.0).fit(model.features(X), y).log_evidence
        True
    """

    body: Callable[[Any], Any]
    head: Model | None = None
    shape: tuple[int, ...] | None = None
    batch: int = 64

    def __post_init__(self) -> None:
        if not callable(self.body):
            raise DataworthError(
                f"body is a {type(self.body).__name__}; give a torch module, or a function of tensors."
            )
        if self.head is not None:
            require_model(self.head)

    @classmethod
    def last_layer(
        cls, module: Any, layer: str | None = None, head: Model | None = None, **options: Any
    ) -> Neural:
        """A trained network whose last linear layer is replaced by a Bayesian one.

        The body is all that comes before `layer`, by default the module's last nn.Linear.

        >>> from torch import nn
        >>> net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3))
        >>> Neural.last_layer(net, head=Logistic()).features(np.zeros((4, 2))).shape
        (4, 5)
        """
        return cls(InputOf(module, last_linear(module) if layer is None else layer), head, **options)

    @property
    def takes(self) -> str:
        """The labels that the head takes."""
        return "classes" if self.head is None else str(getattr(self.head, "takes", "two classes"))

    def features(self, X: Array) -> Array:
        """φ(X): each distinct row goes through the body once, in batches of one size and on one thread.

        So a row's features do not depend, to the last bit, on the rows around it.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2:
            raise DataworthError(f"X has shape {rows.shape}; give rows × features, and shape= for images.")
        rows, ids = distinct_rows(rows)
        torch = needed("torch", "Neural", "neural")
        with evaluating(torch, self.body):
            parts = [self._pass(torch, rows[i : i + self.batch]) for i in range(0, len(rows), self.batch)]
            if not parts:  # how many features there would be is known from a row of zeros
                return self._pass(torch, np.zeros((1, rows.shape[1])))[:0]
        return np.concatenate(parts)[ids]

    def _pass(self, torch: Any, rows: Array) -> Array:
        filled = np.concatenate([rows, np.zeros((self.batch - len(rows), rows.shape[1]))])
        batch = as_tensor(torch, filled, self.shape, *home_of(torch, self.body))
        try:
            out = self.body(batch)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise DataworthError(
                f"the body does not take a batch of shape {tuple(batch.shape)} "
                f"({' '.join(str(error).split())[:100]}): give rows, and a shape=, that it takes."
            ) from error
        if len(out) != self.batch:
            raise DataworthError(
                f"the body made {len(out)} vectors of {self.batch} rows; it must make one a row."
            )
        features: Array = (
            out.reshape(self.batch, -1).to(device="cpu", dtype=torch.float64).numpy()[: len(rows)]
        )
        if not np.isfinite(features).all():
            raise DataworthError("the body's features are not all finite: check its weights and its input.")
        return features

    def fit(self, X: Array, y: Array, weights: Array | None = None) -> NeuralPosterior:
        """The head's posterior on the body's features."""
        return NeuralPosterior(self, self._head_for(y).fit(self.features(X), y, weights))

    def bind(self, X: Array, y: Array) -> Fitter:
        """The head's own fitter on the pool's features, computed here, once."""
        return bind(self._head_for(y), self.features(X), y)

    def _head_for(self, y: Array) -> Model:
        if self.head is not None:
            return self.head
        return Logistic() if np.max(y, initial=0.0) <= 1.0 else Softmax()

    def __repr__(self) -> str:
        head = "Logistic() or Softmax()" if self.head is None else repr(self.head)
        return f"Neural({described(self.body)}, {head})"


class NeuralPosterior:
    """The last layer's posterior (`head`), with predictions from rows as the body takes them."""

    def __init__(self, model: Neural, head: Posterior) -> None:
        self.model = model
        self.head = head
        self.log_evidence = head.log_evidence

    def log_density(self, theta: Array) -> float:
        """Log p(θ | data) of the last layer's θ."""
        return self.head.log_density(theta)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of the last layer's θ."""
        return self.head.sample(rng, m)

    def predict_proba(self, X: Array) -> Array:
        """The head's predictions."""
        return self.head.predict_proba(self.model.features(X))


class InputOf:
    """What a layer of a module is given: the module without that layer and what follows it."""

    def __init__(self, module: Any, layer: str) -> None:
        if layer not in dict(module.named_modules()):
            raise DataworthError(f"the module has no layer {layer!r}; see its named_modules().")
        self.module = module
        self.layer = layer

    def __call__(self, batch: Any) -> Any:
        """The layer's input."""
        seen: list[Any] = []
        hook = self.module.get_submodule(self.layer).register_forward_pre_hook(
            lambda _, inputs: seen.append(inputs[0])
        )
        try:
            self.module(batch)
        finally:
            hook.remove()
        if not seen:
            raise DataworthError(
                f"the module does not call its layer {self.layer!r}; name the one it ends with."
            )
        return seen[-1]


def last_linear(module: Any) -> str:
    """The name of a module's last nn.Linear, in the order in which layers were added."""
    torch = needed("torch", "Neural", "neural")
    linear = [name for name, part in module.named_modules() if isinstance(part, torch.nn.Linear)]
    if not linear:
        raise DataworthError("the module has no linear layer; name its last layer.")
    return linear[-1]


def module_of(body: Any) -> Any | None:
    """The torch module in a body, if there is one."""
    inside = getattr(body, "module", None) if isinstance(body, InputOf) else body
    return inside if hasattr(inside, "parameters") else None


def described(body: Any) -> str:
    """A body in a few words: its kind and size."""
    module = module_of(body)
    if module is None:
        return str(getattr(body, "__name__", type(body).__name__))
    return f"{type(module).__name__} of {sum(p.numel() for p in module.parameters()):,} weights"


def home_of(torch: Any, body: Any) -> tuple[Any, Any]:
    """The type and the device of a body's weights, which its input shares."""
    module = module_of(body)
    for weight in () if module is None else module.parameters():
        if weight.is_floating_point():
            return weight.dtype, weight.device
    return torch.float32, torch.device("cpu")


def as_tensor(torch: Any, rows: Array, shape: tuple[int, ...] | None, dtype: Any, device: Any) -> Any:
    """Rows as a batch of tensors of `shape`."""
    if shape is not None and int(np.prod(shape)) != rows.shape[1]:
        raise DataworthError(f"X has {rows.shape[1]} columns, which do not make shape {shape}.")
    # a copy: torch warns of arrays that it may not write to
    return torch.tensor(rows, dtype=dtype, device=device).reshape(len(rows), *(shape or rows.shape[1:]))


@contextmanager
def evaluating(torch: Any, body: Any) -> Iterator[None]:
    """Inference in evaluation mode on one thread; afterwards every part is in the mode it was in."""
    module = module_of(body)
    modes = [] if module is None else [(part, part.training) for part in module.modules()]
    for part, _ in modes:
        part.training = False
    try:
        with one_torch_thread(torch):
            yield
    finally:
        for part, mode in modes:
            part.training = mode
