"""Laplace's method on a torch network, by laplace-torch: over its last layer or over all its weights θ.

    log Z ≈ log p(y | θ*) − ½ λ|θ*|² − ½ log det(I + G/λ),   θ ~ N(0, I/λ), θ* the mode, G the GGN at θ*

G (generalised Gauss–Newton) is the exact Hessian over a last layer, whose evidence with `full` structure is
then that of `Softmax` or `Linear` on the body's features; `kron` (KFAC) and `diag` leave parts of G out.

Over all weights the mode is one of many of the same height (units can be permuted, signs flipped), and U is
too high by the log of their number. A change of U between two sets D is free of it: `changes_only` says so,
and `dataworth.pmi_change` computes it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..extras import needed
from ..parallel.threads import one_torch_thread
from .base import Fitter, SliceFitter, check_pool, check_theta, positive_number
from .neural import as_tensor, described, home_of, last_linear

CHOICES = {
    "hessian_structure": ("full", "kron", "diag"),
    "subset_of_weights": ("last_layer", "all"),
    "likelihood": ("classification", "regression"),
}
ROUNDS, STEPS = 20, 500
SLACK = 1e-8
"""Nats: training ends where ½|gradient|²/λ is below, which bounds what a convex loss could still fall."""


@dataclass(frozen=True, repr=False)
class LaplaceTorch:
    """A torch network whose last layer, or all of which, is Bayesian under N(0, prior_variance · I).

    Every fit trains a copy of the module, which starts at its weights as they are, in double precision and
    evaluation mode; weights that require no gradient stay, and with "last_layer" all but `layer`.

    Args:
        module: ends with the logits of all classes or, for "regression", with one number.
        hessian_structure: full, kron or diag.
        subset_of_weights: last_layer or all.
        prior_variance: of every weight.
        likelihood: classification or regression.
        noise_variance: of numeric labels.
        layer: the name of the last layer; by default the last nn.Linear.
        train: your own f(module, X, y) for tensors, which must bring these weights to the minimum of
            −log p(y|X, θ) + ½|θ|²/prior_variance; by default L-BFGS on all rows.
        shape: of one row as the module takes it.
        batch: rows that are curved at once.

    Raises:
        DataworthError: a variance is not positive, or a choice is unknown; when fitted: the extra is not
            installed, the module's outputs do not suit the labels, or training does not settle.

    Examples:
        >>> LaplaceTorch(module=None, hessian_structure="dense")
        Traceback (most recent call last):
            ...
        dataworth.errors.DataworthError: hessian_structure is 'dense'; known: full, kron, diag.
    """

    module: Any
    hessian_structure: str = "full"
    subset_of_weights: str = "last_layer"
    prior_variance: float = 1.0
    likelihood: str = "classification"
    noise_variance: float = 1.0
    layer: str | None = None
    train: Callable[[Any, Any, Any], Any] | None = None
    shape: tuple[int, ...] | None = None
    batch: int = 256

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        positive_number(self.noise_variance, "noise_variance")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise DataworthError(f"{name} is {getattr(self, name)!r}; known: {', '.join(known)}.")

    @property
    def takes(self) -> str:
        """Classes, or numeric labels."""
        return "classes" if self.likelihood == "classification" else "numbers"

    @property
    def changes_only(self) -> bool:
        """Whether the evidence counts one of many symmetric modes: only changes of U then mean anything."""
        return self.subset_of_weights == "all"

    def fit(self, X: Array, y: Array, weights: Array | None = None) -> LaplacePosterior:
        """Train a copy, and curve it there; a row's weight is how often it is repeated, a whole number."""
        X, y = check_pool(*_repeated(X, y, weights), classes=False)
        torch = needed("torch", "LaplaceTorch", "laplace")
        module = deepcopy(self.module).double().eval()
        rows = as_tensor(torch, X, self.shape, *home_of(torch, module))
        with one_torch_thread(torch), _in_double(torch), _quietly():
            laplace = needed("laplace", "LaplaceTorch", "laplace")
            targets = self._targets(torch, module, rows, y)
            if self.subset_of_weights == "last_layer":
                # a body trained on the data would make their evidence no evidence
                module.requires_grad_(False).get_submodule(self._last()).requires_grad_(True)
            if len(y):
                (self.train or self._settle)(module, rows, targets)
            curved = self._curved(laplace, module, self.hessian_structure if len(y) else "diag")
            if len(y):
                data = torch.utils.data.TensorDataset(rows, targets)
                try:
                    curved.fit(torch.utils.data.DataLoader(data, batch_size=self.batch))
                except NotImplementedError as error:
                    raise DataworthError(
                        f"laplace-torch has no {self.hessian_structure!r} for this module ({error}): "
                        "give another hessian_structure, or freeze those layers."
                    ) from error
            else:  # the prior: its mode is at 0, and nothing curves it further
                curved.mean = torch.zeros(curved.n_params, dtype=rows.dtype, device=rows.device)
                part = curved.model.last_layer.parameters() if _is_last_layer(curved) else curved.params
                torch.nn.utils.vector_to_parameters(curved.mean, part)
        return LaplacePosterior(curved, self.shape, self.batch)

    def bind(self, X: Array, y: Array) -> Fitter:
        """Slice the pool and train: nothing to start from."""
        return SliceFitter(self, X, y)

    @staticmethod
    def from_fitted(fitted: Any, shape: tuple[int, ...] | None = None, batch: int = 256) -> LaplacePosterior:
        """An object of laplace-torch that was fitted elsewhere, as a posterior."""
        if not hasattr(fitted, "log_marginal_likelihood") or not getattr(fitted, "n_data", 0):
            raise DataworthError(
                f"fitted is a {type(fitted).__name__}; give an object of laplace-torch after its fit()."
            )
        return LaplacePosterior(fitted, shape, batch)

    def _targets(self, torch: Any, module: Any, rows: Any, y: Array) -> Any:
        with torch.no_grad():
            width = module(rows.new_zeros((1, *rows.shape[1:]))).shape[-1]
        if self.takes == "numbers":
            if width != 1:
                raise DataworthError(f"the module has {width} outputs; regression takes one.")
            return torch.tensor(y, dtype=rows.dtype, device=rows.device).reshape(-1, 1)
        if not np.isin(y, np.arange(width)).all():
            raise DataworthError(
                f"the module has {width} outputs and y other targets than 0 … {width - 1}; "
                "give it a logit for every class, two for two classes."
            )
        return torch.tensor(y, dtype=torch.long, device=rows.device)

    def _last(self) -> str:
        return last_linear(self.module) if self.layer is None else self.layer

    def _curved(self, laplace: Any, module: Any, structure: str) -> Any:
        options: dict[str, Any] = {}
        if self.subset_of_weights == "last_layer":
            options["last_layer_name"] = self._last()
        if self.takes == "numbers":
            options["sigma_noise"] = self.noise_variance**0.5
        return laplace.Laplace(
            module,
            self.likelihood,
            subset_of_weights=self.subset_of_weights,
            hessian_structure=structure,
            prior_precision=1.0 / self.prior_variance,
            **options,
        )

    def _settle(self, module: Any, rows: Any, targets: Any) -> None:
        """L-BFGS on all rows, until the evidence no longer depends on where it stopped."""
        torch = needed("torch", "LaplaceTorch", "laplace")
        learned = [weight for weight in module.parameters() if weight.requires_grad]
        descent = torch.optim.LBFGS(
            learned, max_iter=STEPS, history_size=50, tolerance_change=0.0, line_search_fn="strong_wolfe"
        )

        def loss() -> Any:
            descent.zero_grad()
            value = sum((weight**2).sum() for weight in learned) / (2.0 * self.prior_variance)
            if self.takes == "numbers":
                value = value + ((module(rows) - targets) ** 2).sum() / (2.0 * self.noise_variance)
            else:
                value = value + torch.nn.functional.cross_entropy(module(rows), targets, reduction="sum")
            value.backward()
            return value

        slack = np.inf
        for _ in range(ROUNDS):
            descent.step(loss)
            loss()
            slack = 0.5 * self.prior_variance * float(sum((w.grad**2).sum() for w in learned))
            if slack < SLACK:
                return
        raise DataworthError(
            f"training did not settle: the loss could still fall by {slack:.2g} nats; give a narrower prior, "
            "a smoother network, or a train= of your own."
        )

    def __repr__(self) -> str:
        return (
            f"LaplaceTorch({described(self.module)}, {self.hessian_structure!r}, {self.subset_of_weights!r}, "
            f"prior_variance={self.prior_variance})"
        )


