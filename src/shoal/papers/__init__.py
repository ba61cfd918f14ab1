# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of the papers as runnable experiments."""
