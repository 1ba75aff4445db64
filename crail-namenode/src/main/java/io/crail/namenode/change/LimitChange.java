/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * The limits of a container, and what it has besides: all that a compound operation has changed.
 * From the first such record on, the container has an account of its own. What is used follows from
 * the other records.
 *
 * @param bytes the most bytes below; -1 for any number
 * @param names the most nodes below; -1 for any number
 * @param contents the container
 */
public record LimitChange(long bytes, long names, Change.Contents contents) implements Change {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("LimitChange")
          .i64("bytes", "the most bytes below; -1 for any number")
          .i64("names", "the most nodes below; -1 for any number")
          .i32("contentsLength", "bytes of the contents")
          .part("contents", "contentsLength", Contents.CODEC, "the container");

  /** The codec. */
  public static final Codec<LimitChange> CODEC = Codec.of(LimitChange.class, LAYOUT);

  static LimitChange of(Container container, NodeExtras extras) {
    Quota.Limits limits = container.quota().usage().limits();
    return new LimitChange(
        limits.bytes(),
        limits.names(),
        Contents.of(
            container,
            0,
            0,
            Integer.MAX_VALUE,
            0,
            Contents.NOT_MOVED,
            container.hasExtras() ? Contents.NEW_ATTRIBUTES : Contents.NO_EXTRAS,
            extras));
  }

  @Override
  public int number() {
    return 12;
  }

  @Override
  public Codec<LimitChange> codec() {
    return CODEC;
  }
}
