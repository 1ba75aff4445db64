/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.LongFunction;

/** The rows that one task makes. Immutable. */
final class RowRange implements Serializable {
  private static final long serialVersionUID = 1L;

  private final long from;
  private final long to;

  RowRange(long from, long to) {
    this.from = from;
    this.to = to;
  }

  /** Cuts rows into parts of about the same length. */
  static List<RowRange> cut(long rows, int parts) {
    List<RowRange> ranges = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      ranges.add(new RowRange(rows * part / parts, rows * (part + 1) / parts));
    }
    return ranges;
  }

  /** Makes each row when it is asked for. */
  <T> Iterator<T> make(LongFunction<T> row) {
    return new Iterator<>() {
      private long next = from;

      @Override
      public boolean hasNext() {
        return next < to;
      }

      @Override
      public T next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return row.apply(next++);
      }
    };
  }
}
