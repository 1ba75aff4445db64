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
import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.Outcome;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides the limits of the spread directories that this namenode owns. It lends a slice of each to
 * each of the other namenodes, a few times a second, and hears what they use.
 *
 * <p>A list of steps that sets limits takes some rounds of that. Before it, all shares begin to
 * count, which they only can while they are empty. After it, all are bound to what they use, and
 * then get slices of what is free. So the limits hold when the client is answered. Thread-safe.
 */
public final class SpreadLimits implements SpreadRule.QuotaLoans {
  private final NameNodeOptions options;
  private final State state;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final SpreadRule.Neighbours neighbours;
  private final SpreadStandings standings;
  private final SpreadRule spread;

  /** Performs a list of steps. */
  @FunctionalInterface
  public interface Performer {
    /** Performs it. */
    Operate.Response perform() throws CrailException;
  }

  /** Creates it. */
  public SpreadLimits(
      NameNodeOptions options,
      State state,
      Locks locks,
      Applier applier,
      SpreadRule.Neighbours neighbours,
      SpreadStandings standings,
      SpreadRule spread) {
    this.options = options;
    this.state = state;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.neighbours = neighbours;
    this.standings = standings;
    this.spread = spread;
  }

  /** True for a list of steps that sets limits of a spread directory of this namenode. */
  public boolean isFor(Operate.Request request) throws CrailException {
    for (CompoundStep step : request.steps()) {
      if (step.kind() == StepKind.LIMIT.number()) {
        return directory(request) != null;
      }
    }
    return false;
  }

  private Container directory(Operate.Request request) throws CrailException {
    PathBytes path = PathBytes.of(request.path());
    tree.requireOwn(path);
    return path.isRoot()
            || !(tree.locate(path).child() instanceof Container container)
            || !tree.spread().owned().containsKey(container.id())
        ? null
        : container;
  }

  /** Performs a list of steps that sets limits. */
  public Outcome<Operate.Response> operate(Operate.Request request, Performer performer)
      throws CrailException {
    PathBytes path = PathBytes.of(request.path());
    Container directory = directory(request);
    SetShare.Request known = directory == null ? null : standings.present(directory.id(), false);
    if (known == null) {
      throw ErrorCode.BEING_REMOVED.exception(path.toString());
    }
    spread.takePlace(path.toString());
    Outcome.Held<Operate.Response> held = spread.held();
    if (directory.hasOwnQuota()) {
      set(request, performer, held, directory, path);
    } else {
      // An account that has begun stays. So all are asked before, for refusals that are known then.
      neighbours.say(
          known,
          round -> {
            if (round.failure() != null) {
              spread.end(held, null, round.failure());
            } else if (round.children() > 0) {
              spread.end(held, null, notEmpty(path));
            } else {
              set(request, performer, held, directory, path);
            }
          });
    }
    return held;
  }

  private static CrailException notEmpty(PathBytes path) {
    return ErrorCode.NOT_EMPTY.exception(path + ": its first limits are set while it is empty");
  }

  private void set(
      Operate.Request request,
      Performer performer,
      Outcome.Held<Operate.Response> held,
      Container directory,
      PathBytes path) {
    try {
      Container parent = Container.of(directory);
      if (parent == null
          || locks.ofChild(
                  parent,
                  directory,
                  () -> tree.isStill(directory, parent, path),
                  () -> begin(directory, path))
              == null) {
        throw ErrorCode.BEING_REMOVED.exception(path.toString());
      }
    } catch (CrailException e) {
      spread.end(held, null, e);
      return;
    } catch (RuntimeException | Error e) {
      spread.end(held, null, ErrorCode.INTERNAL.exception(path.toString()));
      throw e;
    }
    neighbours.lend(
        this,
        failure -> {
          Operate.Response response = null;
          CrailException refusal = failure;
          try {
            response = refusal == null ? performer.perform() : null;
          } catch (CrailException e) {
            refusal = e;
          } catch (RuntimeException | Error e) {
            spread.end(held, null, ErrorCode.INTERNAL.exception(path.toString()));
            throw e;
          }
          if (refusal != null) {
            spread.end(held, null, refusal);
            return;
          }
          Operate.Response answer = response;
          SetShare.Request changed = spread.stateAfter(request, answer);
          if (changed == null) {
            end(held, answer);
          } else {
            neighbours.say(changed, round -> end(held, answer));
          }
        });
  }

  /** Ends a request once the limits hold at all namenodes, and all have got what is free. */
  private void end(Outcome.Held<Operate.Response> held, Operate.Response answer) {
    neighbours.lend(
        this,
        missed ->
            neighbours.lend(
                this, last -> spread.end(held, answer, missed == null ? last : missed)));
  }

  /**
   * The account of a directory, without limits if it begins now. Under the directory's lock, and
   * one at a time, as they are counted.
   */
  private synchronized Quota begin(Container directory, PathBytes path) throws CrailException {
    if (!directory.hasOwnQuota()) {
      if (directory.childCount() > 0) {
        throw notEmpty(path);
      }
      if (limited().size() >= LendQuota.MAX_DIRECTORIES) {
        throw ErrorCode.LIMIT_EXCEEDED.exception(
            path
                + ": this namenode has "
                + LendQuota.MAX_DIRECTORIES
                + " spread directories with limits");
      }
      state.budget().require(Quota.FOOTPRINT, 0, path);
      applier.limit(directory, Quota.Limits.NONE, null);
      directory.quota().divide(options.count(), options.index());
    }
    return directory.quota();
  }

  private List<Container> limited() {
    List<Container> limited = new ArrayList<>();
    for (Container each : tree.spread().owned().values()) {
      if (each.hasOwnQuota() && each.quota().isDivided()) {
        limited.add(each);
      }
    }
    return limited;
  }

  @Override
  public LendQuota.Request offer(int namenode) {
    List<LendQuota.Slice> slices = new ArrayList<>();
    for (Container each : limited()) {
      Quota.Limits slice = each.quota().offer(namenode);
      slices.add(new LendQuota.Slice(each.id(), slice.bytes(), slice.names()));
    }
    return slices.isEmpty() ? null : standings.loan(slices);
  }

  @Override
  public void answered(int namenode, LendQuota.Request request, LendQuota.Response response) {
    Map<Long, LendQuota.Use> uses = new HashMap<>();
    response.uses().forEach(use -> uses.put(use.id(), use));
    for (LendQuota.Slice slice : request.slices()) {
      Container directory = tree.spread().owned().get(slice.id());
      if (directory != null) {
        LendQuota.Use use = uses.get(slice.id());
        if (use == null) {
          directory.quota().missing(namenode);
        } else {
          directory.quota().answered(namenode, report(use), use.counted());
        }
      }
    }
  }

  private static Quota.Report report(LendQuota.Use use) {
    Quota.Limits slice = new Quota.Limits(use.bytesSlice(), use.namesSlice());
    return new Quota.Report(new Quota.Usage(use.bytes(), use.names(), slice), use.refused());
  }
}
