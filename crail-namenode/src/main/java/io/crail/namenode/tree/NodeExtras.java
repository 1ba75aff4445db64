/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Lifetime;
import io.crail.namenode.memory.Footprint;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.UserAttribute;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a node has that compound operations have changed, or whose lifetime is limited, and no other
 * node. Immutable.
 *
 * @param version how often lists have changed the node, or others its bytes since the first list
 * @param epoch only ever raised; writers that guard with an older one are refused
 * @param endMillis when the node ends, in milliseconds since 1970; 0 for never. Accesses may have
 *     put it off, see {@link #idleMillis}
 * @param idleMillis how long it lives after an access; 0 if accesses do not count
 * @param childMillis how long each new child of this container lives; 0 for no limit
 * @param childIdle whether accesses count for such a child
 * @param attributes those that programs have given it, in the order of their names
 */
public record NodeExtras(
    long version,
    long epoch,
    long endMillis,
    long idleMillis,
    long childMillis,
    boolean childIdle,
    List<UserAttribute> attributes) {
  /** Those of other nodes. */
  public static final NodeExtras NONE = new NodeExtras(0, 0, 0, 0, 0, false, List.of());

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("NodeExtras")
          .i64("version", "how often it was changed")
          .i64("epoch", "its epoch")
          .i64("endMillis", "when it ends, milliseconds since 1970; 0 for never")
          .i64("idleMillis", "how long it lives after an access; 0 if accesses do not count")
          .i64("childMillis", "how long each new child lives; 0 for no limit")
          .u8("childIdle", "whether accesses count for such a child; 0 or 1")
          .u16("attributesCount", "number of attributes")
          .i32("attributesLength", "bytes of attributes")
          .page(
              "attributes",
              "attributesCount",
              "attributesLength",
              UserAttribute.CODEC,
              UserAttribute.MAX_BYTES);

  /** The codec. */
  public static final Codec<NodeExtras> CODEC = Codec.of(NodeExtras.class, LAYOUT);

  private static final long OWN =
      Footprint.MAP_ENTRY + Footprint.object(1, 5 * Long.BYTES + 1) + Footprint.object(1, 8);

  /** Its place in the order of {@link Expiries}. */
  private static final long EXPIRY = Footprint.object(1, Long.BYTES) + Footprint.SORTED_ENTRY;

  /** The number that is written in an attribute, as decimal text. */
  public static long number(byte[] value) throws CrailException {
    try {
      return Long.parseLong(new String(value, StandardCharsets.US_ASCII));
    } catch (NumberFormatException e) {
      throw ErrorCode.INVALID_ARGUMENT.exception("the attribute is not a number");
    }
  }

  /** A number as an attribute has it. */
  public static byte[] text(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** Bytes of heap. */
  public long footprint() {
    long bytes = OWN + Footprint.references(attributes.size()) + (endMillis == 0 ? 0 : EXPIRY);
    for (UserAttribute attribute : attributes) {
      bytes +=
          Footprint.object(2, 0)
              + Footprint.object(1, 8)
              + Footprint.bytes(attribute.name().length())
              + Footprint.object(1, 0)
              + Footprint.bytes(attribute.value().length());
    }
    return bytes;
  }

  /** Bytes of all attributes in the form of messages. */
  public int attributeBytes() {
    int bytes = attributes.size() * UserAttribute.LAYOUT.fixedLength();
    for (int i = 0; i < attributes.size(); i++) {
      bytes += attributes.get(i).name().length() + attributes.get(i).value().length();
    }
    return bytes;
  }

  /** The same without attributes. */
  public NodeExtras withoutAttributes() {
    return withAttributes(List.of());
  }

  /** The same with a higher version. */
  public NodeExtras changed() {
    return new NodeExtras(
        version + 1, epoch, endMillis, idleMillis, childMillis, childIdle, attributes);
  }

  /** The same with another epoch. */
  public NodeExtras withEpoch(long newEpoch) {
    return new NodeExtras(
        version, newEpoch, endMillis, idleMillis, childMillis, childIdle, attributes);
  }

  /** The same with another lifetime, which begins now. */
  public NodeExtras withLifetime(Lifetime lifetime, long nowMillis) {
    long end = lifetime.isLimited() ? nowMillis + lifetime.millis() : 0;
    long idle = lifetime.sinceAccess() ? lifetime.millis() : 0;
    return new NodeExtras(version, epoch, end, idle, childMillis, childIdle, attributes);
  }

  /** The same with another end. */
  public NodeExtras endingAt(long newEndMillis) {
    return new NodeExtras(
        version, epoch, newEndMillis, idleMillis, childMillis, childIdle, attributes);
  }

  /** The same with another lifetime of new children. */
  public NodeExtras withLifetimeOfChildren(Lifetime lifetime) {
    return new NodeExtras(
        version,
        epoch,
        endMillis,
        idleMillis,
        lifetime.millis(),
        lifetime.sinceAccess(),
        attributes);
  }

  /** Those of a new child of this container; null for none. */
  public NodeExtras ofChild(long nowMillis) {
    return childMillis == 0 ? null : NONE.withLifetime(lifetimeOfChildren(), nowMillis);
  }

  /**
   * How long the node lives if it is not accessed any more, in milliseconds; -1 for no limit. For
   * one whose end accesses put off, this is an access.
   */
  public long remaining(long nowMillis) {
    long end = idleMillis > 0 ? nowMillis + idleMillis : endMillis;
    return endMillis == 0 ? -1 : Math.max(0, end - nowMillis);
  }

  /** How long each new child of this container lives. */
  public Lifetime lifetimeOfChildren() {
    return childMillis == 0 ? Lifetime.UNLIMITED : new Lifetime(childMillis, childIdle);
  }

  /** The same with other attributes, which are in the order of their names. */
  public NodeExtras withAttributes(List<UserAttribute> others) {
    return new NodeExtras(version, epoch, endMillis, idleMillis, childMillis, childIdle, others);
  }

  /** The value of an attribute; null for none. */
  public SmallValue attribute(Utf8 name) {
    int at = indexOf(name);
    return at < 0 ? null : attributes.get(at).value();
  }

  /**
   * The same with another value of an attribute.
   *
   * @param value the value; null to remove it
   */
  public NodeExtras with(Utf8 name, SmallValue value) {
    int at = indexOf(name);
    List<UserAttribute> changed = new ArrayList<>(attributes);
    if (at >= 0) {
      changed.remove(at);
    }
    if (value != null) {
      changed.add(at >= 0 ? at : -at - 1, new UserAttribute(name, value));
    }
    return withAttributes(List.copyOf(changed));
  }

  /** As {@link java.util.Collections#binarySearch} says. */
  private int indexOf(Utf8 name) {
    int low = 0;
    int high = attributes.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = attributes.get(middle).name().compareTo(name);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -low - 1;
  }
}
