/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import java.util.List;

/** How the records of changes are read: their kinds, in the order of their numbers. Stateless. */
public final class ChangeRecords {
  /** The codecs of records; the first one is that of number 1. */
  static final List<Codec<? extends Change>> CODECS =
      List.of(
          Change.Link.CODEC,
          Change.Unlink.CODEC,
          Change.Rename.CODEC,
          Change.Attributes.CODEC,
          Change.Contents.CODEC,
          Change.Grant.CODEC,
          SpaceChange.User.CODEC,
          SpaceChange.Host.CODEC,
          SpaceChange.Datanode.CODEC,
          SpaceChange.LentRegion.CODEC,
          ShareChange.CODEC,
          LimitChange.CODEC,
          ReserveChange.CODEC,
          NumberChange.CODEC,
          SpaceChange.Kept.CODEC,
          SpaceChange.HeldBack.CODEC);

  /** The number of kinds; their numbers are 1 to this. */
  public static final int COUNT = CODECS.size();

  private ChangeRecords() {}

  /**
   * The codec of a kind of records.
   *
   * @param number see {@link Change#number()}
   * @throws CrailException with {@link ErrorCode#PROTOCOL} when there is no such kind
   */
  public static Codec<? extends Change> codec(int number) throws CrailException {
    if (number < 1 || number > COUNT) {
      throw ErrorCode.PROTOCOL.exception("record of number " + number);
    }
    return CODECS.get(number - 1);
  }
}
