/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodePath;
import java.util.List;

/** Looks for nodes whose bytes cannot be read, and for write leases, a page at a time. */
public final class Examine {
  /** Most bytes of findings in an answer. */
  public static final int MAX_FINDINGS_LENGTH = 40_000;

  /** Most bytes of write leases in an answer. */
  public static final int MAX_LEASES_LENGTH = 20_000;

  /** The datanode is gone, and the bytes with it. */
  public static final int LOST = 1;

  /** The datanode says nothing, and may come back. */
  public static final int SILENT = 2;

  /** The datanodes are there, so the bytes should be. Reported only if all nodes are asked for. */
  public static final int READABLE = 3;

  private Examine() {}

  /**
   * The request.
   *
   * @param cursor 0 for the first page, later the cursor from the page before
   * @param id the node in which the page before has stopped; 0 when it stopped between nodes
   * @param extent the number of extents of that node that were examined
   * @param all whether readable nodes are findings too
   */
  public record Request(long cursor, long id, int extent, boolean all) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Examine.Request")
            .i64("cursor", "0 for the first page, then what the last page gave")
            .i64("id", "the node in which the last page stopped; 0 when it stopped between nodes")
            .i32("extent", "the number of extents of that node that were examined")
            .u8("all", "whether readable nodes are findings too; 0 or 1");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * What is known of bytes of a node. A node whose extents take several pages may have several.
   *
   * @param kind {@link #LOST}, {@link #SILENT} or {@link #READABLE}
   * @param id the node
   * @param bytes how many bytes of this kind readers see, as far as this page has looked
   * @param size how many bytes the node has
   * @param datanode the first datanode where this holds; 0 for readable bytes
   * @param path where the node is
   */
  public record Finding(int kind, long id, long bytes, long size, int datanode, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Examine.Finding")
            .u8("kind", "1 when the datanode is gone, 2 when it is silent, 3 when all is well")
            .i64("id", "node id")
            .i64("bytes", "bytes of this kind, as far as this page has looked")
            .i64("size", "bytes that the node has")
            .i32("datanode", "the first datanode where this holds")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 1, NodePath.MAX_LENGTH, "where the node is");

    /** The codec. */
    public static final Codec<Finding> CODEC = Codec.of(Finding.class, LAYOUT);

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + path.length();
    }
  }

  /**
   * The write lease of a node.
   *
   * @param id the node
   * @param client its holder
   * @param held whether the holder may write; else no one may until its end
   * @param ageMillis the time since it was granted
   * @param leftMillis the time to its end, if it is not renewed; negative after that
   * @param path where the node is
   */
  public record Lease(
      long id, long client, boolean held, long ageMillis, long leftMillis, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Examine.Lease")
            .i64("id", "node id")
            .i64("client", "id of its holder")
            .u8("held", "whether the holder may write; 0 or 1")
            .i64("ageMillis", "time since it was granted")
            .i64("leftMillis", "time to its end, if it is not renewed; negative after that")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 1, NodePath.MAX_LENGTH, "where the node is");

    /** The codec. */
    public static final Codec<Lease> CODEC = Codec.of(Lease.class, LAYOUT);

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + path.length();
    }
  }

  /**
   * The answer.
   *
   * @param next cursor of the next page, or -1
   * @param id for the next page
   * @param extent for the next page
   * @param nodes how many nodes this page has examined to their end, without shares of other
   *     namenodes' spread directories
   * @param allocatedBytes the space of the extents that it has examined
   * @param findings what it has found
   * @param leases the write leases of these nodes
   */
  public record Response(
      long next,
      long id,
      int extent,
      int nodes,
      long allocatedBytes,
      List<Finding> findings,
      List<Lease> leases) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Examine.Response")
            .i64("next", "cursor of the next page, or -1")
            .i64("id", "for the next page")
            .i32("extent", "for the next page")
            .i32("nodes", "how many nodes this page has examined to their end")
            .i64("allocatedBytes", "the space of the extents that it has examined")
            .u16("findingCount", "number of findings")
            .u16("findingsLength", "bytes of findings")
            .u16("leaseCount", "number of leases")
            .u16("leasesLength", "bytes of leases")
            .page("findings", "findingCount", "findingsLength", Finding.CODEC, MAX_FINDINGS_LENGTH)
            .page("leases", "leaseCount", "leasesLength", Lease.CODEC, MAX_LEASES_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
