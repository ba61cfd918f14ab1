# SPDX-License-Identifier: Apache-2.0
"""The other form of release: one tree of each projection, in place of its rows."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest
from referencing import Registry, Resource

from shoal import AnonymousTreeClassifier, DataError, ReleaseError, audit, load, load_sample
from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY
from shoal.release import EnsembleRelease
from shoal.release.parse_ensemble import parse_ensemble

from .examples import DOMAIN, FIG1, fig7

LOW, HIGH = "<=50K", ">50K"


def leaf(low: int, high: int):
    return {"counts": {LOW: low, HIGH: high}}


def printed(k: int = 2, **more) -> EnsembleRelease:
    """The two trees that Sect. 4.2 prints; "(7.0/2.0)" is seven people of whom two have the other class."""
    relations = ["Husband", "Not-in-family", "Unmarried"]
    first = [
        {"attribute": "relationship", "branches": [{"values": [r], "node": i + 1} for i, r in enumerate(relations)]},
        leaf(2, 5),
        leaf(5, 2),
        {"attribute": "education-num", "branches": [{"at_most": 10, "node": 4}, {"above": 10, "node": 5}]},
        leaf(3, 0),
        leaf(1, 2),
    ]
    second = [
        {"attribute": "age", "branches": [{"at_most": 48, "node": 1}, {"above": 48, "node": 2}]},
        {"attribute": "hours-per-week", "branches": [{"at_most": 40, "node": 3}, {"above": 40, "node": 4}]},
        leaf(1, 6),
        leaf(9, 1),
        leaf(1, 2),
    ]
    numeric = {"age": "public", "education-num": "private", "hours-per-week": "private"}
    body = {
        "format": "shoal-release/1",
        "kind": "ensemble",
        "notice": NOT_K_ANONYMITY,
        "combine": "bayes",
        "target": "income",
        "attributes": [
            *(
                {"name": name, "role": role, "type": "numeric", "bounds": DOMAIN[name], "integer": True}
                for name, role in numeric.items()
            ),
            {"name": "relationship", "role": "public", "type": "categorical", "values": relations},
            {"name": "income", "role": "private", "type": "categorical", "values": [LOW, HIGH]},
        ],
        "claims": [{"requirement": "partal", "k": k}],
        "trees": [{"nodes": first}, {"nodes": second}],
    }
    return parse_ensemble({**body, **more})


def test_the_trees_of_sect_4_2_have_the_levels_of_their_projections():
    verdict = audit(printed(), FIG1)
    assert verdict.holds
    rows = audit(fig7(), FIG1)
    assert verdict.rejoined == rows.rejoined
    assert verdict.rejoined.groups == (6, 7)
    assert verdict.smallest_group == rows.smallest_group == 1
    assert verdict.classes_left == rows.classes_left == 2
    assert NOT_K_ANONYMITY in str(verdict)
    assert NOT_K_ANONYMITY in str(printed())


def test_the_instance_of_sect_4_2_is_classified_as_printed():
    one = pd.DataFrame({"education-num": [13], "relationship": ["Unmarried"], "hours-per-week": [30], "age": [25]})
    release = printed()
    assert [tree.predict(one)[0] for tree in release.trees] == [HIGH, LOW]
    assert release.predict(one)[0] == LOW
    # Laplace: 2/5 and 10/12 over 11/20, against 3/5 and 2/12 over 9/20
    low, high = 2 / 5 * 10 / 12 / 0.55, 3 / 5 * 2 / 12 / 0.45
    assert np.allclose(release.predict_proba(one), [[low / (low + high), high / (low + high)]])


def test_it_survives_its_file(tmp_path):
    release = printed()
    release.with_audit(audit(release, FIG1)).save(tmp_path / "trees.json")
    again = load(tmp_path / "trees.json")
    assert (again.sha256, again.combine) == (release.sha256, "bayes")
    assert json.loads((tmp_path / "trees.json").read_text(encoding="utf-8"))["notice"] == NOT_K_ANONYMITY
    assert audit(again, FIG1).holds


def test_its_file_is_as_the_schema_says():
    kinds = ["tree", "ensemble"]
    read = [json.loads(resources.files("shoal").joinpath(f"release/schema/{k}.json").read_text()) for k in kinds]
    registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in read)
    validator = jsonschema.Draft202012Validator(read[1], registry=registry)
    validator.validate(printed().to_json())
    for wrong in ({"combine": "vote"}, {"notice": "safe"}, {"claims": [{"requirement": "partal"}]}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**printed().to_json(), **wrong})


def test_a_claim_that_is_too_high_and_counts_that_are_wrong_are_caught():
    assert "partal-fails" in [each.code for each in audit(printed(3), FIG1).findings]
    other = FIG1.assign(income=[HIGH, LOW, *FIG1["income"][2:]])
    assert "counts-differ" in [each.code for each in audit(printed(), other).findings]


def test_asked_for_k_anonymity_they_fail():
    verdict = audit(printed(), FIG1, privacy=2)
    assert (verdict.holds, verdict.smallest_group) == (False, 1)


def test_trees_that_ask_for_the_same_column_cannot_claim_it():
    release = printed()
    both = replace(release, trees=(release.trees[0], release.trees[0]))
    assert [each.code for each in audit(both, FIG1).findings if each.severity == "breach"] == ["trees-overlap"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"combine": "vote"}, "must be 'mean' or 'bayes'"),
        ({"combine": ["bayes"]}, "must be a text"),
        ({"notice": None}, "what PartAL is not"),
        ({"claims": [{"requirement": "k-anonymity", "k": 2}]}, "what PartAL is not"),
        ({"weights": {LOW: 1, HIGH: 2}}, "must be 'mean' where classes have weights"),
    ],
)
def test_what_is_not_valid_is_refused(more, why):
    with pytest.raises(ReleaseError, match=why):
        printed(**more)


def test_people_with_several_rows_are_refused():
    with pytest.raises(DataError, match="take every row for a person"):
        audit(printed(), FIG1.assign(who=np.arange(20) // 2), person="who")


def test_trees_learned_from_projections_tell_no_more_than_these():
    people = load_sample().table
    subsets, public = [["age", "bmi"], ["sex", "education"]], ["age", "sex", "education"]
    rows = publish_projections(people, "diabetes", subsets, privacy=20, public=public, cuts={"age": [30, 40, 60]})
    alone = [
        AnonymousTreeClassifier(privacy=20, public=[name for name in subset if name in public])
        .fit(people.select([*subset, "diabetes"]), "diabetes")
        .release_
        for subset in subsets
    ]
    attributes = {each.name: each for tree in alone for each in tree.attributes}
    claims = ({"requirement": "partal", "k": 20},)
    trees = [replace(t, attributes=tuple(attributes.values()), claims=claims, unused={}, verdict=None) for t in alone]
    release = EnsembleRelease(tuple(trees), combine="bayes")
    verdict = audit(release, people)
    assert verdict.rejoined.partal >= 20
    assert verdict.holds
    assert verdict.classes_left == audit(rows, people).classes_left == 2