class LaplacePosterior:
    """laplace-torch's Gaussian (`fitted`) over the weights that it was fitted to."""

    def __init__(self, fitted: Any, shape: tuple[int, ...] | None, batch: int) -> None:
        self.fitted = fitted
        self.shape = shape
        self.batch = batch
        self.log_evidence = float(fitted.log_marginal_likelihood()) + 0.0  # never −0.0
        self.changes_only = not _is_last_layer(fitted)  # whether it counts one of many symmetric modes

    def log_density(self, theta: Array) -> float:
        """Log of the Gaussian at one θ, in the order of torch's parameters_to_vector."""
        mean = self.fitted.mean
        return float(self.fitted.log_prob(mean.new_tensor(check_theta(theta, len(mean)))))

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of θ, one a row."""
        torch = needed("torch", "LaplaceTorch", "laplace")
        generator = torch.Generator(device=self.fitted.mean.device).manual_seed(int(rng.integers(2**62)))
        return np.asarray(self.fitted.sample(m, generator=generator).cpu(), dtype=float)

    def predict_proba(self, X: Array) -> Array:
        """Class probabilities by the probit approximation of the linearised network, or its means."""
        torch = needed("torch", "LaplaceTorch", "laplace")
        rows = as_tensor(torch, np.asarray(X, dtype=float), self.shape, *home_of(torch, self.fitted.model))
        with one_torch_thread(torch), _quietly():
            parts = [self.fitted(rows[i : i + self.batch]) for i in range(0, len(rows), self.batch)]
        if self.fitted.likelihood == "regression":
            return np.concatenate([np.asarray(mean.cpu(), dtype=float).ravel() for mean, _ in parts])
        return np.concatenate([np.asarray(part.cpu(), dtype=float) for part in parts])


def _is_last_layer(fitted: Any) -> bool:
    return hasattr(fitted.model, "last_layer")


def _repeated(X: Array, y: Array, weights: Array | None) -> tuple[Array, Array]:
    if weights is None:
        return X, y
    times = np.asarray(weights, dtype=float)
    if (times != np.round(times)).any() or (times < 0).any():
        raise DataworthError(
            "weights are not all whole numbers; LaplaceTorch repeats rows, and cannot by halves."
        )
    return np.repeat(X, times.astype(int), axis=0), np.repeat(y, times.astype(int))


@contextmanager
def _in_double(torch: Any) -> Iterator[None]:
    """New tensors in double precision: laplace-torch makes its unit vectors without asking for a type."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(default)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without torch's word on torch.jit.script, which the packages below laplace-torch still call."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.script", category=DeprecationWarning)
        yield
