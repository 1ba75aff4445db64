/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.TextLimits;
import java.util.List;

/**
 * Returns what clients do, a page at a time, and which nodes are looked up most. All counts begin
 * with a connection of the client and are gone with it, so a rate is the difference between two
 * answers.
 */
public final class ReportActivity {
  /** Most bytes of clients in an answer. */
  public static final int MAX_CLIENTS_LENGTH = 24_000;

  /** Most bytes of nodes in an answer. */
  public static final int MAX_NODES_LENGTH = 36_000;

  /** Most nodes in an answer. */
  public static final int MAX_NODES = 32;

  /** The {@code after} of the first page. */
  public static final long FIRST = Long.MIN_VALUE;

  private ReportActivity() {}

  /**
   * The request.
   *
   * @param after {@link #FIRST}, or the last id of the page before
   * @param nodes how many nodes are wanted at most
   */
  public record Request(long after, int nodes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportActivity.Request")
            .i64("after", "-2^63, or the last id of the page before")
            .u16("nodes", "how many nodes are wanted at most");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A client with all its connections to this namenode.
   *
   * @param id the client
   * @param connections its connections
   * @param lookups its requests for nodes, children and places of bytes
   * @param changes its requests that change nodes or take space
   * @param others its other requests, such as renewals of leases
   * @param locatedBytes bytes whose places it got; those of small values came with the answer
   * @param committedBytes bytes that it has made visible
   * @param user the owner of the nodes that it creates; empty for the namenode's own user
   * @param host name of its host, as it says
   */
  public record Client(
      long id,
      int connections,
      long lookups,
      long changes,
      long others,
      long locatedBytes,
      long committedBytes,
      Utf8 user,
      Utf8 host) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportActivity.Client")
            .i64("id", "the client")
            .i32("connections", "its connections to this namenode; the rest is their sum")
            .i64("lookups", "requests for nodes, children and places of bytes")
            .i64("changes", "requests that change nodes or take space")
            .i64("others", "other requests, such as renewals of leases")
            .i64("locatedBytes", "bytes whose places it got")
            .i64("committedBytes", "bytes that it has made visible")
            .u16("userLength", "bytes of user")
            .u16("hostLength", "bytes of host")
            .bytes("user", "userLength", 0, TextLimits.USER, "whom its nodes belong to")
            .bytes("host", "hostLength", 0, TextLimits.HOST, "name of its host");

    /** The codec. */
    public static final Codec<Client> CODEC = Codec.of(Client.class, LAYOUT);

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + user.length() + host.length();
    }
  }

  /**
   * A node that is looked up often.
   *
   * @param id the node
   * @param milliPerSecond lookups of it in 1,000 seconds, at least, by the last few seconds
   * @param path where the node is
   */
  public record Node(long id, long milliPerSecond, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportActivity.Node")
            .i64("id", "node id")
            .i64("milliPerSecond", "lookups of it in 1,000 seconds, by the last few seconds")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 1, NodePath.MAX_LENGTH, "where the node is");

    /** The codec. */
    public static final Codec<Node> CODEC = Codec.of(Node.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param nanos the time of the answer, by the namenode's clock, since some moment
   * @param clients clients with ids above {@code after}, ascending; none at the end
   * @param nodes the nodes that are looked up most, the first one most
   */
  public record Response(long nanos, List<Client> clients, List<Node> nodes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportActivity.Response")
            .i64("nanos", "time of the answer, by the namenode's clock, since some moment")
            .u16("clientCount", "number of clients")
            .u16("clientsLength", "bytes of clients")
            .u16("nodeCount", "number of nodes")
            .u16("nodesLength", "bytes of nodes")
            .page("clients", "clientCount", "clientsLength", Client.CODEC, MAX_CLIENTS_LENGTH)
            .page("nodes", "nodeCount", "nodesLength", Node.CODEC, MAX_NODES_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
