# SPDX-License-Identifier: Apache-2.0
"""The pages cannot drift from the code: every name, error code and finding has its place, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

ROOT = Path(shoal.__file__).parents[2]
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "shoal"
CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

if not (DOCS / "conf.py").is_file():
    pytest.skip("the pages are not beside the package", allow_module_level=True)


def pages() -> list[Path]:
    found = [path for path in DOCS.rglob("*") if path.suffix in (".md", ".rst")]
    return sorted(path for path in found if "_build" not in path.parts)


def calls() -> Iterator[tuple[str, str, Path]]:
    """Every call in the source whose first argument is a text: what is called, the text, where."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                text = node.args[0].value
                name = ast.unparse(node.func)
                if isinstance(text, str):
                    yield name.rpartition(".")[2] if "super()" not in name else name, text, path


def codes_in_source() -> set[str]:
    errors = {name for name in vars(shoal.errors) if name.endswith("Error")}
    found: set[str] = set()
    for name, text, path in calls():
        if name in errors or (name == "super().__init__" and CODE.fullmatch(text)):
            found.add(text)
        elif name == "_error" and path.name == "hierarchy_sources.py":
            found.add(f"hierarchy-{text}")
        elif name == "bad" and path.name.startswith("hierarchy"):
            found.add(f"hierarchy-bad-{text.replace('_', '-')}")
    return found


def headings(page: str, level: str) -> list[str]:
    text = (DOCS / "reference" / page).read_text(encoding="utf-8")
    found = [line.removeprefix(level).strip() for line in text.splitlines() if line.startswith(level + " ")]
    return [heading for heading in found if CODE.fullmatch(heading)]


def test_every_public_name_is_importable_and_on_a_reference_page():
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages() if "reference" in path.parts)
    for name in shoal.__all__:
        assert hasattr(shoal, name)
        assert re.search(rf"auto(class|function|exception):: shoal\.{name}\n", text), f"no page has {name}"


def test_every_error_code_has_a_paragraph_and_no_paragraph_is_left_over():
    documented = headings("errors.md", "###")
    assert len(documented) == len(set(documented))
    assert set(documented) == codes_in_source()


def test_every_finding_has_a_paragraph_and_no_paragraph_is_left_over():
    assert set(headings("findings.md", "##")) == {text for name, text, _ in calls() if name == "Finding"}


def test_no_page_names_a_place_on_somebodys_machine():
    for path in pages():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.:/])/(work|home|root|tmp|Users)/", text), path


def test_every_page_is_in_a_table_of_contents():
    listed = {(DOCS / "index").resolve()}
    for path in pages():
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line.strip() for line in block.splitlines() if line.strip() and line[0] != ":"]
            listed |= {(path.parent / entry).resolve() for entry in entries}
    assert {path.with_suffix("").resolve() for path in pages()} == listed


def test_links_between_pages_lead_somewhere():
    for path in pages():
        for link in re.findall(r"\]\(([^)#\s]+\.(?:md|rst))(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert link.startswith("http") or (path.parent / link).is_file(), f"{path.name}: {link}"
