/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import io.crail.CrailNodeType;
import io.crail.common.Addresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.tool.path.NodeTypes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the namespace for the page, in answers of bounded length. Leases are neither taken nor
 * changed. Thread-safe.
 */
final class NamespaceReader {
  /** The most children in an answer. */
  static final int MOST_ENTRIES = 200;

  /** The most requests for the extents of a node; each has {@link Locations#MAX_EXTENTS}. */
  private static final int MOST_PARTS = 8;

  /** The most datanodes of a node that get their names. */
  private static final int MOST_NAMES = 64;

  private static final Pattern CURSOR = Pattern.compile("([0-9]{1,3})\\.([0-9]{1,18})");

  private final NameNodeClient namenodes;

  NamespaceReader(NameNodeClient namenodes) {
    this.namenodes = namenodes;
  }

  /**
   * A page of a container's children.
   *
   * @param after empty for the first page, then what the page before gave as {@code next}
   */
  Map<String, Object> list(String path, String after) throws CrailException, InterruptedException {
    Utf8 plain = NodePath.parse(path);
    boolean isRoot = plain.equals(NodePath.ROOT);
    Matcher cursor = CURSOR.matcher(after.isEmpty() ? "0.0" : after);
    if (!cursor.matches()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("after=" + after);
    }
    NodeInfo container =
        isRoot
            ? null
            : namenodes.call(NameNodeOperations.LOOKUP, new Lookup.Request(plain)).join().node();
    if (container != null && !container.type().isContainer()) {
      throw ErrorCode.NOT_A_CONTAINER.exception(path);
    }
    boolean hasShares = isRoot || container.isSpread();
    Page page =
        new Page(Integer.parseInt(cursor.group(1)), Long.parseLong(cursor.group(2)), hasShares);
    if (hasShares) {
      addShares(page, container);
    } else {
      page.add(namenodes.call(NameNodeOperations.LIST_NODES, page.request(container)).join());
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("path", plain.toString());
    answer.put("entries", page.entries);
    answer.put("next", page.isLast ? null : page.namenode + "." + page.cursor);
    answer.put("missing", page.missing);
    return answer;
  }

  /**
   * A spread directory, or the root for null, has a share at each namenode. One that does not
   * answer ends the page.
   */
  private void addShares(Page page, NodeInfo directory)
      throws CrailException, InterruptedException {
    Lookup.Request root = new Lookup.Request(NodePath.ROOT);
    while (!page.isLast && page.hasRoom() && page.missing.isEmpty()) {
      int index = page.namenode;
      try {
        NodeInfo part =
            directory != null
                ? directory
                : namenodes.callAt(index, NameNodeOperations.LOOKUP, root).join().node();
        page.add(namenodes.callAt(index, NameNodeOperations.LIST_NODES, page.request(part)).join());
      } catch (CrailException e) {
        CrailException why =
            directory != null && e.code() == ErrorCode.WRONG_NAMENODE
                ? ErrorCode.NO_SHARE.exception(NodePath.name("/"))
                : e;
        page.missing.add(Answers.missing(namenodes, index, why).toString());
        page.end();
      }
    }
  }

  /** What an answer has so far, and where it goes on. */
  private final class Page {
    private final boolean hasShares;
    private final List<Map<String, Object>> entries = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private int namenode;
    private long cursor;
    private boolean isLast;

    Page(int namenode, long cursor, boolean hasShares) {
      this.namenode = namenode;
      this.cursor = cursor;
      this.hasShares = hasShares;
      this.isLast = hasShares && namenode >= namenodes.count();
    }

    boolean hasRoom() {
      return entries.size() < MOST_ENTRIES;
    }

    ListNodes.Request request(NodeInfo container) {
      return new ListNodes.Request(container.id(), cursor, MOST_ENTRIES - entries.size());
    }

    void add(ListNodes.Response part) {
      part.entries().forEach(each -> entries.add(entry(each.node(), each.name().toString())));
      if (part.next() == -1) {
        end();
      } else {
        cursor = part.next();
      }
    }

    /** Goes on to the next namenode. */
    void end() {
      cursor = 0;
      namenode++;
      isLast = !hasShares || namenode == namenodes.count();
    }
  }

  private static Map<String, Object> entry(NodeInfo node, String name) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", name);
    entry.put("type", NodeTypes.word(CrailNodeType.valueOf(node.type().name())));
    if (node.type().isContainer()) {
      entry.put("children", node.childCount());
      if (node.isSpread()) {
        entry.put("note", "spread");
      }
    } else {
      entry.put("size", node.size());
    }
    entry.put("storageClass", node.storageClass());
    entry.put("modifiedMillis", node.modifiedMillis());
    if (node.isBeingPut()) {
      entry.put("note", "being put");
    } else if (node.isAbandoned()) {
      entry.put("note", "without a value");
    }
    return entry;
  }

