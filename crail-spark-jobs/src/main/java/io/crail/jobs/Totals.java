/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.zip.CRC32;

/** The number of rows, and a sum over their bytes that their order does not change. Immutable. */
final class Totals implements Serializable {
  private static final long serialVersionUID = 1L;

  static final Totals NONE = new Totals(0, 0);

  private final long rows;
  private final long checksum;

  Totals(long rows, long checksum) {
    this.rows = rows;
    this.checksum = checksum;
  }

  long rows() {
    return rows;
  }

  Totals plus(Totals other) {
    return new Totals(rows + other.rows, checksum + other.checksum);
  }

  /** The same with one row more, which consists of these parts. */
  Totals plusRow(byte[]... parts) {
    return plusRow(0, parts);
  }

  /** The same with one row more, which consists of a key and these parts. */
  Totals plusRow(long key, byte[]... parts) {
    CRC32 crc = new CRC32();
    for (byte[] part : parts) {
      crc.update(part);
    }
    // Mixed, so that two rows that exchange their keys change the sum.
    return new Totals(rows + 1, checksum + Mix.of(key, crc.getValue()));
  }

  /**
   * Compares what a job has got with what it should have got.
   *
   * @throws WrongResultException when they differ
   */
  void require(Totals expected, String what) throws WrongResultException {
    if (rows != expected.rows) {
      throw new WrongResultException(
          rows + " " + what + " instead of " + expected.rows + ", lost or doubled");
    }
    if (checksum != expected.checksum) {
      throw new WrongResultException(what + " have the checksum " + this + ", not " + expected);
    }
  }

  @Override
  public String toString() {
    return Long.toHexString(checksum);
  }
}
