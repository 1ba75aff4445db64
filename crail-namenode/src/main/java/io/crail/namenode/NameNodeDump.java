/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.protocol.ClassUsage;
import io.crail.protocol.Dump;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationServer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * Writes a namenode as text, for people who look for a fault. The first pages tell of operations,
 * space and datanodes, the others have a line a node, in the order of the table of ids. Nothing is
 * stopped for it: what changes meanwhile may be missing.
 */
final class NameNodeDump {
  // Cursors from here on are positions in the table of ids, below it numbers of datanodes.
  private static final long NODES = 1L << 60;

  private final NameNode namenode;

  NameNodeDump(NameNode namenode) {
    this.namenode = namenode;
  }

  /** A page of whole lines. */
  Dump.Response page(long cursor, OperationServer server) {
    StringBuilder text = new StringBuilder();
    long next = cursor;
    if (cursor <= 0) {
      summary(text, server);
      next = 1;
    }
    if (next < NODES) {
      next = datanodes(text, next);
    }
    if (next >= NODES) {
      next = nodes(text, next - NODES);
    }
    return new Dump.Response(next, Utf8.of(text.toString()));
  }

  private void summary(StringBuilder text, OperationServer server) {
    NameNodeOptions options = namenode.options();
    text.append("namenode ").append(options.index()).append(" of ").append(options.count());
    text.append(", cluster ").append(Printable.line(options.cluster()));
    text.append(", nodes ").append(namenode.tree().size());
    text.append(", write leases ").append(namenode.leases().size());
    text.append(", small values ").append(namenode.smallValues().used()).append(" bytes\n");
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      text.append("operation ").append(operation.name());
      text.append(' ').append(server.count(operation)).append('\n');
    }
    for (ClassUsage usage : namenode.store().usage()) {
      text.append("class ").append(usage.storageClass());
      text.append(" capacity ").append(usage.capacityBytes());
      text.append(" free ").append(usage.freeBytes());
      text.append(" used ").append(usage.usedBytes());
      text.append(" waiting ").append(usage.waitingBytes());
      text.append(" largest ").append(usage.largestFreeExtentBytes()).append('\n');
    }
  }

  private long datanodes(StringBuilder text, long cursor) {
    List<DatanodeSpace> datanodes = namenode.store().datanodes();
    for (int i = (int) Math.min(cursor - 1, datanodes.size()); i < datanodes.size(); i++) {
      DatanodeSpace datanode = datanodes.get(i);
      DatanodeSpace.Accounts accounts = datanode.accounts(namenode.store().isOnline(datanode));
      String line =
          datanode
              + (namenode.store().isOnline(datanode) ? " online " : " offline ")
              + datanode.state().name().toLowerCase(Locale.ROOT)
              + " free "
              + accounts.free()
              + " used "
              + accounts.used()
              + " waiting "
              + accounts.waiting()
              + '\n';
      if (isFull(text, line)) {
        return i + 1;
      }
      text.append(line);
    }
    return NODES;
  }

  private long nodes(StringBuilder text, long cursor) {
    long stopped =
        namenode
            .tree()
            .ids()
            .walk(
                cursor,
                node -> {
                  String line = describe(node);
                  if (isFull(text, line)) {
                    return false;
                  }
                  text.append(line);
                  return true;
                });
    return stopped < 0 ? -1 : stopped + NODES;
  }

  private static boolean isFull(StringBuilder text, String line) {
    // Measured in bytes only near the end; a character has at most three.
    return (text.length() + line.length()) * 3L > Dump.MAX_TEXT
        && text.toString().getBytes(StandardCharsets.UTF_8).length
                + line.getBytes(StandardCharsets.UTF_8).length
            > Dump.MAX_TEXT;
  }

  private static String describe(Node node) {
    NodeSpace space = node.space();
    StringBuilder line = new StringBuilder();
    line.append(node.type()).append(' ').append(Printable.line(node.path().toString()));
    line.append(" id ").append(node.id());
    line.append(" size ").append(node.size());
    line.append(" class ").append(node.storageClass());
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
