/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.Utf8;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TextLimits;
import java.util.List;
import java.util.UUID;
import java.util.function.ObjIntConsumer;

/**
 * The changes of what nodes refer to by number: users and groups, hosts, and the datanodes with
 * their regions. Their records come before those of nodes that have the number, and that of a
 * forgotten datanode comes after the last node that had space of it. What a namenode hears of the
 * life of datanodes is in no record, and begins anew with the process: signs of life, suspicions,
 * and which clients a datanode must cut off because they have lost a lease.
 */
public sealed interface SpaceChange extends Change {
  /**
   * A number of a user or group. Its slot, which is in the lower bits, had another name before,
   * which no node has any more.
   *
   * @param user the number
   * @param name the name
   */
  record User(int user, Utf8 name) implements SpaceChange {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.User")
            .i32("user", "the number")
            .u16("nameLength", "bytes of the name")
            .bytes("name", "nameLength", 1, TextLimits.USER, "the name");

    /** The codec. */
    public static final Codec<User> CODEC = Codec.of(User.class, LAYOUT);

    /** Reports the names that get a number; {@code sink} may be null. */
    public static ObjIntConsumer<Utf8> reports(ChangeSink sink) {
      return sink == null
          ? (name, number) -> {}
          : (name, number) -> sink.changed(new User(number, name));
    }

    @Override
    public int number() {
      return 7;
    }

    @Override
    public Codec<User> codec() {
      return CODEC;
    }
  }

  /**
   * A number of a host, which it keeps.
   *
   * @param host the number
   * @param name the name, in small letters
   */
  record Host(int host, Utf8 name) implements SpaceChange {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.Host")
            .u16("host", "the number")
            .u16("nameLength", "bytes of the name")
            .bytes("name", "nameLength", 1, TextLimits.HOST, "the name, in small letters");

    /** The codec. */
    public static final Codec<Host> CODEC = Codec.of(Host.class, LAYOUT);

    /** Reports the names that get a number; {@code sink} may be null. */
    public static ObjIntConsumer<Utf8> reports(ChangeSink sink) {
      return sink == null
          ? (name, number) -> {}
          : (name, number) -> sink.changed(new Host(number, name));
    }

    @Override
    public int number() {
      return 8;
    }

    @Override
    public Codec<Host> codec() {
      return CODEC;
    }
  }

  /**
   * A datanode, and what it may be used for.
   *
   * @param id its id
   * @param host number of its host
   * @param state number of its {@link DatanodeSpace.State}, or {@link #FORGOTTEN}
   * @param stopped whether the namenode has asked it to end
   * @param description what it has said of itself
   */
  record Datanode(
      int id, int host, int state, boolean stopped, RegisterDatanode.Description description)
      implements SpaceChange {
    /** It is there no more. Another one may get its id. */
    public static final int FORGOTTEN = 3;

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.Datanode")
            .i32("id", "its id")
            .u16("host", "number of its host")
            .u8("state", "0 active, 1 draining, 2 dead, 3 forgotten")
            .u8("stopped", "whether the namenode has asked it to end; 0 or 1")
            .u16("descriptionLength", "bytes of the description")
            .part(
                "description",
                "descriptionLength",
                RegisterDatanode.Description.CODEC,
                "what it has said of itself");

    /** The codec. */
    public static final Codec<Datanode> CODEC = Codec.of(Datanode.class, LAYOUT);

    static Datanode of(DatanodeSpace datanode, int state, boolean isStopped) {
      return new Datanode(datanode.id(), datanode.host(), state, isStopped, datanode.description());
    }

    @Override
    public int number() {
      return 9;
    }

    @Override
    public Codec<Datanode> codec() {
      return CODEC;
    }
  }

  /**
   * A datanode that keeps its bytes, and the process that has them now. Its regions have the
   * addresses and keys that the records before this one have.
   *
   * @param id its id
   * @param host number of its host
   * @param keeper the identity of the bytes
   * @param start how many processes have had them
   * @param description what the process has said of itself
   */
  record Kept(int id, int host, UUID keeper, long start, RegisterDatanode.Description description)
      implements SpaceChange {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.Kept")
            .i32("id", "its id")
            .u16("host", "number of its host")
            .struct("keeper", Codec.UUID, "the identity of the bytes")
            .i64("start", "how many processes have had them")
            .u16("descriptionLength", "bytes of the description")
            .part(
                "description",
                "descriptionLength",
                RegisterDatanode.Description.CODEC,
                "what the process has said of itself");

    /** The codec. */
    public static final Codec<Kept> CODEC = Codec.of(Kept.class, LAYOUT);

    static Kept of(DatanodeSpace datanode) {
      return new Kept(
          datanode.id(),
          datanode.host(),
          datanode.keeping().keeper(),
          datanode.keeping().start(),
          datanode.description());
    }

    @Override
    public int number() {
      return 15;
    }

    @Override
    public Codec<Kept> codec() {
      return CODEC;
    }
  }

  /**
   * Whether what is free at a datanode is held back, as clients may have got it by changes that are
   * lost. That it begins follows from the record of a start, except where a state is written as a
   * whole; then there may be several of one datanode, with some of the clients each.
   *
   * @param datanode the datanode's id
   * @param isHeld false if no such client can write there any more
   * @param clients those that have to be cut off, if it is held
   */
  record HeldBack(int datanode, boolean isHeld, List<Long> clients) implements SpaceChange {
    /** The most clients in one record. */
    public static final int MAX_CLIENTS = 1024;

    private static final Codec<Long> CLIENT = Codec.ofLong("Client id", "id", "client id");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.HeldBack")
            .i32("datanode", "the datanode's id")
            .u8("isHeld", "whether what is free there is held back; 0 or 1")
            .u16("clientCount", "number of clients")
            .list("clients", "clientCount", CLIENT, MAX_CLIENTS);

    /** The codec. */
    public static final Codec<HeldBack> CODEC = Codec.of(HeldBack.class, LAYOUT);

    @Override
    public int number() {
      return 16;
    }

    @Override
    public Codec<HeldBack> codec() {
      return CODEC;
    }
  }

  /**
   * A region that a datanode lends. One that it has lent before has another address and key.
   *
   * @param datanode the datanode's id
   * @param generation the number above which the generations of its space begin
   * @param region the region
   */
  record LentRegion(int datanode, long generation, Region region) implements SpaceChange {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SpaceChange.LentRegion")
            .i32("datanode", "the datanode's id")
            .i64("generation", "the number above which its generations begin")
            .struct("region", Region.CODEC);

    /** The codec. */
    public static final Codec<LentRegion> CODEC = Codec.of(LentRegion.class, LAYOUT);

    @Override
    public int number() {
      return 10;
    }

    @Override
    public Codec<LentRegion> codec() {
      return CODEC;
    }
  }
}
