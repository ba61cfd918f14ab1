# SPDX-License-Identifier: Apache-2.0
"""A released tree as PMML 4.4, the exchange format of the Data Mining Group.

Its tree model has branches with several values, missing as a test of its own and "the last prediction" for a value that
no branch takes, so a release fits as it is. The libraries that write PMML convert trees of scikit-learn, which has
none of these; the format is plain XML, and the standard library writes that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from shoal.errors import ReleaseError
from shoal.release.domain import Attribute, Interval, plain
from shoal.release.show import headline
from shoal.release.statement import PARTS

if TYPE_CHECKING:
    from shoal.release.node import Branch
    from shoal.release.tree import TreeRelease

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_TYPES = {"string": "string", "integer": "integer", "number": "double", "boolean": "boolean"}
# what XML 1.0 cannot hold, not even escaped
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# texts that every reader of a PMML array takes apart the same way
_PLAIN_TEXT = re.compile(r'[^"\\\t\n\r]+')


def to_pmml(release: TreeRelease) -> str:
    """The tree as PMML 4.4: save it in UTF-8 as ``tree.pmml``.

    A reader answers as ``predict(..., unknown="ancestor")`` does, and gives the share of each class, by its weight if
    there are weights, as an output ``probability(...)``. A release that states shares has none for a value that no
    branch takes; PMML wants a number of records with every share, so these are of a thousand. One that states only
    predicted classes has no such output.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes")
    >>> for line in tree.release_.to_pmml().splitlines()[-13:-9]:
    ...     print(line)
          <Node id="1" score="no" recordCount="2519">
            <SimplePredicate field="age" operator="lessOrEqual" value="47.5" />
            <ScoreDistribution value="no" recordCount="2402" probability="0.95355..." />
            <ScoreDistribution value="yes" recordCount="117" probability="0.04644..." />
    """
    root = ET.Element("PMML", xmlns=NAMESPACE, version="4.4")
    header = _add(root, "Header", description=headline(release))
    _add(header, "Extension", extender="Shoal", name="sha256", value=release.sha256)
    _add(header, "Application", name="Shoal")
    asked = [release.attribute(name) for name in (*release.tested, release.target)]
    dictionary = _add(root, "DataDictionary", numberOfFields=len(asked))
    for attribute in asked:
        _field(dictionary, attribute)
    model = _add(
        root,
        "TreeModel",
        functionName="classification",
        missingValueStrategy="none",
        noTrueChildStrategy="returnLastPrediction",
        splitCharacteristic="multiSplit",
    )
    schema = _add(model, "MiningSchema")
    for name in release.tested:
        # the release routes values beyond its bounds too, and stops at unknown ones: no reader may refuse them
        _add(schema, "MiningField", name=name, invalidValueTreatment="asIs")
    _add(schema, "MiningField", name=release.target, usageType="target")
    target = release.attribute(release.target)
    words = [_value(target, value) for value in release.classes]
    if release.statement != "majority":
        _output(model, words)
    _nodes(model, release, words)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _output(model: ET.Element, words: list[str]) -> None:
    output = _add(model, "Output")
    for word in words:
        _add(
            output,
            "OutputField",
            name=f"probability({word})",
            optype="continuous",
            dataType="double",
            feature="probability",
            value=word,
        )


def _nodes(model: ET.Element, release: TreeRelease, words: list[str]) -> None:
    """Every node below its parent, with what is released of it and the shares it answers with."""
    records = _records(release)
    made = {0: _add(model, "Node")}
    _add(made[0], "True")
    for number, node in enumerate(release.nodes):
        element = made[number]  # a branch leads to a higher number, so the parent has made it
        element.set("id", str(number))
        element.set("score", words[release.answers[number]])
        if release.statement == "counts":
            element.set("recordCount", str(sum(records[number])))
        if records[number]:
            for word, count, share in zip(words, records[number], release.shares[number].tolist(), strict=True):
                _add(element, "ScoreDistribution", value=word, recordCount=count, probability=share)
        for branch in node.branches:
            made[branch.node] = _add(element, "Node")
            _predicate(made[branch.node], release.attribute(node.attribute or ""), branch)


def _records(release: TreeRelease) -> list[list[int]]:
    """For each node its people by class, or how many of a thousand; nothing where nothing is stated."""
    if release.statement == "counts":
        return [list(map(int, counts)) for counts in release.counts]
    return [[round(share * PARTS) for share in node.shares or ()] for node in release.nodes]


def _field(dictionary: ET.Element, attribute: Attribute) -> None:
    if attribute.type == "numeric":
        field = _add(dictionary, "DataField", name=attribute.name, optype="continuous", dataType="double")
        assert attribute.bounds is not None
        low, high = (plain(end) for end in attribute.bounds)
        _add(field, "Interval", closure="closedClosed", leftMargin=low, rightMargin=high)
        return
    kind = _TYPES[attribute.labels]
    field = _add(dictionary, "DataField", name=attribute.name, optype="categorical", dataType=kind)
    for value in attribute.values:
        _add(field, "Value", value=_value(attribute, value))


def _predicate(node: ET.Element, attribute: Attribute, branch: Branch) -> None:
    """A branch's test: one predicate, or several of which one must hold."""
    values = [_value(attribute, value) for value in branch.values]
    as_array = len(values) > 1 and attribute.labels == "string" and all(map(_PLAIN_TEXT.fullmatch, values))
    n_tests = (1 if as_array else len(values)) + len(branch.intervals) + branch.missing
    parent = node if n_tests == 1 else _add(node, "CompoundPredicate", booleanOperator="or")
    name = attribute.name
    for interval in branch.intervals:
        _interval(parent, name, interval)
    if as_array:
        test = _add(parent, "SimpleSetPredicate", field=name, booleanOperator="isIn")
        _add(test, "Array", type="string", n=len(values)).text = " ".join(f'"{value}"' for value in values)
    else:
        for value in values:
            _add(parent, "SimplePredicate", field=name, operator="equal", value=value)
    if branch.missing:
        _add(parent, "SimplePredicate", field=name, operator="isMissing")


def _interval(parent: ET.Element, name: str, interval: Interval) -> None:
    if interval == Interval(None, None):
        _add(parent, "SimplePredicate", field=name, operator="isNotMissing")
        return
    if interval.above is not None and interval.at_most is not None:
        parent = _add(parent, "CompoundPredicate", booleanOperator="and")
    if interval.above is not None:
        _add(parent, "SimplePredicate", field=name, operator="greaterThan", value=plain(interval.above))
    if interval.at_most is not None:
        _add(parent, "SimplePredicate", field=name, operator="lessOrEqual", value=plain(interval.at_most))


def _value(attribute: Attribute, value: str) -> str:
    """A value as PMML writes its type."""
    if attribute.labels == "boolean":
        return value.lower()
    return str(plain(float(value))) if attribute.labels == "number" else value


def _add(parent: ET.Element, tag: str, **attributes: Any) -> ET.Element:
    for text in attributes.values():
        if _NOT_XML.search(str(text)):
            raise ReleaseError("cannot-export", "to_pmml: a name or value holds a character that XML cannot.")
    return ET.SubElement(parent, tag, {key: str(text) for key, text in attributes.items()})
