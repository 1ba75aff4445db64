/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.Iterator;
import scala.Tuple2;

/** What is to be checked of groups. Immutable. */
final class GroupCount implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Totals totals;
  private final long groups;

  /** How many groups have more or fewer rows than they should have. */
  private final long wrong;

  GroupCount(Totals totals, long groups, long wrong) {
    this.totals = totals;
    this.groups = groups;
    this.wrong = wrong;
  }

  /**
   * Reads the groups of a part.
   *
   * @param rows of all parts, of which the number modulo {@code keys} is the key
   */
  static GroupCount of(Iterator<Tuple2<Long, Iterable<byte[]>>> part, long rows, long keys) {
    Totals totals = Totals.NONE;
    long groups = 0;
    long wrong = 0;
    while (part.hasNext()) {
      Tuple2<Long, Iterable<byte[]>> group = part.next();
      long key = group._1();
      long before = totals.rows();
      for (byte[] value : group._2()) {
        totals = totals.plusRow(key, value);
      }
      groups++;
      if (totals.rows() - before != rows / keys + (key < rows % keys ? 1 : 0)) {
        wrong++;
      }
    }
    return new GroupCount(totals, groups, wrong);
  }

  GroupCount plus(GroupCount other) {
    return new GroupCount(totals.plus(other.totals), groups + other.groups, wrong + other.wrong);
  }

  /**
   * Compares.
   *
   * @throws WrongResultException when they differ
   */
  void require(GroupCount expected) throws WrongResultException {
    if (groups != expected.groups) {
      throw new WrongResultException(groups + " groups instead of " + expected.groups);
    }
    if (wrong != expected.wrong) {
      throw new WrongResultException(wrong + " groups have rows too many or too few");
    }
    totals.require(expected.totals, "grouped rows");
  }
}