  /** A node with its places: which datanode has how many of its bytes. */
  Map<String, Object> node(String path) throws CrailException, InterruptedException {
    Utf8 plain = NodePath.parse(path);
    Lookup.Response found =
        namenodes.call(NameNodeOperations.LOOKUP, new Lookup.Request(plain)).join();
    NodeInfo node = found.node();
    boolean isSmall = found.value().length() > 0;
    Map<Integer, Long> bytes = new TreeMap<>();
    long seen = isSmall ? node.size() : count(node, bytes);
    Map<String, Object> answer = entry(node, NodePath.name(plain.toString()));
    answer.put("path", plain.toString());
    answer.put("heldByNamenode", isSmall);
    answer.put("places", places(bytes));
    answer.put("unseenBytes", Math.max(0, node.size() - seen));
    return answer;
  }

  /** Adds the bytes at each datanode; returns the position up to which it has looked. */
  private long count(NodeInfo node, Map<Integer, Long> bytes)
      throws CrailException, InterruptedException {
    long position = 0;
    for (int part = 0; part < MOST_PARTS && position < node.size(); part++) {
      Locations.Request request =
          new Locations.Request(node.id(), position, node.size() - position);
      List<Extent> extents = namenodes.call(NameNodeOperations.LOCATIONS, request).join().extents();
      if (extents.isEmpty()) {
        break;
      }
      for (int i = 0; i < extents.size(); i++) {
        Extent extent = extents.get(i);
        // After a writer has lost its lease, the next extent begins within this one.
        long limit = i + 1 < extents.size() ? extents.get(i + 1).fileOffset() : node.size();
        long end = Math.min(extent.fileEnd(), limit);
        bytes.merge(
            extent.place().datanode(), end - Math.max(position, extent.fileOffset()), Long::sum);
        position = end;
      }
    }
    return position;
  }

  private List<Map<String, Object>> places(Map<Integer, Long> bytes)
      throws CrailException, InterruptedException {
    Map<Integer, OperationCall<DescribeDatanode.Request, DescribeDatanode.Response>> calls =
        new TreeMap<>();
    for (int id : bytes.keySet()) {
      if (calls.size() < MOST_NAMES) {
        // Without the regions.
        DescribeDatanode.Request request = new DescribeDatanode.Request(id, Integer.MAX_VALUE);
        calls.put(id, namenodes.call(NameNodeOperations.DESCRIBE_DATANODE, request));
      }
    }
    List<Map<String, Object>> places = new ArrayList<>();
    for (Map.Entry<Integer, Long> each : bytes.entrySet()) {
      Map<String, Object> place = new LinkedHashMap<>();
      place.put("bytes", each.getValue());
      describe(each.getKey(), calls.get(each.getKey()), place);
      places.add(place);
    }
    return places;
  }

  private static void describe(
      int id,
      OperationCall<DescribeDatanode.Request, DescribeDatanode.Response> call,
      Map<String, Object> place)
      throws CrailException, InterruptedException {
    place.put("datanode", "number " + id);
    if (call == null) {
      return;
    }
    try {
      DescribeDatanode.Response datanode = call.join();
      place.put("datanode", Addresses.text(datanode.host().toString(), datanode.port()));
      place.put("tier", datanode.tier().toString());
      place.put("storageClass", datanode.storageClass());
      place.put("online", datanode.online());
    } catch (CrailException e) {
      if (e.code() != ErrorCode.UNKNOWN_DATANODE) {
        throw e;
      }
      // Removed meanwhile.
      place.put("online", false);
    }
  }
}
