# SPDX-License-Identifier: Apache-2.0
"""Any model of scikit-learn, made k-anonymous.

An estimator, rows and a requirement enter; a release of kind ``model`` leaves. Public columns reach the estimator only
through the group that a k-anonymous tree gives a person, so that whatever it learns is a function of groups. This
folder may import `shoal.trees` and everything that trees import.
"""

from shoal.models.wrapper import AnonymousModel

__all__ = ["AnonymousModel"]
