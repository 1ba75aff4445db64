/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.rule.RemoveRule.Removal;
import io.crail.namenode.rule.RemoveRule.Sealed;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.Outcome;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Decides about the spread directories that this namenode owns. The other namenodes have shares of
 * them, so a decision takes a round of messages to all of them, and its request is answered after
 * that:
 *
 * <ul>
 *   <li><em>Create.</em> All namenodes make a share. Then the directory gets its name, so that
 *       whoever finds it finds all shares.
 *   <li><em>Remove.</em> All shares are sealed: they take no new children. Then the directory, or
 *       one above it, loses its name. That is the one moment of the removal. Then all shares are
 *       dropped. If it is refused, all shares are opened again.
 *   <li><em>Attributes.</em> They are set here, then at all shares.
 * </ul>
 *
 * <p>A namenode that does not answer fails the request. What it has missed it is told by {@link
 * #page}: each state of a directory has a version, and the owner compares versions with each
 * namenode now and then. A share stays sealed until its owner says otherwise: the owner alone knows
 * whether the removal took place. Thread-safe.
 */
public final class SpreadRule {
  /** The other namenodes. */
  public interface Neighbours {
    /** How long a round takes at most. */
    long roundNanos();

    /**
     * Says a state to all other namenodes.
     *
     * @param done gets the outcome, once, in any thread; also in this one
     */
    void say(SetShare.Request state, Consumer<Round> done);
  }

  /**
   * What the other namenodes have answered.
   *
   * @param children the children in all their shares
   * @param failure why one of them has not taken the state; null when all have
   */
  public record Round(long children, CrailException failure) {
    /** Both rounds together. */
    public Round plus(Round other) {
      return new Round(children + other.children, failure == null ? other.failure : failure);
    }
  }

  /** Makes the directory once all shares are there. */
  @FunctionalInterface
  public interface Creator {
    /** As {@link CreateRule#create}. */
    Node create(NewNode newNode) throws CrailException;
  }

  /** Rounds of a removal: seal, drop; and once more for directories that came in between. */
  private static final int MOST_ROUNDS = 4;

  /** The heap that a request takes which waits for other namenodes. */
  private static final int HELD_BYTES = 4096;

  private final NameNodeOptions options;
  private final State state;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final RemoveRule removals;
  private final Neighbours neighbours;
  private final long incarnation;

  private final AtomicLong lastVersion;

  /** The versions of all directories that have shares, by id, in the order of unsigned numbers. */
  private final ConcurrentSkipListMap<Long, Long> versions =
      new ConcurrentSkipListMap<>(Long::compareUnsigned);

  /** The directories that are made: they have shares, and no name. */
  private final Map<Long, SetShare.Request> coming = new ConcurrentHashMap<>();

  /** The directories that are being removed. */
  private final Set<Long> leaving = ConcurrentHashMap.newKeySet();

  /**
   * Creates the rule.
   *
   * @param incarnation this namenode's start
   * @param firstVersion above all versions of an earlier start
   */
  public SpreadRule(
      NameNodeOptions options,
      State state,
      Locks locks,
      Applier applier,
      RemoveRule removals,
      Neighbours neighbours,
      long incarnation,
      long firstVersion) {
    this.options = options;
    this.state = state;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.removals = removals;
    this.neighbours = neighbours;
    this.incarnation = incarnation;
    this.lastVersion = new AtomicLong(firstVersion);
  }

  /**
   * Creates a spread directory.
   *
   * @param caller who asks, and will own it
   * @param creator makes it, as that caller's
   */
  public Outcome<Create.Response> create(Create.Request request, Caller caller, Creator creator)
      throws CrailException {
    if (request.type() != NodeType.DIRECTORY && request.type() != NodeType.TABLE) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "only a directory or a table may be spread, not a " + request.type());
    }
    long id = tree.newId();
    NewNode newNode = NewNode.spread(request, id);
    Container parent = parentOf(newNode.path());
    if (options.count() == 1) {
      return Outcome.now(answer(creator.create(newNode)));
    }
    SetShare.Request open = stateOf(newNode, parent, caller.principal().name());
    coming.put(id, open);
    Outcome.Held<Create.Response> held = held();
    neighbours.say(
        open,
        round -> {
          try {
            if (round.failure() != null) {
              throw round.failure();
            }
            Create.Response response = answer(creator.create(newNode));
            coming.remove(id);
            held.release(response);
          } catch (CrailException e) {
            coming.remove(id);
            gone(open, dropped -> held.fail(e));
          }
        });
    return held;
  }

  private static Create.Response answer(Node node) {
    return new Create.Response(node.info(), List.of());
  }

  private <R> Outcome.Held<R> held() {
    return Outcome.held((MOST_ROUNDS + 1) * neighbours.roundNanos(), HELD_BYTES);
  }

  /** The parent. Refuses early what could not succeed, before any namenode makes a share. */
  private Container parentOf(PathBytes path) throws CrailException {
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    Tree.Place place = tree.locate(path);
    Container parent = tree.requireContainer(place.parent(), path);
    if (place.child() != null) {
      throw ErrorCode.NODE_EXISTS.exception(path.toString());
    }
    return parent;
  }

  /** A directory has ended, or was not made. */
  private void gone(SetShare.Request last, Consumer<Round> done) {
    versions.remove(last.id());
    neighbours.say(state(last, lastVersion.incrementAndGet(), SetShare.GONE), done);
  }

  private static SetShare.Request state(SetShare.Request of, long version, int newState) {
    return new SetShare.Request(
        of.owner(),
        of.incarnation(),
        of.id(),
        version,
        newState,
        of.type(),
        of.flags(),
        of.permissions(),
        of.storageClass(),
        of.modifiedMillis(),
        of.path(),
        of.host(),
        of.user(),
        of.group());
  }

  /** The present state of a directory, as its shares should have it. */
  private SetShare.Request stateOf(Container directory, long version, int newState) {
    return new SetShare.Request(
        options.index(),
        incarnation,
        directory.id(),
        version,
        newState,
        directory.type(),
        directory.flags(),
        directory.permissions(),
        directory.storageClass(),
        directory.modifiedMillis(),
        Utf8.of(directory.path()),
        state.hosts().name(directory.host()),
        state.users().text(directory.owner()),
        state.users().text(directory.group()));
  }

  /** The state of a directory that is to be made, as far as it is known before. */
  private SetShare.Request stateOf(NewNode newNode, Container parent, Utf8 user) {
    return new SetShare.Request(
        options.index(),
        incarnation,
        newNode.spreadId(),
        newVersion(newNode.spreadId()),
        SetShare.OPEN,
        newNode.type(),
        newNode.flags(),
        newNode.permissions(),
        newNode.storageClass(parent),
        0,
        Utf8.of(newNode.path().toString()),
        state.hosts().name(newNode.host(parent, state.hosts())),
        user,
        state.users().text(parent.group()));
  }

  /** A version and the list of all directories change together, see {@link #page}. */
  private synchronized long newVersion(long id) {
    long version = lastVersion.incrementAndGet();
    versions.put(id, version);
    return version;
  }

  /**
   * Tells all shares the attributes that a directory has now.
   *
   * @return the answer to whoever has set them
   */
  public <R> Outcome<R> attributesChanged(long id, R answer) {
    Container directory = options.count() == 1 ? null : tree.spread().owned().get(id);
    if (directory == null) {
      return Outcome.now(answer);
    }
    int present = leaving.contains(id) ? SetShare.SEALED : SetShare.OPEN;
    Outcome.Held<R> held = held();
    neighbours.say(
        stateOf(directory, newVersion(id), present),
        round -> {
          if (round.failure() == null) {
            held.release(answer);
          } else {
            held.fail(round.failure());
          }
        });
    return held;
  }

  /** Removes a node, and with it the shares of all spread directories that are removed. */
  public Outcome<Remove.Response> remove(Remove.Request request, Caller caller)
      throws CrailException {
    Removal removal =
        removals.remove(request.path(), request.recursive(), request.id(), caller, Sealed.NONE);
    if (removal.node() != null) {
      return Outcome.now(new Remove.Response(removal.node()));
    }
    SealedRemoval sealed = new SealedRemoval(request, caller);
    sealed.seal(removal.unsealed());
    return sealed.held;
  }

  /** A removal that other namenodes take part in. One thread at a time is in it. */
  private final class SealedRemoval {
    private final Remove.Request request;
    private final Caller caller;
    private final Outcome.Held<Remove.Response> held = SpreadRule.this.held();
    private final Set<Container> directories = new HashSet<>();
    private long children;
    private int rounds;

    SealedRemoval(Remove.Request request, Caller caller) {
      this.request = request;
      this.caller = caller;
    }

    void seal(List<Container> unsealed) {
      rounds++;
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : unsealed) {
        if (!leaving.add(each.id())) {
          refuse(ErrorCode.BEING_REMOVED.exception(each.path()));
          return;
        }
        directories.add(each);
        sealHere(each, true);
        states.add(stateOf(each, newVersion(each.id()), SetShare.SEALED));
      }
      say(states, this::sealed);
    }

    private void sealed(Round round) {
      children += round.children();
      if (round.failure() != null) {
        refuse(round.failure());
        return;
      }
      Removal removal;
      try {
        removal =
            removals.remove(
                request.path(),
                request.recursive(),
                request.id(),
                caller,
                new Sealed(directories, children));
      } catch (CrailException e) {
        refuse(e);
        return;
      }
      if (removal.node() != null) {
        drop(removal.node());
      } else if (rounds < MOST_ROUNDS / 2) {
        seal(removal.unsealed());
      } else {
        refuse(ErrorCode.BEING_REMOVED.exception(SpreadPath.text(request.path()).toString()));
      }
    }

    private void drop(NodeInfo removed) {
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : directories) {
        versions.remove(each.id());
        leaving.remove(each.id());
        states.add(stateOf(each, lastVersion.incrementAndGet(), SetShare.GONE));
      }
      say(
          states,
          round -> {
            if (round.failure() == null) {
              held.release(new Remove.Response(removed));
            } else {
              held.fail(round.failure());
            }
          });
    }

    /** Opens all shares again. Those that do not hear of it learn it later. */
    private void refuse(CrailException why) {
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : directories) {
        leaving.remove(each.id());
        sealHere(each, false);
        if (tree.spread().owned().containsKey(each.id())) {
          states.add(stateOf(each, newVersion(each.id()), SetShare.OPEN));
        }
      }
      say(states, round -> held.fail(why));
    }
  }

  private void sealHere(Container directory, boolean isSealed) {
    locks.of(
        directory,
        () -> {
          applier.seal(directory, isSealed);
          return null;
        });
  }

  /** Says several states, and ends when all other namenodes have answered to all. */
  private void say(List<SetShare.Request> states, Consumer<Round> done) {
    AtomicReference<Round> sum = new AtomicReference<>(new Round(0, null));
    AtomicInteger left = new AtomicInteger(states.size());
    if (states.isEmpty()) {
      done.accept(sum.get());
    }
    for (SetShare.Request each : states) {
      neighbours.say(
          each,
          round -> {
            sum.accumulateAndGet(round, Round::plus);
            if (left.decrementAndGet() == 0) {
              done.accept(sum.get());
            }
          });
    }
  }

  /**
   * A page of all directories that have shares, for a namenode that compares them with its own.
   *
   * @param first the lowest id of the page
   */
  public synchronized CheckShares.Request page(long first) {
    long version = lastVersion.get();
    NavigableMap<Long, Long> rest = versions.tailMap(first, true);
    List<CheckShares.Directory> directories = new ArrayList<>();
    long last = -1;
    for (Map.Entry<Long, Long> each : rest.entrySet()) {
      if (directories.size() == CheckShares.MAX_DIRECTORIES) {
        last = directories.get(directories.size() - 1).id();
        break;
      }
      directories.add(new CheckShares.Directory(each.getKey(), each.getValue()));
    }
    return new CheckShares.Request(options.index(), incarnation, version, first, last, directories);
  }

  /** True when any directory has shares. */
  public boolean isAny() {
    return !versions.isEmpty();
  }

  /** The present state of a directory, to be said again; null when it is gone. */
  public SetShare.Request presentState(long id) {
    Long version = versions.get(id);
    Container directory = tree.spread().owned().get(id);
    if (version == null) {
      return null;
    }
    if (directory == null) {
      return coming.get(id);
    }
    int present = leaving.contains(id) ? SetShare.SEALED : SetShare.OPEN;
    return stateOf(directory, version, present);
  }
}
