"""`zoltag train-keyword-models`: from the lists of a tenant one classifier per keyword, all replaced at once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from psycopg import Connection

from examples.photos.library import Library
from examples.photos.model.features import features, load
from examples.photos.model.keyword_model import KeywordModel, train
from examples.photos.statements import run


def train_keyword_models(
    conn: Connection[Any], library: Library, tenant_id: UUID, model: str
) -> list[KeywordModel]:
    """Those that were learned; keywords with too few pictures are left out."""
    rows = run(conn, "examples_to_learn", tenant_id=tenant_id).fetchall()
    there = [(hash, set(keywords or ())) for hash, keywords in rows if library.has(hash)]
    learned = []
    if there:
        seen = np.array([features(load(library.path(hash))) for hash, _ in there])
        for keyword in sorted(set.union(*(keywords for _, keywords in there))):
            truth = np.array([keyword in keywords for _, keywords in there])
            made = train(keyword, seen, truth)
            if made is not None:
                learned.append(made)
    with conn.transaction():
        run(conn, "forget_models", tenant_id=tenant_id, model=model)
        for one in learned:
            kept = {"mean": one.mean.tolist(), "scale": one.scale.tolist(), "weights": one.weights.tolist()}
            told = {
                "keyword": one.keyword,
                "bias": one.bias,
                "accuracy": one.accuracy,
                "learned_from": one.learned_from,
            }
            run(conn, "keep_model", tenant_id=tenant_id, model=model, **kept, **told)
    return learned


def kept_models(conn: Connection[Any], tenant_id: UUID, model: str) -> list[KeywordModel]:
    """The models as they were trained."""
    return [
        KeywordModel(
            keyword, np.array(mean), np.array(scale), np.array(weights), bias, accuracy, learned_from
        )
        for keyword, mean, scale, weights, bias, accuracy, learned_from in run(
            conn, "keyword_models", tenant_id=tenant_id, model=model
        )
    ]
