# SPDX-License-Identifier: Apache-2.0
"""The 20 rows of the paper's Fig. 1 (Matatov, Rokach and Maimon 2010) as a data frame."""

import pandas as pd

from shoal.papers.worked.dmpd_sample import COLUMNS, NUMERIC, ROWS

FIG1 = pd.DataFrame(ROWS, columns=COLUMNS).astype(dict.fromkeys(NUMERIC, int))
