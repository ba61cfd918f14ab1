# SPDX-License-Identifier: Apache-2.0
"""What every method that recodes columns has in common, with the simplest of all methods."""

import numpy as np
import pandas as pd
import pytest

from shoal import KAnonymity, audit, load
from shoal.anonymize.cells import Recoded
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.errors import DataError, PromiseError, RoleError
from shoal.privacy import EntropyDiversity
from shoal.release import Interval
from shoal.release.generalised import Generalised


class OneLevel(RecodingAnonymizer):
    """Every public column at one level of its ladder; small groups are left out, whatever the budget."""

    def __init__(
        self,
        privacy=2,
        *,
        level=0,
        public=None,
        sensitive=(),
        domain=None,
        person=None,
        hierarchies=None,
        suppress=0.5,
        numbers="intervals",
        reproducible=True,
    ):
        self.privacy, self.level, self.public, self.sensitive = privacy, level, public, sensitive
        self.domain, self.person, self.hierarchies = domain, person, hierarchies
        self.suppress, self.numbers, self.reproducible = suppress, numbers, reproducible

    def _recode(self, task):
        maps = {name: ladder.at(min(self.level, len(ladder) - 1)) for name, ladder in task.ladders.items()}
        columns = [maps[name].recode(task.rows[name]).codes for name in task.public]
        _, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        group = group.reshape(-1)
        left_out = ~task.keeps(group, int(group.max()) + 1)[group]
        return Recoding.of_columns(maps, task.rows, left_out if left_out.any() else None)


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [20, 20, 21, 21, 37, 38, 38, 90],
            "town": ["A", "A", "B", "B", "A", "C", "C", "D"],
            "ill": ["no", "yes", "no", "no", "yes", "no", "yes", "no"],
        }
    )


def test_groups_that_are_too_small_are_left_out_and_counted(people, tmp_path):
    method = OneLevel(2).fit(people, "ill")
    release = method.release_
    assert (release.n_rows, release.left_out) == (6, 2)
    assert [value.label for value in release.generalised["age"]] == ["20", "21", "38"]
    release.save(tmp_path / "t.json")
    again = load(tmp_path / "t.json")
    assert (again.left_out, again.sha256) == (2, release.sha256)
    verdict = audit(again, people)
    assert verdict.holds
    assert "left-out" in {finding.code for finding in verdict.findings}


def test_an_audit_notices_other_rows_than_were_left_out(people):
    release = OneLevel(2).fit(people, "ill").release_
    verdict = audit(release, people.iloc[:-1])
    assert not verdict.holds
    assert "counts-differ" in {finding.code for finding in verdict.findings}
    assert not audit(release, pd.concat([people, people.iloc[:1]])).holds


def test_rows_come_back_in_their_order_and_new_ones_are_recoded_alike(people):
    method = OneLevel(2)
    out = method.fit_transform(people, "ill")
    assert out["age"].tolist() == ["20", "20", "21", "21", "38", "38"]
    assert list(out) == list(people)
    new = method.transform(pd.DataFrame({"age": [38, 20], "town": ["A", "D"]}))
    assert new.to_dict("list") == {"age": ["38", "20"], "town": ["A", "D"]}
    with pytest.raises(DataError, match="does not know"):
        method.transform(pd.DataFrame({"age": [38], "town": ["E"]}))


def test_without_a_target_all_columns_are_public_unless_said(people):
    release = OneLevel(2, level=9).fit(people).release_
    assert (release.public, release.private) == (("age", "town", "ill"), ())
    release = OneLevel(2, level=9, public=["age"], domain={"town": list("ABCD"), "ill": ["no", "yes"]}).fit(people)
    assert release.release_.private == ("town", "ill")


def test_people_with_several_rows_are_counted_once(people):
    rows = people.assign(who=[1, 1, 2, 3, 4, 5, 6, 7])
    release = OneLevel(2, person="who").fit(rows, "ill").release_
    assert (release.n_rows, release.left_out, release.people) == (4, 4, None)
    release = OneLevel(2, person="who", level=9).fit(rows, "ill").release_
    assert (release.n_rows, release.people) == (8, 7)


def test_a_hierarchy_of_listed_numbers_is_one_of_values(people, tmp_path):
    lines = [f"{age};{age // 10 * 10}s;*" for age in range(100)]
    (tmp_path / "age.csv").write_text("\n".join(lines))
    release = OneLevel(2, level=1, public=["age"], hierarchies=tmp_path, domain={"town": list("ABCD")})
    release = release.fit(people, "ill").release_
    assert [value.label for value in release.generalised["age"]] == ["20s", "30s"]
    assert audit(release, people).holds


def test_bad_input_is_one_sentence(people):
    with pytest.raises(PromiseError, match="at least 9 people but the table has 8"):
        OneLevel(9).fit(people, "ill")
    with pytest.raises(PromiseError, match="Not even a table"):
        OneLevel(KAnonymity(2) & EntropyDiversity(1.99)).fit(people, "ill")
    with pytest.raises(RoleError, match="no column 'agee'"):
        OneLevel(2, public=["agee"]).fit(people)
    with pytest.raises(ValueError, match="suppress must be a share"):
        OneLevel(2, suppress=5).fit(people, "ill")
    with pytest.raises(DataError, match="missing in 1 row"):
        OneLevel(2).fit(people.assign(ill=["no", None, *people["ill"][2:]]), "ill")


def test_numbers_come_back_as_numbers_where_asked(people):
    method = OneLevel(2, numbers="ends")
    out = method.fit_transform(people, "ill")
    assert list(out) == ["age_low", "age_high", "town", "ill"]
    assert out["age_low"].tolist() == [20, 20, 21, 21, 38, 38]
    new = method.transform(pd.DataFrame({"age": [38, 20], "town": ["A", "D"]}))
    assert new.to_dict("list") == {"age_low": [38, 20], "age_high": [38, 20], "town": ["A", "D"]}


class InOtherWords(OneLevel):
    """Groups of which some say the same in other words: up to 37 and up to 37.5, of whole numbers."""

    def _recode(self, task):
        ends = [(None, 37), (None, 37.5), (37, None), (37.5, 95)]
        cells = [Generalised("", intervals=(Interval(*pair),)) for pair in ends]
        codes = np.array([0, 1, 0, 1, 1, 2, 3, 2])
        ladder = task.ladders["town"]
        towns = ladder.at(len(ladder) - 1)
        return Recoding({"age": Recoded(cells, codes, {}), "town": towns.recode(task.rows["town"])})


def test_one_meaning_has_one_label(people, tmp_path):
    release = InOtherWords(2).fit(people, "ill").release_
    assert [value.label for value in release.generalised["age"]] == ["<=37", ">37"]
    assert audit(release, people).group_sizes.tolist() == [3, 5]
    release.save(tmp_path / "t.json")
    assert load(tmp_path / "t.json").sha256 == release.sha256


def test_the_nearest_class_of_new_rows_is_one_that_is_published(people):
    method = OneLevel(2).fit(people, "ill")
    near = method.nearest_class(pd.DataFrame({"town": ["A", "D", "C"], "age": [20, 29, 90]}))
    assert near.to_dict("list") == {"age": ["20", "21", "38"], "town": ["A", "B", "C"]}
    ends = OneLevel(2, numbers="ends").fit(people, "ill").nearest_class(people[["age", "town"]].iloc[:1])
    assert ends.to_dict("list") == {"age_low": [20], "age_high": [20], "town": ["A"]}
