# SPDX-License-Identifier: Apache-2.0
"""The geometry of nearest centroids: whose cell somebody can be in, as far as is known."""
