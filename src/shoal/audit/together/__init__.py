# SPDX-License-Identifier: Apache-2.0
"""Several releases of one table: their product, what their counts pin down, and the ledger that keeps them."""
