"""Training and tagging: how good they are on pictures that nobody learned from, and what a rerun changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from examples.photos.model import zero_shot
from examples.photos.model.features import features, load
from examples.photos.model.keyword_model import FEWEST, held_out, train
from examples.photos.pictures.textures import KEYWORDS
from examples.photos.providers import create_list
from examples.photos.tests.studio import Studio, Tenant, drawn

LEARNED, UNSEEN = 80, 48

TAGS = """select p.name, array_agg(t.keyword order by t.keyword) from pictures p
            left join picture_tags t on t.picture_id = p.id and t.source = %s
           where p.tenant_id = %s group by p.name"""


def listed(studio: Studio, tenant: Tenant, count: int) -> None:
    """A list of the first pictures with what is true of them."""
    truth = {picture.name: picture.keywords for picture in drawn(count)}
    rows = studio.rows("select name, id from pictures where tenant_id = %s", tenant.id)
    create_list(studio.conn, tenant.id, "by hand", {id: truth[name] for name, id in rows if name in truth})


def right(
    studio: Studio, tenant: Tenant, source: str, truth: dict[str, tuple[str, ...]]
) -> tuple[float, float]:
    """Precision and recall of the tags of these pictures."""
    said = {
        name: set(keywords) - {None}
        for name, keywords in studio.rows(TAGS, source, tenant.id)
        if name in truth
    }
    hits = sum(len(said[name] & set(truth[name])) for name in truth)
    return hits / sum(map(len, said.values())), hits / sum(map(len, truth.values()))


def test_from_pictures_to_tags(studio: Studio, capsys: pytest.CaptureFixture[str]) -> None:
    tenant, other = studio.tenant("bcg"), studio.tenant("lakeside")
    unseen = drawn(UNSEEN, seed=2)
    tenant.upload([*drawn(LEARNED), *unseen])
    assert studio.zoltag("sync-dropbox", tenant) == 0
    assert studio.zoltag("recompute-trained-tags", tenant) == 0
    assert "0 models of siglip\n128 pictures, 0 tags" in capsys.readouterr().out, "nothing was learned yet"
    listed(studio, tenant, LEARNED)

    assert studio.zoltag("train-keyword-models", tenant, "--model", "siglip") == 0
    assert "8 models of siglip" in capsys.readouterr().out
    accuracies = dict(studio.rows("select keyword, accuracy from keyword_models"))
    assert sorted(accuracies) == sorted(KEYWORDS)
    assert min(accuracies.values()) >= 0.85, accuracies
    assert sum(accuracies.values()) / 8 >= 0.93, accuracies

    truth = {picture.name: picture.keywords for picture in unseen}
    assert studio.zoltag("recompute-trained-tags", tenant, "--model", "siglip") == 0
    precision, recall = right(studio, tenant, "trained", truth)
    assert precision >= 0.85
    assert recall >= 0.85
    assert studio.zoltag("recompute-zeroshot-tags", tenant) == 0
    precision, recall = right(studio, tenant, "zeroshot", truth)
    assert precision >= 0.9
    assert recall >= 0.85

    # A rerun changes nothing, and no other tenant has anything of it.
    before = studio.rows("select * from picture_tags order by 1, 2, 3")
    for command in ("recompute-trained-tags", "recompute-zeroshot-tags"):
        assert studio.zoltag(command, tenant) == 0
        assert studio.zoltag(command, other) == 0
    assert studio.rows("select * from picture_tags order by 1, 2, 3") == before
    assert studio.zoltag("recompute-trained-tags", tenant, "--model", "another") == 0
    assert right(studio, tenant, "zeroshot", truth) == (precision, recall), (
        "of the other kind nothing has changed"
    )
    assert studio.rows("select count(*) from picture_tags where source = 'trained'") == [(0,)]


def test_the_same_lists_give_the_same_models(studio: Studio) -> None:
    tenant = studio.tenant("bcg")
    tenant.upload(drawn(48))
    assert studio.zoltag("sync-dropbox", tenant) == 0
    listed(studio, tenant, 48)
    kept: list[Any] = []
    for _ in range(2):
        assert studio.zoltag("train-keyword-models", tenant) == 0
        kept.append(studio.rows("select keyword, weights, bias, accuracy from keyword_models order by 1"))
    assert kept[0] == kept[1]
    assert kept[0]


def test_zero_shot_knows_pictures_that_nobody_named() -> None:
    pictures = drawn(UNSEEN, seed=3)
    found = [zero_shot.scores(load(picture.jpeg)) for picture in pictures]
    first = [max(scores, key=lambda word: scores[word]) for scores in found]
    right = [word in picture.keywords for word, picture in zip(first, pictures, strict=True)]
    assert sum(right) / len(right) >= 0.95, "guessing would be right in a fifth of them"
    assert all(0 <= score <= 1 for scores in found for score in scores.values())


def test_too_few_pictures_teach_nothing() -> None:
    seen = np.zeros((8, 3))
    assert train("sea", seen, np.array([True] * (FEWEST - 1) + [False] * (9 - FEWEST))) is None


def test_a_quarter_of_each_kind_is_held_out() -> None:
    truth = np.array([True] * 8 + [False] * 40)
    held = held_out(truth)
    assert (held[truth].sum(), held[~truth].sum()) == (2, 10)


def test_pictures_are_the_same_for_the_same_seed_and_no_two_alike() -> None:
    assert drawn(8) == drawn(8)
    assert len({picture.jpeg for seed in (1, 2) for picture in drawn(16, seed=seed)}) == 32
    lengths = {features(load(picture.jpeg)).shape for picture in drawn(8)}
    assert len(lengths) == 1
