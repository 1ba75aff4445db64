/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Node;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.part.ClassUsage;
import io.crail.rpc.login.Caller;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Writes a namenode's state as text, for people who look for a fault. The first pages show
 * operations, space and datanodes. The other pages have one line for each node, in the order of the
 * table of ids. The namenode continues in the meantime, so nodes that change may be missing.
 */
final class NameNodeDump {
  // Cursors from here on are positions in the table of ids. Smaller cursors are numbers of
  // datanodes.
  private static final long NODES = 1L << 60;

  /** The most nodes of a page, since other requests wait while it is written. */
  private static final int MOST_NODES = 64;

  /** The most places of the table that a page looks at, since most of them may be empty. */
  private static final int MOST_SLOTS = 1 << 14;

  private final NameNode namenode;
  private final Function<Operation<?, ?>, OperationCounters> counters;
  private final Supplier<Map<String, Long>> transportStatistics;

  NameNodeDump(
      NameNode namenode,
      Function<Operation<?, ?>, OperationCounters> counters,
      Supplier<Map<String, Long>> transportStatistics) {
    this.namenode = namenode;
    this.counters = counters;
    this.transportStatistics = transportStatistics;
  }

  /** The lines of a page, each encoded once. */
  private static final class Page {
    private final byte[] bytes = new byte[Dump.MAX_TEXT];
    private int length;
    private int nodes;

    /** Adds a line; false when it does not fit. */
    boolean add(String line) {
      byte[] encoded = line.getBytes(StandardCharsets.UTF_8);
      if (encoded.length > bytes.length - length) {
        return false;
      }
      System.arraycopy(encoded, 0, bytes, length, encoded.length);
      length += encoded.length;
      return true;
    }

    boolean add(Node node) {
      return nodes++ < MOST_NODES && add(describe(node));
    }

    Utf8 text() {
      return Utf8.copyOf(bytes, 0, length);
    }
  }

  /**
   * A page of whole lines.
   *
   * @param caller who asks
   */
  Dump.Response page(long cursor, Caller caller) {
    Page page = new Page();
    long next = cursor;
    if (cursor <= 0) {
      page.add(summary());
      next = 1;
    }
    if (next < NODES) {
      next = datanodes(page, next);
    }
    if (next >= NODES) {
      next = nodes(page, next - NODES);
    }
    return new Dump.Response(next, page.text());
  }

  private String summary() {
    StringBuilder text = new StringBuilder();
    NameNodeOptions options = namenode.options();
    text.append("namenode ").append(options.index()).append(" of ").append(options.count());
    text.append(", cluster ").append(Printable.line(options.cluster()));
    text.append(", nodes ").append(namenode.tree().size());
    text.append(", write leases ").append(namenode.leases().size());
    text.append(", small values ").append(namenode.smallValues().used()).append(" bytes\n");
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      text.append("operation ").append(operation.name());
      text.append(' ').append(counters.apply(operation).count()).append('\n');
    }
    for (ClassUsage usage : namenode.datanodes().usage()) {
      text.append("class ").append(usage.storageClass());
      text.append(" capacity ").append(usage.capacityBytes());
      text.append(" free ").append(usage.freeBytes());
      text.append(" used ").append(usage.usedBytes());
      text.append(" waiting ").append(usage.waitingBytes());
      text.append(" largest ").append(usage.largestFreeExtentBytes()).append('\n');
    }
    transportStatistics
        .get()
        .forEach(
            (figure, value) ->
                text.append("transport ").append(figure).append(' ').append(value).append('\n'));
    return text.toString();
  }

  private long datanodes(Page page, long cursor) {
    List<DatanodeSpace> datanodes = namenode.datanodes().present();
    for (int i = (int) Math.min(cursor - 1, datanodes.size()); i < datanodes.size(); i++) {
      DatanodeSpace datanode = datanodes.get(i);
      DatanodeSpace.Accounts accounts = datanode.accounts(namenode.datanodes().isOnline(datanode));
      String line =
          datanode
              + (namenode.datanodes().isOnline(datanode) ? " online " : " offline ")
              + datanode.state().name().toLowerCase(Locale.ROOT)
              + " free "
              + accounts.free()
              + " used "
              + accounts.used()
              + " waiting "
              + accounts.waiting()
              + '\n';
      if (!page.add(line)) {
        return i + 1;
      }
    }
    return NODES;
  }

  private long nodes(Page page, long cursor) {
    long stopped = namenode.tree().walk(cursor, MOST_SLOTS, page::add);
    return stopped < 0 ? -1 : stopped + NODES;
  }

  private static String describe(Node node) {
    NodeSpace space = node.space();
    StringBuilder line = new StringBuilder();
    line.append(node.type()).append(' ').append(Printable.line(node.path().toString()));
    line.append(" id ").append(node.id());
    line.append(" size ").append(node.size());
    line.append(" class ").append(node.storageClass());
    line.append(node.isStaged() ? " staged" : node.isPending() ? " to come" : "");
    line.append(node.isStrict() ? " strict" : "").append(node.isEnumerable() ? "" : " unlisted");
    line.append(" modified ").append(Instant.ofEpochMilli(node.modifiedMillis()));
    if (node.type().isContainer()) {
      line.append(" children ").append(node.childCount());
    } else {
      line.append(" extents ").append(space == null ? 0 : space.count());
      line.append(space != null && space.small() != null ? " small" : "");
    }
    return line.append('\n').toString();
  }
}
