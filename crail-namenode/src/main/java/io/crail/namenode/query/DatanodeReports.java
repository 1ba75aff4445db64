/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.query;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.Datanodes;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.DrainStanding;
import io.crail.protocol.part.Region;
import io.crail.protocol.secret.Ticket;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.LoginKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Says how datanodes stand and what space there is. Thread-safe. */
public final class DatanodeReports {
  // Bytes of regions in an answer, so that it fits into a frame even with the longest texts.
  private static final int MAX_REGIONS_LENGTH = 60_000;

  private final NameNodeOptions options;
  private final Datanodes datanodes;
  private final Clock clock;

  public DatanodeReports(NameNodeOptions options, Datanodes datanodes, Clock clock) {
    this.options = options;
    this.datanodes = datanodes;
    this.clock = clock;
  }

  /** All of them, also those that are gone while nodes have bytes there, ascending by id. */
  public Collection<DatanodeSpace> all() {
    return datanodes.all();
  }

  /**
   * The ids of registered datanodes that are above {@code after}, ascending.
   *
   * @param caller who asks
   */
  public List<Integer> list(int after, int most, Caller caller) {
    return datanodes.all().stream()
        .filter(datanode -> datanode.id() > after && !datanode.isGone())
        .limit(most)
        .map(DatanodeSpace::id)
        .toList();
  }

  /** The registered datanodes, ascending by id. */
  public List<DatanodeSpace> present() {
    return datanodes.all().stream().filter(datanode -> !datanode.isGone()).toList();
  }

  /** True when a datanode has sent a sign of life recently. */
  public boolean isOnline(DatanodeSpace datanode) {
    return datanode.isOnline(clock.nanoTime(), options.offlineNanos());
  }

  /** The sums over the datanodes of a class. */
  private static final class Sums {
    private long capacity;
    private long free;
    private long used;
    private long waiting;
    private long lost;
    private long largest;

    ClassUsage usage(int storageClass) {
      return new ClassUsage(storageClass, capacity, free, used, waiting, lost, largest);
    }
  }

  /**
   * The accounts of each class that has datanodes, ascending. Free space at a datanode that is
   * offline or being removed counts neither as free nor as capacity, since no node can get it. What
   * nodes have at datanodes that are gone counts as lost only.
   */
  public List<ClassUsage> usage() {
    Sums[] classes = new Sums[options.storageClasses()];
    for (DatanodeSpace datanode : datanodes.all()) {
      boolean gone = datanode.isGone();
      boolean online = isOnline(datanode);
      DatanodeSpace.Accounts accounts = datanode.accounts(online);
      if (gone && accounts.used() == 0) {
        continue;
      }
      if (classes[datanode.storageClass()] == null) {
        classes[datanode.storageClass()] = new Sums();
      }
      Sums sums = classes[datanode.storageClass()];
      if (gone) {
        sums.lost += accounts.used();
        continue;
      }
      sums.capacity += accounts.capacity();
      sums.free += accounts.free();
      sums.used += accounts.used();
      sums.waiting += accounts.waiting();
      if (datanode.state() == DatanodeSpace.State.ACTIVE && online) {
        sums.largest = Math.max(sums.largest, accounts.largest());
      }
    }
    List<ClassUsage> usage = new ArrayList<>();
    for (int i = 0; i < classes.length; i++) {
      if (classes[i] != null) {
        usage.add(classes[i].usage(i));
      }
    }
    return usage;
  }

  /**
   * A page of how the datanodes stand with this namenode: those with ids above {@code after}.
   *
   * @param caller who asks
   */
  public ReportDatanodes.Response page(int after, Caller caller) {
    List<ReportDatanodes.Datanode> page = new ArrayList<>();
    int length = 0;
    for (DatanodeSpace datanode : datanodes.all()) {
      if (datanode.id() > after) {
        ReportDatanodes.Datanode each = of(datanode);
        if (each.state() == DatanodeState.LOST && each.usedBytes() == 0) {
          continue;
        }
        length += each.wireLength();
        if (length > ReportDatanodes.MAX_DATANODES_LENGTH) {
          break;
        }
        page.add(each);
      }
    }
    return new ReportDatanodes.Response(page);
  }

  /** The number of datanodes by their state; those that are gone, while nodes have bytes there. */
  public Map<DatanodeState, Integer> states() {
    Map<DatanodeState, Integer> states = new EnumMap<>(DatanodeState.class);
    for (DatanodeState state : DatanodeState.values()) {
      states.put(state, 0);
    }
    for (DatanodeSpace datanode : datanodes.all()) {
      DatanodeState state = state(datanode);
      if (state != DatanodeState.LOST || datanode.accounts(false).used() > 0) {
        states.merge(state, 1, Integer::sum);
      }
    }
    return states;
  }

