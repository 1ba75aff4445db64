/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

/** Receives the changes that {@link Applier} and {@link DatanodeApplier} make, such as a log. */
@FunctionalInterface
public interface ChangeSink {
  /**
   * A change is made. Called under the locks of the node and of the directories that it changes, so
   * the changes of one node, and those of one directory, come in their order. A new node cannot be
   * found yet, and space that is released cannot be given out yet. Changes of datanodes come under
   * their lock. A number of a name comes, at any time, before the change that uses it. Must neither
   * fail nor wait.
   */
  void changed(Change change);
}
