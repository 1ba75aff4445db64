/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.CrailBlockLocation;
import io.crail.CrailLocationClass;
import io.crail.client.loop.LoopContext;
import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.node.Locations;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Tells schedulers where the bytes of a file lie. Thread-safe. */
public final class BlockLocations {
  private final LocationMap names;
  private final int replicas;

  /**
   * Creates it.
   *
   * @param replicas hosts to report for each location
   */
  public BlockLocations(LocationMap names, int replicas) {
    this.names = names;
    this.replicas = replicas;
  }

  /** A datanode as a scheduler sees it. */
  private record Holder(String host, int port, int storageClass) {
    String name() {
      return Addresses.text(host, port);
    }
  }

  /** Consecutive bytes that lie at one datanode. */
  private record Run(long offset, long length, int datanode) {}

  /** The locations of a range, in ascending order. */
  public CrailBlockLocation[] find(LoopContext context, NodeInfo info, long start, long length)
      throws CrailException, InterruptedException {
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException("range " + start + ", " + length);
    }
    List<Run> runs = new ArrayList<>();
    long position = start;
    long end = start + Math.min(length, Long.MAX_VALUE - start);
    while (position < end) {
      Locations.Response response =
          context
              .namenodes()
              .call(
                  NameNodeOperations.LOCATIONS,
                  new Locations.Request(info.id(), position, end - position))
              .join();
      end = Math.min(end, response.size());
      long before = position;
      for (Extent extent : response.extents()) {
        position =
            Math.max(position, addRun(runs, extent, start, end, context.blockBytes(info.id())));
      }
      if (position == before) {
        break;
      }
    }
    if (runs.isEmpty() && start < end) {
      return new CrailBlockLocation[] {
        new Location(start, end - start, List.of(namenode(context, info)))
      };
    }
    Map<Integer, Holder> holders = new HashMap<>();
    for (Run run : runs) {
      if (!holders.containsKey(run.datanode)) {
        holders.put(run.datanode, describe(context, run.datanode));
      }
    }
    return report(runs, holders);
  }

  /**
   * Adds the part of an extent that is in the range. Small extents at one datanode become one run
   * of at most a block. Returns the end of the part.
   */
  private static long addRun(List<Run> runs, Extent extent, long start, long end, long blockBytes) {
    long from = Math.max(start, extent.fileOffset());
    long to = Math.min(end, extent.fileEnd());
    if (from >= to) {
      return from;
    }
    Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
    if (last != null
        && last.datanode == extent.datanode()
        && last.offset + last.length == from
        && last.length + to - from <= blockBytes) {
      runs.set(runs.size() - 1, new Run(last.offset, to - last.offset, last.datanode));
    } else {
      runs.add(new Run(from, to - from, extent.datanode()));
    }
    return to;
  }

  /** The namenode of a node, which holds the bytes of a small value. */
  private Holder namenode(LoopContext context, NodeInfo info) {
    NameNodeClient namenodes = context.namenodes();
    int index = (int) Long.remainderUnsigned(info.id(), namenodes.count());
    InetSocketAddress address = namenodes.peer(index).address();
    return new Holder(
        names.nameOf(address.getHostString()), address.getPort(), info.storageClass());
  }

  private Holder describe(LoopContext context, int datanode)
      throws CrailException, InterruptedException {
    DescribeDatanode.Response response =
        context
            .namenodes()
            .call(
                NameNodeOperations.DESCRIBE_DATANODE,
                new DescribeDatanode.Request(datanode, Integer.MAX_VALUE))
            .join();
    return new Holder(
        names.nameOf(response.host().toString()), response.port(), response.storageClass());
  }

  private CrailBlockLocation[] report(List<Run> runs, Map<Integer, Holder> holders) {
    List<Holder> all = new ArrayList<>(new LinkedHashSet<>(holders.values()));
    CrailBlockLocation[] locations = new CrailBlockLocation[runs.size()];
    for (int i = 0; i < locations.length; i++) {
      Run run = runs.get(i);
      Set<Holder> reported = new LinkedHashSet<>();
      reported.add(holders.get(run.datanode));
      for (int k = 0; k < all.size() && reported.size() < replicas; k++) {
        reported.add(all.get((i + k) % all.size()));
      }
      locations[i] = new Location(run.offset, run.length, List.copyOf(reported));
    }
    return locations;
  }

  /** One location. */
  private record Location(long offset, long length, List<Holder> holders)
      implements CrailBlockLocation {
    @Override
    public long getOffset() {
      return offset;
    }

    @Override
    public long getLength() {
      return length;
    }

    @Override
    public String[] getNames() {
      return holders.stream().map(Holder::name).toArray(String[]::new);
    }

    @Override
    public String[] getHosts() {
      return holders.stream().map(Holder::host).toArray(String[]::new);
    }

    @Override
    public String[] getTopology() {
      return holders.stream()
          .map(holder -> "/default-rack/" + holder.name())
          .toArray(String[]::new);
    }

    @Override
    public int[] getStorageTypes() {
      return getStorageClasses();
    }

    @Override
    public int[] getStorageClasses() {
      return holders.stream().mapToInt(Holder::storageClass).toArray();
    }

    @Override
    public int[] getLocationAffinities() {
      return holders.stream()
          .mapToInt(holder -> CrailLocationClass.of(holder.host).value())
          .toArray();
    }

    @Override
    public String toString() {
      return offset + "+" + length + " at " + String.join(",", getNames());
    }
  }
}
