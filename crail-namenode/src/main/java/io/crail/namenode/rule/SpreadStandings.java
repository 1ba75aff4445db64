/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Lifetime;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Share;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.SetShare;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * How the spread directories of this namenode stand with their shares: each has a state, and each
 * state has a version, which no other one has. A directory is here before its first share, and
 * until it has ended. Whatever is not here has no shares, or should have none. Thread-safe.
 */
public final class SpreadStandings {
  /**
   * Most spread directories of a namenode: each costs all namenodes, and some work looks at all.
   */
  static final int MOST_DIRECTORIES = 4096;

  private final NameNodeOptions options;
  private final State state;
  private final long incarnation;
  private final LongSupplier leastVersion;
  private long lastVersion;

  /** By id, in the order of unsigned numbers. Guarded by "this", as the fields of each. */
  private final TreeMap<Long, Standing> standings = new TreeMap<>(Long::compareUnsigned);

  /** How a directory stands with its shares. */
  private static final class Standing {
    private long version;
    // OPEN or SEALED.
    private int state;
    // The first state of a directory that is being made and has no name yet; null later.
    private SetShare.Request coming;
  }

  /**
   * Creates it without directories.
   *
   * @param incarnation this namenode's start
   * @param leastVersion above all versions of an earlier start, as far as the clock knows; read
   *     with each comparison, in case the clock was set back in between
   */
  public SpreadStandings(
      NameNodeOptions options, State state, long incarnation, LongSupplier leastVersion) {
    this.options = options;
    this.state = state;
    this.incarnation = incarnation;
    this.leastVersion = leastVersion;
    this.lastVersion = leastVersion.getAsLong();
  }

  /**
   * Notes the directories that records have made: their shares have them open.
   *
   * @param version those of earlier starts are not above it
   */
  public synchronized void replayed(long version) {
    lastVersion = Math.max(lastVersion, version);
    for (long id : state.tree().spread().owned().keySet()) {
      Standing standing = new Standing();
      standing.version = ++lastVersion;
      standing.state = SetShare.OPEN;
      standings.put(id, standing);
    }
  }

  /** The present state of a directory, as its shares should have it. */
  private SetShare.Request stateOf(Container directory, long version, int newState, boolean makes) {
    Lifetime ofChildren = state.tree().extras().of(directory).lifetimeOfChildren();
    return new SetShare.Request(
        options.index(),
        incarnation,
        directory.id(),
        version,
        newState,
        makes,
        directory.type(),
        directory.flags(),
        directory.permissions(),
        directory.storageClass(),
        directory.modifiedMillis(),
        ofChildren.millis(),
        ofChildren.sinceAccess(),
        directory.hasOwnQuota(),
        Utf8.of(directory.path()),
        state.hosts().name(directory.host()),
        state.users().text(directory.owner()),
        state.users().text(directory.group()));
  }

