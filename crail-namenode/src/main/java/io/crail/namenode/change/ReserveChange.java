/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * Numbers that may be given from now on, though no record has them: others may know them before
 * this namenode ends, or for good. After a start from records, new ones are above them.
 *
 * @param nodeIds ids of nodes and grants up to this one
 * @param datanodeIds ids of datanodes up to this one; after the highest follows the lowest
 * @param versions versions of the states of spread directories, and of loans, up to this one
 */
public record ReserveChange(long nodeIds, int datanodeIds, long versions) implements Change {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("ReserveChange")
          .i64("nodeIds", "ids of nodes up to this one may be given")
          .i32("datanodeIds", "ids of datanodes up to this one may be given")
          .i64("versions", "versions of spread directories up to this one may be given");

  /** The codec. */
  public static final Codec<ReserveChange> CODEC = Codec.of(ReserveChange.class, LAYOUT);

  @Override
  public int number() {
    return 13;
  }

  @Override
  public Codec<ReserveChange> codec() {
    return CODEC;
  }
}
