# SPDX-License-Identifier: Apache-2.0
"""A text file in batches, with the types that reading it whole would find."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from shoal.data.sniff import undecodable
from shoal.data.sources import Batch, Source
from shoal.data.table import Column, Kinds
from shoal.data.text_file import TEXT, open_text
from shoal.errors import DataError

# what Arrow tries in turn until all cells of a column fit
TYPES = [pa.null(), pa.int64(), pa.date32(), pa.time32("s"), pa.float64(), TEXT]


class OtherTypes(Exception):
    """A later cell does not fit the type that the first ones have: what was read so far must be read again."""


class TextSource(Source):
    """A CSV file. Columns get the first type that fits all their cells, as when the file is read whole."""

    def __init__(self, path: Path, kinds: Kinds | None, missing: Collection[str], **how: Any) -> None:
        self._file = open_text(path, missing=missing, **how)
        super().__init__(self._file.names, kinds, missing, f" in {self._file.shown!r}")
        self._types: dict[str, pa.DataType] = {}
        self._careful = False  # whether values may hold line ends, or lines be very long

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """The rows in batches; raises `OtherTypes` when the next try will read them otherwise."""
        types = {**self._types, **dict.fromkeys(self._file.texts(self.kinds), TEXT)}
        convert = self._file.convert(names, {name: of for name, of in types.items() if name in names})
        try:
            with (
                self._file.stream() as stream,
                pacsv.open_csv(stream, *self._file.layout(careful=self._careful), convert) as reader,
            ):
                for name, of in zip(names, reader.schema.types, strict=True):
                    self._types.setdefault(name, TEXT if pa.types.is_dictionary(of) else of)
                for batch in reader:
                    for first in range(0, batch.num_rows, rows):
                        yield [column.slice(first, rows) for column in batch.columns]
        except UnicodeDecodeError:
            raise undecodable(self._file.shown, self._file.found.encoding) from None
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                raise undecodable(self._file.shown, self._file.found.encoding) from None
            self._another_try(str(error), names, convert)
        except OSError:
            raise DataError("damaged-file", f"{self._file.shown!r} cannot be read to its end.") from None

    def _another_try(self, message: str, names: Sequence[str], convert: pacsv.ConvertOptions) -> None:
        """Give the column that did not fit the next type, or read more carefully; where neither helps, refuse."""
        column = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error", message)
        if column is not None:
            name = self._file.names[int(column[1])]
            self._types[name] = TYPES[TYPES.index(self._types.get(name, pa.null())) + 1]
        elif not self._careful:
            self._careful = True
        else:
            raise self._file.ragged(convert)
        raise OtherTypes

    def column(self, name: str, entries: pa.ChunkedArray, weights: NDArray[np.int64]) -> Column:
        """As when the file is read whole: blanks around strings go, and texts that are all numbers are numbers."""
        if self._types[name] == TEXT:
            entries = pa.chunked_array([entries.combine_chunks().dictionary_encode().cast(TEXT)])
        return self._file.column(name, entries, self.kinds, weights)
