/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import scala.Tuple2;

/** What is to be checked of one part of a sorted output. Immutable. */
final class SortedPart implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Totals totals;
  private final byte[] first;
  private final byte[] last;

  /** How many rows are smaller than the one before. */
  private final long misplaced;

  private SortedPart(Totals totals, byte[] first, byte[] last, long misplaced) {
    this.totals = totals;
    this.first = first;
    this.last = last;
    this.misplaced = misplaced;
  }

  /** Reads a part. */
  static SortedPart of(Iterator<Tuple2<byte[], byte[]>> rows) {
    Totals totals = Totals.NONE;
    byte[] first = new byte[0];
    byte[] last = first;
    long misplaced = 0;
    while (rows.hasNext()) {
      Tuple2<byte[], byte[]> row = rows.next();
      byte[] key = row._1();
      if (totals.rows() == 0) {
        first = key;
      } else if (Arrays.compareUnsigned(key, last) < 0) {
        misplaced++;
      }
      last = key;
      totals = totals.plusRow(key, row._2());
    }
    return new SortedPart(totals, first, last, misplaced);
  }

  /**
   * Checks a whole output: the order within its parts and from part to part, the number of rows,
   * and the checksum.
   *
   * @param parts in their order
   * @throws WrongResultException when one of them is wrong
   */
  static void require(List<SortedPart> parts, Totals expected) throws WrongResultException {
    Totals totals = Totals.NONE;
    byte[] last = new byte[0];
    for (int i = 0; i < parts.size(); i++) {
      SortedPart part = parts.get(i);
      if (part.misplaced > 0) {
        throw new WrongResultException(part.misplaced + " rows of part " + i + " are out of order");
      }
      if (part.totals.rows() > 0) {
        if (Arrays.compareUnsigned(part.first, last) < 0) {
          throw new WrongResultException(
              "part "
                  + i
                  + " begins with "
                  + TeraRow.shown(part.first)
                  + ", before the end of an"
                  + " earlier one: "
                  + TeraRow.shown(last));
        }
        last = part.last;
      }
      totals = totals.plus(part.totals);
    }
    totals.require(expected, "sorted rows");
  }
}
