/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.RenameSequence;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Takes the locks under which decisions are made and applied. All locks of nodes are taken here, in
 * one order, so that no two threads wait for each other: containers by their ids; then the {@link
 * RenameSequence}; then nodes with bytes, a node before the one that is to replace it, or that is
 * staged for it. The lock of all datanodes is taken without any of these, and that of all shares
 * before them.
 *
 * <p>The classes of the state have locks of their own. They are taken under those above and never
 * the other way round, and most of them one at a time. The others have this order: {@code
 * RestingRegions}; the space of one datanode; its heap, or {@code Quarantine}; {@code CutOffs}.
 * Thread-safe.
 */
public final class Locks {
  private final RenameSequence renames;
  private final Object datanodes = new Object();
  private final Object shares = new Object();
  private volatile Consumer<Error> broken = error -> {};

  public Locks(RenameSequence renames) {
    this.renames = renames;
  }

  /**
   * What is done under locks.
   *
   * @param <T> the result; null often says that something has changed before it was locked, so that
   *     the caller has to look again
   * @param <E> why it may be refused
   */
  public interface Decision<T, E extends Exception> {
    /** Decides by what is there now, and applies the change. */
    T make() throws E;
  }

  /** What is done to a node under its lock. */
  public interface Action {
    /** Does it. */
    void apply(Node node);
  }

  /**
   * Sets what learns of errors that end a decision, such as an {@link OutOfMemoryError}: a change
   * may be made in part, or be in no record. Called under the locks.
   */
  public void onError(Consumer<Error> listener) {
    broken = listener;
  }

  private <T, E extends Exception> T make(Decision<T, E> decision) throws E {
    try {
      return decision.make();
    } catch (Error e) {
      broken.accept(e);
      throw e;
    }
  }

  /** As {@link #of(Node, Decision)}, without a result or an object for the call. */
  public void apply(Node node, Action action) {
    synchronized (node) {
      try {
        action.apply(node);
      } catch (Error e) {
        broken.accept(e);
        throw e;
      }
    }
  }

  /** Under the lock of one node: a container whose children change, or a node with bytes. */
  public <T, E extends Exception> T of(Node node, Decision<T, E> decision) throws E {
    synchronized (node) {
      return make(decision);
    }
  }

  /** Under the locks of a container and of a node in it. */
  private <T, E extends Exception> T of(Container parent, Node node, Decision<T, E> decision)
      throws E {
    boolean nodeFirst =
        node instanceof Container && Long.compareUnsigned(node.id(), parent.id()) < 0;
    synchronized (nodeFirst ? node : parent) {
      synchronized (nodeFirst ? parent : node) {
        return make(decision);
      }
    }
  }

  /**
   * Under the locks of a container and of a node in it, if the node is still there.
   *
   * @param isStill whether it is; called under the container's lock, and without that of a node
   *     with bytes, since it may wait for renames
   * @return null when it is not there any more
   */
  public <T, E extends Exception> T ofChild(
      Container parent, Node node, BooleanSupplier isStill, Decision<T, E> decision) throws E {
    if (node instanceof Container) {
      return of(parent, node, () -> isStill.getAsBoolean() ? make(decision) : null);
    }
    synchronized (parent) {
      return isStill.getAsBoolean() ? of(node, decision) : null;
    }
  }

  /** Under the locks of containers. Some of them may be the same. */
  public <T, E extends Exception> T of(Decision<T, E> decision, Container... containers) throws E {
    Arrays.sort(containers, (a, b) -> Long.compareUnsigned(a.id(), b.id()));
    return of(decision, containers, 0);
  }

  private <T, E extends Exception> T of(Decision<T, E> decision, Container[] locks, int taken)
      throws E {
    if (taken == locks.length) {
      return make(decision);
    }
    synchronized (locks[taken]) {
      return of(decision, locks, taken + 1);
    }
  }

  /**
   * While nothing is renamed, so that no node leaves a container, or what is below it, that is
   * being removed.
   */
  public <T, E extends Exception> T withoutRenames(Decision<T, E> decision) throws E {
    return renames.runWithout(() -> make(decision));
  }

  /**
   * Within the sequence of renames, so that a lookup sees all of the change or nothing.
   *
   * @param isOfContainer whether a container gets another name, which excludes all other renames
   */
  public <T, E extends Exception> T ofRename(boolean isOfContainer, Decision<T, E> decision)
      throws E {
    return isOfContainer
        ? renames.runAlone(() -> make(decision))
        : renames.runBeside(() -> make(decision));
  }

  /**
   * Under the lock of all shares of spread directories: which there are, and in which state. It is
   * taken without any of the others, and before those of nodes.
   */
  public <T, E extends Exception> T ofShares(Decision<T, E> decision) throws E {
    synchronized (shares) {
      return make(decision);
    }
  }

  /** Under the lock of all datanodes: which there are, what they lend and may be used for. */
  public <T, E extends Exception> T ofDatanodes(Decision<T, E> decision) throws E {
    synchronized (datanodes) {
      return make(decision);
    }
  }

  /** Under the lock of a datanode's space. No thread takes any of it meanwhile. */
  public <T, E extends Exception> T ofSpace(DatanodeSpace datanode, Decision<T, E> decision)
      throws E {
    synchronized (datanode) {
      return make(decision);
    }
  }
}
