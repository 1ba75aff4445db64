/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
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
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;

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
 * <p>A namenode that does not answer fails the request. It gets later what it has missed: each
 * state of a directory has a version ({@link SpreadStandings}), and the owner compares versions
 * with each namenode now and then. A share stays sealed until its owner says otherwise: the owner
 * alone knows whether the removal took place. Thread-safe.
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

    /**
     * Lends slices of limits to all other namenodes, as they are after this call.
     *
     * @param done gets null, or why one of them has not answered; once, in any thread
     */
    void lend(QuotaLoans loans, Consumer<CrailException> done);
  }

  /** What is lent to other namenodes of the limits of spread directories. */
  public interface QuotaLoans {
    /**
     * What a namenode is lent from now on. Its answer, or a failure, has to come before it is asked
     * again.
     *
     * @return the request; null when there are no limits
     */
    LendQuota.Request offer(int namenode);

    /** Notes what a namenode has answered. */
    void answered(int namenode, LendQuota.Request request, LendQuota.Response response);
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

  /**
   * Most rounds of a request: a removal counts, seals, perhaps seals directories that came in
   * between, and drops or opens.
   */
  private static final int MOST_ROUNDS = 4;

  /** How often a removal seals. */
  private static final int MOST_SEALS = 2;

  /** Most requests that wait for other namenodes at one time. */
  private static final int MOST_WAITING = 1024;

  /** The heap that a request takes which waits for other namenodes. */
  private static final int HELD_BYTES = 4096;

  private final NameNodeOptions options;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final RemoveRule removals;
  private final Neighbours neighbours;
  private final SpreadStandings standings;

  /** Requests that wait for other namenodes. */
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * Creates the rule.
   *
   * @param standings how its directories stand
   */
  public SpreadRule(
      NameNodeOptions options,
      State state,
      Locks locks,
      Applier applier,
      RemoveRule removals,
      Neighbours neighbours,
      SpreadStandings standings) {
    this.options = options;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.removals = removals;
    this.neighbours = neighbours;
    this.standings = standings;
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
    if (options.count() == 1) {
      return Outcome.now(answer(creator.create(NewNode.of(request))));
    }
    NewNode newNode = NewNode.spread(request, tree.newId());
    Container parent = parentOf(newNode);
    takePlace(newNode.path().toString());
    SetShare.Request open;
    try {
      open = standings.begin(newNode, parent, caller.principal().name());
    } catch (CrailException | RuntimeException | Error e) {
      waiting.decrementAndGet();
      throw e;
    }
    Outcome.Held<Create.Response> held = held();
    neighbours.say(
        open,
        round -> {
          try {
            if (round.failure() != null) {
              throw round.failure();
            }
            Create.Response response = answer(creator.create(newNode));
            standings.named(open.id());
            end(held, response, null);
          } catch (CrailException e) {
            notMade(open, held, e);
          } catch (RuntimeException | Error e) {
            notMade(open, held, ErrorCode.INTERNAL.exception(open.path().toString()));
            throw e;
          }
        });
    return held;
  }

  private static Create.Response answer(Node node) {
    return new Create.Response(node.info(), List.of());
  }

  /**
   * A place among the requests that wait. They have a limit of their own, since a request waits on
   * when its connection is gone.
   */
  void takePlace(String what) throws CrailException {
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          what + ": " + MOST_WAITING + " requests wait for other namenodes");
    }
  }

  <R> Outcome.Held<R> held() {
    return Outcome.held((MOST_ROUNDS + 1) * neighbours.roundNanos(), HELD_BYTES);
  }

  <R> void end(Outcome.Held<R> held, R answer, CrailException failure) {
    waiting.decrementAndGet();
    if (failure == null) {
      held.release(answer);
    } else {
      held.fail(failure);
    }
  }

  /** The parent. Refuses early what could not succeed, before any namenode makes a share. */
  private Container parentOf(NewNode newNode) throws CrailException {
    PathBytes path = newNode.path();
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    Tree.Place place = tree.locate(path);
    Container parent = tree.requireContainer(place.parent(), path);
    if (place.child() != null) {
      throw ErrorCode.NODE_EXISTS.exception(path.toString());
    }
    newNode.requireClass(options.storageClasses());
    newNode.requireType(parent);
    newNode.requireNoneAbove(parent);
    return parent;
  }

  private void notMade(
      SetShare.Request open, Outcome.Held<Create.Response> held, CrailException why) {
    neighbours.say(standings.notMade(open), round -> end(held, null, why));
  }

  /**
   * Tells all shares the attributes that a directory has now.
   *
   * @return the answer to whoever has set them
   */
  public <R> Outcome<R> attributesChanged(long id, R answer) throws CrailException {
    Container directory = tree.spread().owned().get(id);
    SetShare.Request state = directory == null ? null : standings.renew(directory);
    if (state == null) {
      return Outcome.now(answer);
    }
    // Without a place, the shares learn it with the next comparison.
    takePlace(directory.path());
    Outcome.Held<R> held = held();
    neighbours.say(state, round -> end(held, answer, round.failure()));
    return held;
  }

  /**
   * The state that all shares get, with the lifetime that new children get now; null if a list
   * cannot have changed it.
   */
  SetShare.Request stateAfter(Operate.Request request, Operate.Response answer) {
    boolean mayHaveChanged = answer.failed() == Operate.NONE_FAILED;
    boolean changes = false;
    for (CompoundStep step : request.steps()) {
      // A method may decide such a step too.
      changes |=
          step.kind() == StepKind.EXPIRE_CHILDREN.number() || step.kind() == StepKind.CALL.number();
    }
    Container directory = tree.spread().owned().get(answer.id());
    return mayHaveChanged && changes && directory != null ? standings.renew(directory) : null;
  }

  /**
   * Tells all shares the lifetime that new children get now, if a list may have changed it. The
   * list is performed in any case: a namenode that is silent learns it later.
   */
  public Outcome<Operate.Response> operated(Operate.Request request, Operate.Response answer) {
    SetShare.Request state = stateAfter(request, answer);
    if (state == null) {
      return Outcome.now(answer);
    }
    try {
      takePlace(state.path().toString());
    } catch (CrailException e) {
      // The shares learn it with the next comparison.
      return Outcome.now(answer);
    }
    Outcome.Held<Operate.Response> held = held();
    neighbours.say(state, round -> end(held, answer, null));
    return held;
  }

  /** Removes a node, and with it the shares of all spread directories that are removed. */
  public Outcome<Remove.Response> remove(Remove.Request request) throws CrailException {
    return remove(request, node -> true, () -> {});
  }

  /**
   * As {@link #remove(Remove.Request)}.
   *
   * @param mayGo whether the node may be removed, asked under its lock
   * @param ended is called when other namenodes took part, and the removal is over
   */
  Outcome<Remove.Response> remove(Remove.Request request, Predicate<Node> mayGo, Runnable ended)
      throws CrailException {
    Removal removal =
        removals.remove(request.path(), request.recursive(), request.id(), mayGo, Sealed.NONE);
    if (removal.node() != null) {
      return Outcome.now(new Remove.Response(removal.node()));
    }
    takePlace(SpreadPath.text(request.path()).toString());
    SealedRemoval sealed = new SealedRemoval(request, mayGo, ended);
    sealed.begin(removal.unsealed());
    return sealed.held;
  }

  /** A removal that other namenodes take part in. One thread at a time is in it. */
  private final class SealedRemoval {
    private final Remove.Request request;
    private final Predicate<Node> mayGo;
    private final Runnable ended;
    private final Outcome.Held<Remove.Response> held = SpreadRule.this.held();
    private final Set<Container> directories = new HashSet<>();
    private long children;
    private int seals;

    SealedRemoval(Remove.Request request, Predicate<Node> mayGo, Runnable ended) {
      this.request = request;
      this.mayGo = mayGo;
      this.ended = ended;
    }

    /**
     * Asks all namenodes before anything is sealed, so that users of the directory are not
     * disturbed when a namenode is silent, or the directory has children that are not to be removed
     * with it.
     */
    void begin(List<Container> unsealed) {
      SetShare.Request known = standings.present(unsealed.get(0).id(), false);
      if (known == null) {
        seal(unsealed);
        return;
      }
      neighbours.say(
          known,
          round -> {
            if (round.failure() != null) {
              refuse(round.failure());
            } else if (round.children() > 0 && !request.recursive()) {
              refuse(ErrorCode.NOT_EMPTY.exception(unsealed.get(0).path()));
            } else {
              seal(unsealed);
            }
          });
    }

    void seal(List<Container> unsealed) {
      seals++;
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : unsealed) {
        SetShare.Request sealed = standings.change(each, SetShare.OPEN, SetShare.SEALED);
        if (sealed == null) {
          // Another removal is at it.
          refuse(ErrorCode.BEING_REMOVED.exception(each.path()));
          return;
        }
        directories.add(each);
        sealHere(each, true);
        states.add(sealed);
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
                mayGo,
                new Sealed(directories, children));
      } catch (CrailException e) {
        refuse(e);
        return;
      } catch (RuntimeException | Error e) {
        refuse(ErrorCode.INTERNAL.exception(SpreadPath.text(request.path()).toString()));
        throw e;
      }
      if (removal.node() != null) {
        drop(removal.node());
      } else if (seals < MOST_SEALS) {
        seal(removal.unsealed());
      } else {
        refuse(ErrorCode.BEING_REMOVED.exception(SpreadPath.text(request.path()).toString()));
      }
    }

    private void drop(NodeInfo removed) {
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : directories) {
        states.add(standings.gone(each));
      }
      say(states, round -> over(new Remove.Response(removed), round.failure()));
    }

    /** Opens all shares again. Those that do not hear of it learn it later. */
    private void refuse(CrailException why) {
      List<SetShare.Request> states = new ArrayList<>();
      for (Container each : directories) {
        // First, so that the seal of the next removal is not taken away.
        sealHere(each, false);
        SetShare.Request open = standings.change(each, SetShare.SEALED, SetShare.OPEN);
        if (open != null) {
          states.add(open);
        }
      }
      say(states, round -> over(null, why));
    }

    private void over(Remove.Response response, CrailException failure) {
      end(held, response, failure);
      ended.run();
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
}