  /** Notes a directory that is to be made. Returns its first state, as far as it is known. */
  synchronized SetShare.Request begin(NewNode newNode, Container parent, Utf8 user)
      throws CrailException {
    if (standings.size() >= MOST_DIRECTORIES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          newNode.path() + ": this namenode has " + MOST_DIRECTORIES + " spread directories");
    }
    Standing standing = new Standing();
    standing.version = ++lastVersion;
    standing.state = SetShare.OPEN;
    standing.coming =
        new SetShare.Request(
            options.index(),
            incarnation,
            newNode.spreadId(),
            standing.version,
            SetShare.OPEN,
            true,
            newNode.type(),
            newNode.flags(),
            newNode.permissions(),
            newNode.storageClass(parent),
            0,
            0,
            false,
            false,
            Utf8.of(newNode.path().toString()),
            state.hosts().name(newNode.host(parent, state.hosts())),
            user,
            state.users().text(parent.group()));
    standings.put(newNode.spreadId(), standing);
    return standing.coming;
  }

  /** A directory that was being made has its name. */
  synchronized void named(long id) {
    Standing standing = standings.get(id);
    if (standing != null) {
      standing.coming = null;
    }
  }

  /** Forgets a directory that is gone. Returns that state, to be said. */
  synchronized SetShare.Request gone(Container directory) {
    standings.remove(directory.id());
    return stateOf(directory, ++lastVersion, SetShare.GONE, false);
  }

  /** Forgets a directory that was not made. Returns that state, to be said. */
  synchronized SetShare.Request notMade(SetShare.Request first) {
    standings.remove(first.id());
    return first.next(++lastVersion, SetShare.GONE);
  }

  /**
   * Changes the state of a directory.
   *
   * @param from the state that it must have
   * @return the new state, to be said; null when it has another one, or is gone
   */
  synchronized SetShare.Request change(Container directory, int from, int to) {
    Standing standing = standings.get(directory.id());
    if (standing == null || standing.state != from) {
      return null;
    }
    standing.version = ++lastVersion;
    standing.state = to;
    return stateOf(directory, standing.version, to, to == SetShare.SEALED);
  }

  /**
   * The state of a directory under a new version, since its attributes have changed; null while it
   * is sealed, since its shares get them when it is opened again.
   */
  synchronized SetShare.Request renew(Container directory) {
    Standing standing = standings.get(directory.id());
    if (standing == null || standing.state != SetShare.OPEN) {
      return null;
    }
    standing.version = ++lastVersion;
    return stateOf(directory, standing.version, SetShare.OPEN, false);
  }

  /** The highest version so far, or that of the clock. */
  public synchronized long lastVersion() {
    lastVersion = Math.max(lastVersion, leastVersion.getAsLong());
    return lastVersion;
  }

  /**
   * A page of all directories that have shares, for a namenode that compares them with its own.
   *
   * @param first the lowest id of the page
   */
  public synchronized CheckShares.Request page(long first) {
    lastVersion();
    List<CheckShares.Directory> directories = new ArrayList<>();
    long last = -1;
    for (Map.Entry<Long, Standing> each : standings.tailMap(first, true).entrySet()) {
      if (directories.size() == CheckShares.MAX_DIRECTORIES) {
        last = directories.get(directories.size() - 1).id();
        break;
      }
      directories.add(new CheckShares.Directory(each.getKey(), each.getValue().version));
    }
    return new CheckShares.Request(
        options.index(), incarnation, lastVersion, first, last, directories);
  }

  /** A page of all directories that have shares, and of the shares of others' directories. */
  public synchronized ListShares.Response list(ListShares.Request request) {
    TreeMap<Long, ListShares.Share> all = new TreeMap<>(Long::compareUnsigned);
    long most = ListShares.MAX_LENGTH / ListShares.Share.LAYOUT.fixedLength() + 1;
    standings.tailMap(request.first(), true).entrySet().stream()
        .limit(most)
        .forEach(each -> all.put(each.getKey(), listed(each.getKey(), each.getValue())));
    Iterable<Share> shares =
        state.tree().spread().shares().tailMap(request.first(), true).values().stream().limit(most)
            ::iterator;
    for (Share share : shares) {
      all.put(
          share.id(),
          new ListShares.Share(
              share.owningNamenode(),
              share.id(),
              share.incarnation(),
              share.version(),
              Utf8.of(share.path())));
    }
    List<ListShares.Share> page = new ArrayList<>();
    int length = 0;
    for (ListShares.Share each : all.values()) {
      length += each.wireLength();
      if (length > ListShares.MAX_LENGTH) {
        return new ListShares.Response(each.id(), page);
      }
      page.add(each);
    }
    return new ListShares.Response(-1, page);
  }

  private ListShares.Share listed(long id, Standing standing) {
    Container directory = state.tree().spread().owned().get(id);
    Utf8 path = directory == null ? Utf8.EMPTY : Utf8.of(directory.path());
    return new ListShares.Share(options.index(), id, incarnation, standing.version, path);
  }

  /** What is lent to a namenode, under a number above those of all earlier loans. */
  synchronized LendQuota.Request loan(List<LendQuota.Slice> slices) {
    return new LendQuota.Request(options.index(), incarnation, ++lastVersion, slices);
  }

  /** True when any directory has shares. */
  public synchronized boolean isAny() {
    return !standings.isEmpty();
  }

  /**
   * The present state of a directory, to be said again; null when it is gone.
   *
   * @param makes whether a share that is missing is made. That is for the thread which also says
   *     that directories are gone, so that the order is kept
   */
  public synchronized SetShare.Request present(long id, boolean makes) {
    Standing standing = standings.get(id);
    Container directory = state.tree().spread().owned().get(id);
    if (standing == null || directory == null) {
      return standing == null ? null : standing.coming;
    }
    return stateOf(directory, standing.version, standing.state, makes);
  }
}
