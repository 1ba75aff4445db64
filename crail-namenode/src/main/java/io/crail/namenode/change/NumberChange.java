/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * A number that no other record shows, since what had it, or was to get it, is gone. Such records
 * are made where a state is written as a whole, see {@link StateRecords}.
 *
 * @param of what is numbered: {@link #NODE_IDS}, {@link #GENERATIONS}, {@link #CHILDREN}, {@link
 *     #CUT_OFFS} or {@link #NODES}
 * @param id of what it is: a container, or a datanode; 0 for neither
 * @param region the index of a region
 * @param value the number
 */
public record NumberChange(int of, long id, int region, long value) implements Change {
  /** The last node id that was given. */
  public static final int NODE_IDS = 0;

  /** The last generation that was given in a region of a datanode. */
  public static final int GENERATIONS = 1;

  /** The place that the next child of a container gets in its order. */
  public static final int CHILDREN = 2;

  /** A client that a datanode has to cut off. */
  public static final int CUT_OFFS = 3;

  /** How many nodes the next records make, so that the tables need not grow step by step. */
  public static final int NODES = 4;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("NumberChange")
          .u8("of", "0 node ids, 1 generations, 2 children, 3 clients to cut off, 4 nodes")
          .i64("id", "the container or datanode; 0 for neither")
          .i32("region", "index of the region")
          .i64("value", "the number");

  /** The codec. */
  public static final Codec<NumberChange> CODEC = Codec.of(NumberChange.class, LAYOUT);

  @Override
  public int number() {
    return 14;
  }

  @Override
  public Codec<NumberChange> codec() {
    return CODEC;
  }
}
