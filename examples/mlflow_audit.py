"""An audit beside a training run: its numbers as metrics, its verdict as a tag, its report as an artifact.

pip install -c constraints.txt ".[mlflow]"
python examples/mlflow_audit.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mlflow
import numpy as np

import dataworth as dw


def log_audit(audit: dw.Audit) -> None:
    """Log an audit to the run that is active."""
    lower, upper = audit.interval or (float("nan"), float("nan"))
    metrics = {"delta": audit.delta, "delta_lower": lower, "delta_upper": upper}
    metrics["accuracy_delta"] = audit.accuracy_delta
    mlflow.log_metrics({f"dataworth_{name}": value for name, value in metrics.items() if np.isfinite(value)})
    fired = ",".join(check.code for check in audit.checks if check.failed)
    mlflow.set_tags({"dataworth.verdict": str(audit.verdict), "dataworth.fired": fired or "none"})
    mlflow.log_params({f"sha256_{name}": one["sha256"] for name, one in audit.replay.data.items()})
    with tempfile.TemporaryDirectory() as folder:
        for name in ("audit.html", "audit.json"):
            audit.report(Path(folder) / name)
            mlflow.log_artifact(str(Path(folder) / name))


def example() -> dw.Audit:
    """Noisy labels, and the same rows without those that a second look found wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    label = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    wrong = rng.random(300) < 0.3
    raw = dw.Dataset(X, np.where(wrong, 1 - label, label)).take(range(120))
    test = dw.Dataset(X, label).take(range(120, 300))
    return dw.audit(raw, raw.take(~wrong[:120]), test, ignore="all")


if __name__ == "__main__":
    with mlflow.start_run(run_name="clean labels") as run:
        log_audit(example())
    print(run.info.run_id)
