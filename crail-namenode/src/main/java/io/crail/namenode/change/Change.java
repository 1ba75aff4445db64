/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A change of the metadata, as a record of what is there afterwards: ids, names, places, times and
 * generations are decided. So it can be applied elsewhere or later. Numbers are permanent. Owners,
 * groups, hosts and datanodes are numbers, which records of {@link SpaceChange} have given before.
 *
 * <p>What follows from a change has no record of its own: the end of what is below a removed
 * container, and of a node that was to replace one that ends; free space, and how long it rests. A
 * staged node ends with a record of its own, also after the end of its container. A request that
 * has found a node before a container above it was removed may still change that node, or create
 * one there. Its record comes after that of the removal, and has no effect.
 *
 * <p>A record is made only if it is received, see {@link ChangeSink}.
 */
public interface Change {
  /** The most extents in a record. */
  int MAX_EXTENTS = 1 << 16;

  /** The most bytes of a name. */
  int MOST_NAME = 255;

  /** The number that says which record this is. */
  int number();

  /** The codec of the record. */
  Codec<? extends Change> codec();

  /**
   * An extent of a node with all of its space.
   *
   * @param extent the bytes of the node that it holds
   * @param allocated the length of its space in bytes at each place, more than the bytes after a
   *     seal
   */
  record Held(Extent extent, int allocated) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Held")
            .i32("allocated", "bytes of its space at each place")
            .u8("extentLength", "bytes of the extent")
            .part("extent", "extentLength", Extent.CODEC, "the bytes of the node");

    /** The codec. It is written by hand because a start reads millions of them. */
    public static final Codec<Held> CODEC =
        new Codec<>(Held.class, LAYOUT) {
          @Override
          public int length(Held message) {
            return LAYOUT.fixedLength() + Extent.CODEC.length(message.extent);
          }

          @Override
          public void encode(Held message, ByteBuffer out, int offset) {
            out.putInt(offset + ALLOCATED, message.allocated);
            out.put(offset + EXTENT_LENGTH, (byte) Extent.CODEC.length(message.extent));
            Extent.CODEC.encode(message.extent, out, offset + LAYOUT.fixedLength());
          }

          @Override
          public Held read(ByteBuffer in, int offset) throws CrailException {
            int length = in.get(offset + EXTENT_LENGTH) & 0xff;
            return new Held(
                Extent.CODEC.decode(in, offset + LAYOUT.fixedLength(), length),
                in.getInt(offset + ALLOCATED));
          }
        };

    private static final int ALLOCATED = LAYOUT.offset("allocated");
    private static final int EXTENT_LENGTH = LAYOUT.offset("extentLength");

