/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.util.List;

/**
 * Says to another namenode how much its shares of spread directories may use of the limits of those
 * directories, and returns what they use. The owner of the directories sends it. A request with a
 * lower version than one before it comes too late, and changes nothing.
 */
public final class LendQuota {
  /** Most directories in a request. */
  public static final int MAX_DIRECTORIES = 1024;

  private LendQuota() {}

  /**
   * The part of a limit that a share may use.
   *
   * @param id the id of the directory
   * @param bytes the most bytes; -1 for any number
   * @param names the most names; -1 for any number
   */
  public record Slice(long id, long bytes, long names) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("LendQuota.Slice")
            .i64("id", "the id of the directory")
            .i64("bytes", "the most bytes; -1 for any number")
            .i64("names", "the most names; -1 for any number");

    /** The codec. */
    public static final Codec<Slice> CODEC = Codec.of(Slice.class, LAYOUT);
  }

  /**
   * The request.
   *
   * @param owner index of the namenode that owns the directories
   * @param incarnation the owner's start
   * @param version number of the request, above that of all earlier ones
   * @param slices what each share may use
   */
  public record Request(int owner, long incarnation, long version, List<Slice> slices) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("LendQuota.Request")
            .u16("owner", "index of the namenode that owns the directories")
            .i64("incarnation", "the owner's start")
            .i64("version", "number of the request")
            .u16("sliceCount", "number of slices")
            .list("slices", "sliceCount", Slice.CODEC, MAX_DIRECTORIES);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * What a share uses.
   *
   * @param id the id of the directory
   * @param counted whether it counts; a share that had children before does not
   * @param refused whether it has refused something since the last answer
   * @param bytes bytes that are used
   * @param names names that are used
   * @param bytesSlice the most bytes now: as was said, or as many as are used
   * @param namesSlice the most names now, likewise
   */
  public record Use(
      long id,
      boolean counted,
      boolean refused,
      long bytes,
      long names,
      long bytesSlice,
      long namesSlice) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("LendQuota.Use")
            .i64("id", "the id of the directory")
            .u8("counted", "whether it counts; 0 or 1")
            .u8("refused", "whether it has refused something; 0 or 1")
            .i64("bytes", "bytes that are used")
            .i64("names", "names that are used")
            .i64("bytesSlice", "the most bytes now; -1 for any number")
            .i64("namesSlice", "the most names now; -1 for any number");

    /** The codec. */
    public static final Codec<Use> CODEC = Codec.of(Use.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param uses those of the shares that are there
   */
  public record Response(List<Use> uses) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("LendQuota.Response")
            .u16("useCount", "number of uses")
            .list("uses", "useCount", Use.CODEC, MAX_DIRECTORIES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
