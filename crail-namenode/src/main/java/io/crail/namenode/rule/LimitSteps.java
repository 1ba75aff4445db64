/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.DirectoryUsage;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.PendingNodes;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What the steps of a compound operation see and decide about the quota of a container. Immutable;
 * used under the container's lock.
 *
 * @param container the container; null for a node with bytes, or for none
 * @param isEmpty whether nothing in it takes space
 * @param decided the limits that steps have decided; null for none
 */
record LimitSteps(Container container, boolean isEmpty, Quota.Limits decided) {
  /** For a node that has no quota of its own. */
  static final LimitSteps NONE = new LimitSteps(null, true, null);

  /** Before any step. */
  static LimitSteps of(Node node, PendingNodes pending) {
    return node instanceof Container container
        ? new LimitSteps(container, pending.isEmpty(container), null)
        : NONE;
  }

  /** True when the limits are to be applied. */
  boolean haveChanged() {
    return decided != null;
  }

  /** After a step that sets the limits. */
  LimitSteps limit(CompoundStep step) throws CrailException {
    requireContainer();
    if (container.type() == NodeType.MULTIFILE || step.data().length() != Long.BYTES) {
      throw ErrorCode.INVALID_ARGUMENT.exception("limits are for directories and tables");
    }
    if (container.isSpread()) {
      requireCounted();
    }
    long names = ByteBuffer.wrap(step.data().bytes()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (step.number() < Quota.UNLIMITED || names < Quota.UNLIMITED) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "limits of " + step.number() + " bytes and " + names + " names");
    }
    if (!container.hasOwnQuota() && !isEmpty) {
      throw ErrorCode.NOT_EMPTY.exception("its first limits are set while it is empty");
    }
    return new LimitSteps(container, isEmpty, new Quota.Limits(step.number(), names));
  }

  /** Before a step that a method has decided, and that sets the limits. */
  void requireMethodMay() throws CrailException {
    if (container != null && container.isSpread()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "the limits of a spread directory are set by a step of a list, not by a method");
    }
  }

  /** The limits would not be held where something is not counted. */
  private void requireCounted() throws CrailException {
    if (!container.hasOwnQuota()) {
      throw ErrorCode.BEING_REMOVED.exception("it has just been made");
    }
    if (!container.quota().isCounted()) {
      throw ErrorCode.NOT_EMPTY.exception(
          "its first limits are set while it is empty, and while no namenode is short of heap");
    }
    if (container.quota().lacksShare()) {
      throw ErrorCode.UNAVAILABLE.exception("a namenode has no share of it yet");
    }
  }

  /** What a step reads. */
  DirectoryUsage usage() throws CrailException {
    requireContainer();
    Quota quota = container.quota();
    boolean begins = decided != null && !container.hasOwnQuota();
    // An account that does not count all is what first limits leave that were refused.
    if (!begins && (quota == null || !quota.isCounted())) {
      throw ErrorCode.CONDITION_FAILED.exception("there is no quota");
    }
    Quota.Usage usage = begins ? new Quota.Usage(0, 0, decided) : quota.wholeUsage();
    Quota.Limits limits = decided == null ? usage.limits() : decided;
    Node directory = begins ? container : (Node) quota.directory();
    return new DirectoryUsage(
        directory.path(), usage.bytes(), limits.bytes(), usage.names(), limits.names());
  }

  private void requireContainer() throws CrailException {
    if (container == null) {
      throw ErrorCode.WRONG_TYPE.exception("it is no directory");
    }
  }
}
