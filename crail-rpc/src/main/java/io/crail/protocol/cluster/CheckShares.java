/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.util.List;

/**
 * Compares the shares that a namenode has with the spread directories that another one owns. The
 * namenode drops what the owner does not name, and returns what it has to be told again: shares
 * that it lacks, since it was started again, and those in an older state.
 */
public final class CheckShares {
  /** Most directories in a request. */
  public static final int MAX_DIRECTORIES = 1024;

  private CheckShares() {}

  /**
   * A spread directory.
   *
   * @param id its id
   * @param version number of its present state
   */
  public record Directory(long id, long version) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("CheckShares.Directory")
            .i64("id", "the id of the directory")
            .i64("version", "number of its present state");

    /** The codec. */
    public static final Codec<Directory> CODEC = Codec.of(Directory.class, LAYOUT);
  }

  /**
   * The request. It names all directories of the owner whose ids are from {@code first} to {@code
   * last}, in the order of unsigned numbers.
   *
   * @param owner index of the namenode that owns the directories
   * @param incarnation the owner's start; shares of an earlier start are dropped
   * @param version number of the owner's last state; shares with a higher version are newer than
   *     this list
   * @param first the lowest id
   * @param last the highest id
   * @param directories the directories
   */
  public record Request(
      int owner,
      long incarnation,
      long version,
      long first,
      long last,
      List<Directory> directories) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("CheckShares.Request")
            .u16("owner", "index of the namenode that owns the directories")
            .i64("incarnation", "the owner's start")
            .i64("version", "number of the owner's last state")
            .i64("first", "the lowest id, unsigned")
            .i64("last", "the highest id, unsigned")
            .u16("directoryCount", "number of directories")
            .list("directories", "directoryCount", Directory.CODEC, MAX_DIRECTORIES);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param ids the directories whose state has to be said again
   */
  public record Response(List<Long> ids) {
    private static final Codec<Long> ID = Codec.ofLong("Directory id", "id", "id of a directory");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("CheckShares.Response")
            .u16("idCount", "number of ids")
            .list("ids", "idCount", ID, MAX_DIRECTORIES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
