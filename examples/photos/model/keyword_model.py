"""One classifier per keyword: logistic regression on features. What is kept of it are plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examples.photos.model.features import Vector

HELD_OUT = 4
"""One picture of four is not learned from, and tells how good the model is."""

FEWEST = 4
"""So many pictures with a keyword, and so many without it, are the least to learn from."""


@dataclass(frozen=True, slots=True)
class KeywordModel:
    """Says how likely a keyword is of a picture: `weights` on features of which `mean` was taken and `scale` was divided by."""

    keyword: str
    mean: Vector
    scale: Vector
    weights: Vector
    bias: float
    accuracy: float
    """Balanced accuracy on pictures that were held out: 0.5 is guessing, 1 is perfect."""
    learned_from: int

    def score(self, features: Vector) -> float:
        """From 0 to 1."""
        return float(1 / (1 + np.exp(-((features - self.mean) / self.scale @ self.weights + self.bias))))


def train(keyword: str, seen: Vector, truth: Vector) -> KeywordModel | None:
    """Learn a keyword from the features of pictures (one a row) and whether it is true of them; None: too few."""
    held = held_out(truth)
    learned = truth[~held].astype(bool)
    if min(learned.sum(), (~learned).sum()) < FEWEST:
        return None
    # Half a second to import, and only training needs it.
    from sklearn.linear_model import LogisticRegression

    mean, scale = seen[~held].mean(0), seen[~held].std(0) + 1e-6
    fitted = LogisticRegression(C=0.3, class_weight="balanced", solver="liblinear")
    fitted.fit((seen[~held] - mean) / scale, learned)
    model = KeywordModel(
        keyword, mean, scale, fitted.coef_[0], float(fitted.intercept_[0]), 0.0, int((~held).sum())
    )
    said = np.array([model.score(row) >= 0.5 for row in seen[held]])
    accuracy = balanced_accuracy(truth[held].astype(bool), said)
    return KeywordModel(keyword, mean, scale, model.weights, model.bias, accuracy, model.learned_from)


def held_out(truth: Vector) -> NDArray[np.bool_]:
    """Every fourth picture of those with the keyword, and of those without it."""
    held = np.zeros(len(truth), dtype=bool)
    for kind in (True, False):
        held[np.flatnonzero(truth.astype(bool) == kind)[HELD_OUT - 1 :: HELD_OUT]] = True
    return held


def balanced_accuracy(truth: Vector, said: Vector) -> float:
    """The mean of how many of the true and of the untrue were told as such; a kind that is not there does not count."""
    shares = [float((said[truth == kind] == kind).mean()) for kind in (True, False) if (truth == kind).any()]
    return sum(shares) / len(shares) if shares else 0.0
