/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.LogUsage;
import java.util.List;

/** Counts the nodes, and the space of each storage class. */
public final class Usage {
  /** Most storage classes. */
  public static final int MAX_CLASSES = 256;

  private Usage() {}

  /** The request. */
  public record Request() {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Usage.Request");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param nodes nodes, the root included, but not shares of other namenodes' spread directories
   * @param datanodes registered datanodes
   * @param onlineDatanodes datanodes that have sent a sign of life recently
   * @param leases write leases
   * @param startedMillis when the namenode was started, by its clock, since 1970
   * @param requests requests that it has answered since then
   * @param requestNanos how long it has worked on all of them together
   * @param waitedNanos how long connections have waited for their turn since then, all together
   * @param smallValueBytes memory outside the heap that the small values of the namenode take
   * @param smallValueLimitBytes memory above which it keeps no more of them
   * @param memoryBytes heap taken by all that the namenode keeps
   * @param memoryLimitBytes heap above which it refuses to keep more
   * @param locatedBytes bytes whose places clients were given since the start, as they read
   * @param committedBytes bytes that clients have made visible since the start
   * @param successor whether an earlier start of it had the space of datanodes; the nodes of that
   *     one are gone
   * @param logs its log; empty if its metadata end with it
   * @param classes space of each storage class that has datanodes
   */
  public record Response(
      long nodes,
      int datanodes,
      int onlineDatanodes,
      int leases,
      long startedMillis,
      long requests,
      long requestNanos,
      long waitedNanos,
      long smallValueBytes,
      long smallValueLimitBytes,
      long memoryBytes,
      long memoryLimitBytes,
      long locatedBytes,
      long committedBytes,
      boolean successor,
      List<LogUsage> logs,
      List<ClassUsage> classes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Usage.Response")
            .i64("nodes", "nodes, the root included, and no shares of others' directories")
            .i32("datanodes", "registered datanodes")
            .i32("onlineDatanodes", "datanodes heard of lately")
            .i32("leases", "write leases")
            .i64("startedMillis", "when the namenode was started, by its clock, since 1970")
            .i64("requests", "requests answered since then")
            .i64("requestNanos", "time of work on all of them together")
            .i64("waitedNanos", "time that connections waited for their turn, all together")
            .i64("smallValueBytes", "memory outside the heap that its small values take")
            .i64("smallValueLimitBytes", "memory above which it keeps no more of them")
            .i64("memoryBytes", "heap taken by all that the namenode keeps")
            .i64("memoryLimitBytes", "heap above which it refuses to keep more")
            .i64("locatedBytes", "bytes whose places clients were given since the start")
            .i64("committedBytes", "bytes that clients have made visible since the start")
            .u8("successor", "whether the nodes of an earlier start of it are gone; 0 or 1")
            .u8("logsCount", "1 if it has a log, else 0")
            .u16("logsLength", "bytes of logs")
            .u16("classesCount", "number of classes")
            .parts("logs", "logsCount", "logsLength", LogUsage.CODEC, 1)
            .list("classes", "classesCount", ClassUsage.CODEC, MAX_CLASSES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
