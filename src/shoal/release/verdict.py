# SPDX-License-Identifier: Apache-2.0
"""The audit's word on a release, tied to the very content it looked at. Nothing is written without it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shoal.errors import ReleaseError


@dataclass(frozen=True)
class Verdict:
    """What an audit said, and the fingerprint of what it said it of.

    `smallest_group` is None where every span is a single bin, and where a file does not state it. `stated` marks a
    verdict that only a file states: it is shown, but a release is not written on a file's word.
    """

    holds: bool
    smallest_group: int | None
    sha256: str
    stated: bool = False

    def to_json(self, *, sizes: bool = True) -> dict[str, Any]:
        """The verdict as a release file carries it; without `sizes`, where the release states no numbers of people."""
        told = {"smallest_group": self.smallest_group} if sizes else {}
        return {"holds": self.holds, **told, "sha256": self.sha256}


def canonical(value: Any) -> str:
    """JSON in its one form: keys sorted, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def fingerprint(body: Mapping[str, Any], **ready: str) -> str:
    """SHA-256 of everything a release says, its verdict left out: of its canonical JSON.

    `ready` holds values that are canonical already.
    """
    texts = {key: canonical(value) for key, value in body.items()} | ready
    text = ",".join(f"{canonical(key)}:{texts[key]}" for key in sorted(texts))
    return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


def verdict_of(audit: Any, *, sha256: str, claims: Iterable[Mapping[str, Any]], public: Iterable[str]) -> Verdict:
    """The verdict of an audit that looked at exactly this content, these claims and this attacker."""
    same_claims = [dict(claim) for claim in audit.claims] == [dict(claim) for claim in claims]
    if audit.sha256 != sha256 or not same_claims or set(audit.public) != set(public):
        raise ReleaseError(
            "audit-of-other",
            "This audit looked at another release, at other claims or at another attacker. "
            "Audit this release as it is, then attach.",
        )
    return Verdict(audit.holds, audit.smallest_group, sha256)


def carried(verdict: Verdict | None, before: str, after: str) -> Verdict | None:
    """The verdict on what says less than what was audited; none if it was given on something else.

    The groups are the same, and what is said now follows from what was compared with the rows.
    """
    if verdict is None or verdict.sha256 != before:
        return None
    return replace(verdict, sha256=after)


def check_writable(verdict: Verdict | None, sha256: str) -> None:
    """Refuse to write what no audit of this very content has passed."""
    if verdict is None or verdict.stated:
        raise ReleaseError(
            "not-audited",
            "This release was not audited here; a file's own word does not count. Attach an audit: "
            "release.with_audit(audit(release, X)).",
        )
    if verdict.sha256 != sha256:
        raise ReleaseError("changed-since-audit", "This release was changed after its audit. Audit it again.")
    if not verdict.holds:
        raise ReleaseError("audit-failed", "The audit of this release found a breach: nothing was written.")