  /**
   * Describes a datanode, even one that is gone while nodes have extents on it.
   *
   * @param caller who asks
   */
  public DescribeDatanode.Response describe(DescribeDatanode.Request request, Caller caller)
      throws CrailException {
    DatanodeSpace datanode = datanodes.require(request.datanode());
    int firstRegion = request.firstRegion();
    RegisterDatanode.Description description = datanode.description();
    List<Region> regions = datanode.regions();
    int most =
        Math.min(DescribeDatanode.MAX_REGIONS, MAX_REGIONS_LENGTH / Region.LAYOUT.fixedLength());
    int from = Math.min(Math.max(firstRegion, 0), regions.size());
    int to = Math.min(regions.size(), from + most);
    return new DescribeDatanode.Response(
        description.uuidHigh(),
        description.uuidLow(),
        description.port(),
        description.storageClass(),
        isOnline(datanode),
        datanode.keeping().keeps() && !datanode.isGone(),
        regions.size(),
        description.tier(),
        description.host(),
        description.traits(),
        ticket(datanode, caller),
        regions.subList(from, to));
  }

  /**
   * Refuses a datanode that speaks for another one.
   *
   * @param datanode the one that it speaks for; null if it is not known
   * @throws CrailException with {@link ErrorCode#ACCESS_DENIED} when that has logged in under
   *     another name
   */
  public void requireOwn(DatanodeSpace datanode, Caller caller) throws CrailException {
    if (datanode != null && datanode.signs().isOfOther(caller.key())) {
      throw ErrorCode.ACCESS_DENIED.exception(
          datanode + " belongs to another name than '" + caller.principal().name() + "'");
    }
  }

  /** The datanode of an id; null if it is not known. */
  public DatanodeSpace find(int id) {
    return datanodes.find(id);
  }

  /** The datanode of a process; null if it is not known. */
  public DatanodeSpace find(UUID uuid) {
    return datanodes.find(uuid);
  }

  /** What the caller logs in with at a datanode; nothing where one of the two has proved no key. */
  private SmallValue ticket(DatanodeSpace datanode, Caller caller) {
    LoginKey key = datanode.signs().key();
    return key == null || caller.key() == null
        ? SmallValue.NONE
        : Ticket.issue(
            key,
            datanode.description().uuid(),
            caller.key(),
            caller.client(),
            clock.currentTimeMillis() / 1000,
            options.ticketSeconds());
  }

  /**
   * How far the drain of a datanode is.
   *
   * @param datanode the datanode; null when it is not known. Others may stand for data that it has
   *     lost
   * @param uuid the identity of its process, or of the bytes that it keeps
   */
  public DrainDatanode.Response drain(DatanodeSpace datanode, UUID uuid) {
    long lost =
        datanodes.all().stream()
            .filter(each -> each.isGone())
            .filter(each -> each.description().uuid().equals(uuid) || each.keeping().isOf(uuid))
            .mapToLong(each -> each.accounts(false).used())
            .sum();
    if (datanode == null || (datanode.isGone() && lost > 0)) {
      DrainStanding standing = lost > 0 ? DrainStanding.LOST : DrainStanding.UNKNOWN;
      return new DrainDatanode.Response(-1, 0, 0, standing, lost, 0, 0);
    }
    DatanodeSpace.Accounts accounts = datanode.accounts(false);
    return new DrainDatanode.Response(
        datanode.id(),
        datanode.keeping().keeper().getMostSignificantBits(),
        datanode.keeping().keeper().getLeastSignificantBits(),
        standing(datanode),
        accounts.used(),
        accounts.waiting(),
        datanode.drainNanos(clock.nanoTime()) / 1_000_000);
  }

  private DrainStanding standing(DatanodeSpace datanode) {
    if (datanode.isGone()) {
      return DrainStanding.LET_GO;
    } else if (!isOnline(datanode)) {
      return DrainStanding.SILENT;
    }
    return datanode.state() == DatanodeSpace.State.DRAINING
        ? DrainStanding.DRAINING
        : DrainStanding.ACTIVE;
  }

  private ReportDatanodes.Datanode of(DatanodeSpace datanode) {
    RegisterDatanode.Description description = datanode.description();
    DatanodeState state = state(datanode);
    DatanodeSpace.Accounts accounts = datanode.accounts(isOnline(datanode));
    return new ReportDatanodes.Datanode(
        datanode.id(),
        description.uuidHigh(),
        description.uuidLow(),
        description.port(),
        description.storageClass(),
        state,
        state != DatanodeState.LOST && datanode.state() == DatanodeSpace.State.DRAINING,
        datanode.keeping().keeps(),
        datanode.signs().silentNanos(clock.nanoTime()) / 1_000_000,
        datanode.totalBlocks() * options.blockSize(),
        accounts.free(),
        accounts.used(),
        accounts.waiting(),
        rate(state, datanode.signs().served().readRate()),
        rate(state, datanode.signs().served().writeRate()),
        description.tier(),
        description.host());
  }

  /** What was true at the last sign of life is not true any more of one that is silent. */
  private static long rate(DatanodeState state, long last) {
    return state == DatanodeState.OFFLINE || state == DatanodeState.LOST ? Math.min(last, 0) : last;
  }

  private DatanodeState state(DatanodeSpace datanode) {
    if (datanode.isGone()) {
      return DatanodeState.LOST;
    } else if (!isOnline(datanode)) {
      return DatanodeState.OFFLINE;
    } else if (datanode.signs().isImpaired()) {
      return DatanodeState.IMPAIRED;
    }
    return datanode.state() == DatanodeSpace.State.DRAINING
        ? DatanodeState.DRAINING
        : DatanodeState.ONLINE;
  }
}