    static Held of(Allocation allocation) {
      return new Held(allocation.extent(), allocation.allocatedLength());
    }
  }

  /**
   * The bytes and the writer of a node.
   *
   * @param id the node's id
   * @param size bytes that readers see
   * @param modifiedMillis milliseconds since 1970
   * @param flags as in {@code NodeInfo}
   * @param token the write lease; 0 for none
   * @param client the client that holds it
   * @param ending whether the lease runs out whatever the client renews
   * @param from the position from which on the extents are listed
   * @param to the position up to which they are listed; those outside are as before
   * @param end the end of all extents; what was behind it is gone
   * @param value whether there is a small value, and which: {@link #NO_VALUE}, {@link #NEW_VALUE},
   *     {@link #SAME_VALUE} or {@link #LONGER_VALUE}
   * @param replaces the node whose place this one takes with its last bytes, or the staged node
   *     whose extents it gets behind its former size, and which are not listed; that node ends; 0
   *     for none
   * @param moved whether the listed extent is a copy: {@link #NOT_MOVED}, {@link #MOVED} or {@link
   *     #MOVED_BACK}
   * @param extents the extents
   * @param bytes a new small value, or the new bytes of a longer one
   * @param attributes whether it has extras, and which attributes: {@link #NO_EXTRAS}, {@link
   *     #NEW_ATTRIBUTES} or {@link #SAME_ATTRIBUTES}
   * @param extras what compound operations have given it, without attributes that are the same; at
   *     most one
   */
  record Contents(
      long id,
      long size,
      long modifiedMillis,
      int flags,
      long token,
      long client,
      boolean ending,
      long from,
      long to,
      long end,
      int value,
      long replaces,
      int moved,
      List<Held> extents,
      SmallValue bytes,
      int attributes,
      List<NodeExtras> extras)
      implements Change {
    /** The node has no small value. */
    public static final int NO_VALUE = 0;

    /** The bytes are the small value. */
    public static final int NEW_VALUE = 1;

    /** The node has the small value that it had. */
    public static final int SAME_VALUE = 2;

    /**
     * The bytes are the last ones of the small value. Those before them are the first ones of the
     * value that the node had.
     */
    public static final int LONGER_VALUE = 3;

    /** No compound operation has changed the node. */
    public static final int NO_EXTRAS = 0;

    /** The extras have all attributes. */
    public static final int NEW_ATTRIBUTES = 1;

    /** The node has the attributes that it had. */
    public static final int SAME_ATTRIBUTES = 2;

    /** No extent was moved. */
    public static final int NOT_MOVED = 0;

    /**
     * The listed extent is the copy for which {@link Grant} gave the space. The former extent keeps
     * its bytes until the datanode of the copy has shown that it is alive.
     */
    public static final int MOVED = 1;

    /** The listed extent is the former one of a {@link #MOVED} copy, whose datanode is in doubt. */
    public static final int MOVED_BACK = 2;

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Contents")
            .i64("id", "node id")
            .i64("size", "bytes that readers see")
            .i64("modifiedMillis", "milliseconds since 1970")
            .u8("flags", "as in NodeInfo")
            .i64("token", "the write lease; 0 for none")
            .i64("client", "the holder of the lease")
            .u8("ending", "1 if the lease runs out by itself")
            .i64("from", "where the listed extents begin")
            .i64("to", "where they end; others are as before")
            .i64("end", "the end of all extents")
            .u8("value", "0 no small value, 1 these bytes, 2 as before, 3 these bytes at its end")
            .i64("replaces", "the node whose place or staged extents this one takes; 0 for none")
            .u8("moved", "0 no, 1 the extent is a copy, 2 it is the former one again")
            .i32("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .i32("bytesLength", "bytes of a small value")
            .u8("attributes", "0 no extras, 1 all are in extras, 2 as before")
            .u8("extrasCount", "1 after a compound operation, otherwise 0")
            .i32("extrasLength", "bytes of extras")
            .parts("extents", "extentsCount", "extentsLength", Held.CODEC, MAX_EXTENTS)
            .bytes("bytes", "bytesLength", 0, SmallValue.MAX_LENGTH, "a new small value")
            .parts("extras", "extrasCount", "extrasLength", NodeExtras.CODEC, 1);

    /** The codec. It is written by hand because a start reads millions of them. */
    public static final Codec<Contents> CODEC =
        new Codec<>(Contents.class, LAYOUT) {
          @Override
          public int length(Contents message) {
            return LAYOUT.fixedLength()
                + Held.CODEC.lengthOfAll(message.extents)
                + message.bytes.length()
                + NodeExtras.CODEC.lengthOfAll(message.extras);
          }

          @Override
          public void encode(Contents message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + SIZE, message.size);
            out.putLong(offset + MODIFIED, message.modifiedMillis);
            out.put(offset + FLAGS, (byte) message.flags);
            out.putLong(offset + TOKEN, message.token);
            out.putLong(offset + CLIENT, message.client);
            out.put(offset + ENDING, (byte) (message.ending ? 1 : 0));
            out.putLong(offset + FROM, message.from);
            out.putLong(offset + TO, message.to);
            out.putLong(offset + END, message.end);
            out.put(offset + VALUE, (byte) message.value);
            out.putLong(offset + REPLACES, message.replaces);
            out.put(offset + IS_MOVED, (byte) message.moved);
            int extentsLength = Held.CODEC.lengthOfAll(message.extents);
            int extrasLength = NodeExtras.CODEC.lengthOfAll(message.extras);
            out.putInt(offset + EXTENTS_COUNT, message.extents.size());
            out.putInt(offset + EXTENTS_LENGTH, extentsLength);
            out.putInt(offset + BYTES_LENGTH, message.bytes.length());
            out.put(offset + ATTRIBUTES, (byte) message.attributes);
            out.put(offset + EXTRAS_COUNT, (byte) message.extras.size());
            out.putInt(offset + EXTRAS_LENGTH, extrasLength);
            int at = offset + LAYOUT.fixedLength();
            Held.CODEC.encodeAll(message.extents, out, at);
            message.bytes.copyTo(out, at + extentsLength);
            NodeExtras.CODEC.encodeAll(
                message.extras, out, at + extentsLength + message.bytes.length());
          }

          @Override
          public Contents read(ByteBuffer in, int offset) throws CrailException {
            int extentsLength = in.getInt(offset + EXTENTS_LENGTH);
            int bytesLength = in.getInt(offset + BYTES_LENGTH);
            int at = offset + LAYOUT.fixedLength();
            return new Contents(
                in.getLong(offset + ID),
                in.getLong(offset + SIZE),
                in.getLong(offset + MODIFIED),
                in.get(offset + FLAGS) & 0xff,
                in.getLong(offset + TOKEN),
                in.getLong(offset + CLIENT),
                in.get(offset + ENDING) != 0,
                in.getLong(offset + FROM),
                in.getLong(offset + TO),
                in.getLong(offset + END),
                in.get(offset + VALUE) & 0xff,
                in.getLong(offset + REPLACES),
                in.get(offset + IS_MOVED) & 0xff,
                Held.CODEC.decodeAll(in, at, in.getInt(offset + EXTENTS_COUNT), extentsLength),
                SmallValue.copyOf(in, at + extentsLength, bytesLength),
                in.get(offset + ATTRIBUTES) & 0xff,
                NodeExtras.CODEC.decodeAll(
                    in,
                    at + extentsLength + bytesLength,
                    in.get(offset + EXTRAS_COUNT) & 0xff,
                    in.getInt(offset + EXTRAS_LENGTH)));
          }
        };

    private static final int ID = LAYOUT.offset("id");
    private static final int SIZE = LAYOUT.offset("size");
    private static final int MODIFIED = LAYOUT.offset("modifiedMillis");
    private static final int FLAGS = LAYOUT.offset("flags");
    private static final int TOKEN = LAYOUT.offset("token");
    private static final int CLIENT = LAYOUT.offset("client");
    private static final int ENDING = LAYOUT.offset("ending");
    private static final int FROM = LAYOUT.offset("from");
    private static final int TO = LAYOUT.offset("to");
    private static final int END = LAYOUT.offset("end");
    private static final int VALUE = LAYOUT.offset("value");
    private static final int REPLACES = LAYOUT.offset("replaces");
    private static final int IS_MOVED = LAYOUT.offset("moved");
    private static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");
    private static final int EXTENTS_LENGTH = LAYOUT.offset("extentsLength");
    private static final int BYTES_LENGTH = LAYOUT.offset("bytesLength");
    private static final int ATTRIBUTES = LAYOUT.offset("attributes");
    private static final int EXTRAS_COUNT = LAYOUT.offset("extrasCount");
    private static final int EXTRAS_LENGTH = LAYOUT.offset("extrasLength");

    /**
     * The present contents of a node. Under its monitor.
     *
     * @param from the position from which on its extents may be new
     * @param to the position up to which they may be new
     * @param unchanged the first bytes of its small value, which are as they were; as many as there
     *     are, or more, for all
     * @param moved whether an extent was moved
     * @param attributes as in the record
     * @param extras what compound operations have given it
     */
    static Contents of(
        Node node,
        long from,
        long to,
        int unchanged,
        long replaces,
        int moved,
        int attributes,
        NodeExtras extras) {
      NodeSpace space = node.space();
      WriteLease<Node> lease = node.lease();
      List<Held> extents = new ArrayList<>();
      int count = space == null ? 0 : space.count();
      for (int i = count == 0 ? 0 : space.indexOf(from); i < count; i++) {
        if (space.at(i).fileOffset() >= to) {
          break;
        }
        extents.add(Held.of(space.at(i)));
      }
      SmallBytes small = space == null ? null : space.small();
      int length = small == null ? 0 : small.length();
      int value =
          small == null
              ? NO_VALUE
              : unchanged >= length ? SAME_VALUE : unchanged == 0 ? NEW_VALUE : LONGER_VALUE;
      return new Contents(
          node.id(),
          node.size(),
          node.modifiedMillis(),
          node.flags(),
          lease == null ? 0 : lease.token(),
          lease == null ? 0 : lease.client().clientId(),
          lease != null && lease.isEnding(),
          from,
          to,
          space == null ? 0 : space.end(),
          value,
          replaces,
          moved,
          extents,
          unchanged < length
              ? SmallValue.of(small.bytes(unchanged, length - unchanged))
              : SmallValue.NONE,
          attributes,
          attributes == NO_EXTRAS
              ? List.of()
              : List.of(attributes == NEW_ATTRIBUTES ? extras : extras.withoutAttributes()));
    }

    @Override
    public int number() {
      return 5;
    }

    @Override
    public Codec<Contents> codec() {
      return CODEC;
    }
  }

  /**
   * A new node, or one that was staged and gets its name; the extents of that are not listed again.
   *
   * @param parent the container's id
   * @param accessedMillis milliseconds since 1970
   * @param attributes permission bits, owner and group, see {@link Node#attributes(int, int, int)}
   * @param replaces the node in whose place it is; 0 for none
   * @param whole bytes of the value with which it will replace that node, or which are staged if it
   *     replaces none; -1 if it has its name now
   * @param type number of the type
   * @param storageClass the storage class
   * @param host number of the preferred host
   * @param name the name
   * @param contents the id, the bytes and the writer
   */
  record Link(
      long parent,
      long accessedMillis,
      long attributes,
      long replaces,
      long whole,
      int type,
      int storageClass,
      int host,
      Utf8 name,
      Contents contents)
      implements Change {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Link")
            .i64("parent", "the container's id")
            .i64("accessedMillis", "milliseconds since 1970")
            .i64("attributes", "permission bits, owner, group")
            .i64("replaces", "the node in whose place it is; 0 for none")
            .i64("whole", "bytes with which it will replace it, or that are staged; -1 if now")
            .u8("type", "number of the type")
            .u8("storageClass", "storage class")
            .u16("host", "number of the preferred host")
            .u16("nameLength", "bytes of the name")
            .i32("contentsLength", "bytes of the contents")
            .bytes("name", "nameLength", 1, MOST_NAME, "the name")
            .part("contents", "contentsLength", Contents.CODEC, "id, bytes and writer");

    /** The codec. It is written by hand because a start reads millions of them. */
    public static final Codec<Link> CODEC =
        new Codec<>(Link.class, LAYOUT) {
          @Override
          public int length(Link message) {
            return LAYOUT.fixedLength()
                + message.name.length()
                + Contents.CODEC.length(message.contents);
          }

          @Override
          public void encode(Link message, ByteBuffer out, int offset) {
            out.putLong(offset + PARENT, message.parent);
            out.putLong(offset + ACCESSED, message.accessedMillis);
            out.putLong(offset + ATTRIBUTES, message.attributes);
            out.putLong(offset + REPLACES, message.replaces);
            out.putLong(offset + WHOLE, message.whole);
            out.put(offset + TYPE, (byte) message.type);
            out.put(offset + STORAGE_CLASS, (byte) message.storageClass);
            out.putShort(offset + HOST, (short) message.host);
            out.putShort(offset + NAME_LENGTH, (short) message.name.length());
            out.putInt(offset + CONTENTS_LENGTH, Contents.CODEC.length(message.contents));
            int at = offset + LAYOUT.fixedLength();
            message.name.copyTo(out, at);
            Contents.CODEC.encode(message.contents, out, at + message.name.length());
          }

          @Override
          public Link read(ByteBuffer in, int offset) throws CrailException {
            int nameLength = in.getShort(offset + NAME_LENGTH) & 0xffff;
            int at = offset + LAYOUT.fixedLength();
            return new Link(
                in.getLong(offset + PARENT),
                in.getLong(offset + ACCESSED),
                in.getLong(offset + ATTRIBUTES),
                in.getLong(offset + REPLACES),
                in.getLong(offset + WHOLE),
                in.get(offset + TYPE) & 0xff,
                in.get(offset + STORAGE_CLASS) & 0xff,
                in.getShort(offset + HOST) & 0xffff,
                Utf8.copyOf(in, at, nameLength),
                Contents.CODEC.decode(in, at + nameLength, in.getInt(offset + CONTENTS_LENGTH)));
          }
        };

    private static final int PARENT = LAYOUT.offset("parent");
    private static final int ACCESSED = LAYOUT.offset("accessedMillis");
    private static final int ATTRIBUTES = LAYOUT.offset("attributes");
    private static final int REPLACES = LAYOUT.offset("replaces");
    private static final int WHOLE = LAYOUT.offset("whole");
    private static final int TYPE = LAYOUT.offset("type");
    private static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
    private static final int HOST = LAYOUT.offset("host");
    private static final int NAME_LENGTH = LAYOUT.offset("nameLength");
    private static final int CONTENTS_LENGTH = LAYOUT.offset("contentsLength");

    static Link of(Node node, long replaces, long whole, NodeExtras extras) {
      return of(node, replaces, whole, Long.MAX_VALUE, extras);
    }

    /** A node that was staged, whose extents are as they were, and which gets its name. */
    static Link ofStaged(Node node, long replaces, NodeExtras extras) {
      return of(node, replaces, -1, 0, extras);
    }

    private static Link of(Node node, long replaces, long whole, long to, NodeExtras extras) {
      return new Link(
          node.parent().id(),
          node.accessedMillis(),
          node.attributes(),
          replaces,
          whole,
          node.typeNumber(),
          node.storageClass(),
          node.host(),
          nameOf(node),
          Contents.of(
              node,
              0,
              to,
              0,
              0,
              Contents.NOT_MOVED,
              node.hasExtras() ? Contents.NEW_ATTRIBUTES : Contents.NO_EXTRAS,
              extras));
    }

    @Override
    public int number() {
      return 1;
    }

    @Override
    public Codec<Link> codec() {
      return CODEC;
    }
  }

  /**
   * The end of a node, and of all that is below it.
   *
   * @param id the node's id
   * @param millis when it was removed, in milliseconds since 1970
   */
  record Unlink(long id, long millis) implements Change {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Unlink")
            .i64("id", "node id")
            .i64("millis", "when, in milliseconds since 1970");

    /** The codec. */
    public static final Codec<Unlink> CODEC = Codec.of(Unlink.class, LAYOUT);

    @Override
    public int number() {
      return 2;
    }

    @Override
    public Codec<Unlink> codec() {
      return CODEC;
    }
  }

  /**
   * Another name of a node.
   *
   * @param id the node's id
   * @param parent the container's id
   * @param millis when it was renamed, in milliseconds since 1970
   * @param replaces the node in whose place it is; 0 for none
   * @param heir the node that keeps the former name; 0 for none
   * @param name the name
   */
  record Rename(long id, long parent, long millis, long replaces, long heir, Utf8 name)
      implements Change {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Rename")
            .i64("id", "node id")
            .i64("parent", "the container's id")
            .i64("millis", "when, in milliseconds since 1970")
            .i64("replaces", "the node in whose place it is; 0 for none")
            .i64("heir", "the node that keeps the former name; 0 for none")
            .u16("nameLength", "bytes of the name")
            .bytes("name", "nameLength", 1, MOST_NAME, "the name");

    /** The codec. */
    public static final Codec<Rename> CODEC = Codec.of(Rename.class, LAYOUT);

    @Override
    public int number() {
      return 3;
    }

    @Override
    public Codec<Rename> codec() {
      return CODEC;
    }
  }

  /**
   * Attributes and times of a node.
   *
   * @param id the node's id
   * @param attributes permission bits, owner and group, see {@link Node#attributes(int, int, int)}
   * @param modifiedMillis milliseconds since 1970
   * @param accessedMillis milliseconds since 1970
   */
  record Attributes(long id, long attributes, long modifiedMillis, long accessedMillis)
      implements Change {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Attributes")
            .i64("id", "node id")
            .i64("attributes", "permission bits, owner, group")
            .i64("modifiedMillis", "milliseconds since 1970")
            .i64("accessedMillis", "milliseconds since 1970");

    /** The codec. */
    public static final Codec<Attributes> CODEC = Codec.of(Attributes.class, LAYOUT);

    @Override
    public int number() {
      return 4;
    }

    @Override
    public Codec<Attributes> codec() {
      return CODEC;
    }
  }

  /**
   * Space that is granted for the copy of an extent.
   *
   * @param grant names the space; the id of no node
   * @param token the token that belongs to the space
   * @param client the client that copies
   * @param storageClass the storage class that the copy must stay in
   * @param host number of the preferred host
   * @param extent the space
   */
  record Grant(long grant, long token, long client, int storageClass, int host, Held extent)
      implements Change {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Change.Grant")
            .i64("grant", "names the space")
            .i64("token", "belongs to the space")
            .i64("client", "the client that copies")
            .u8("storageClass", "the storage class that the copy must stay in")
            .u16("host", "number of the preferred host")
            .u8("extentLength", "bytes of the extent")
            .part("extent", "extentLength", Held.CODEC, "the space");

    /** The codec. */
    public static final Codec<Grant> CODEC = Codec.of(Grant.class, LAYOUT);

    static Grant of(Quarantine.Grant grant, Allocation extent) {
      return new Grant(
          grant.node(),
          grant.token(),
          grant.client(),
          grant.storageClass(),
          grant.host(),
          Held.of(extent));
    }

    @Override
    public int number() {
      return 6;
    }

    @Override
    public Codec<Grant> codec() {
      return CODEC;
    }
  }

  /** The name of a node. */
  static Utf8 nameOf(Node node) {
    byte[] bytes = node.nameBytes();
    return Utf8.copyOf(bytes, 0, bytes.length);
  }

  /** The id of a node; 0 for none. */
  static long idOf(Node node) {
    return node == null ? 0 : node.id();
  }
}
