/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.nvmf.Controller;
import io.crail.nvmf.NamespaceData;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A client's looks at the labels of a controller's namespaces: whether these are still its
 * datanode's. All labels are read together, each as soon as there is room for it, and twice in each
 * keep-alive time. Used only in the loop.
 */
final class LabelWatch {
  /** Learns of labels. Called in the loop. */
  interface Listener {
    /** A label was read; returns false when the namespace must not be used any more. */
    boolean isOwned(NamespaceData namespace, ByteBuffer block, String problem);

    /** All labels were found right. */
    void checked();
  }

  private final ClientLoop loop;
  private final long keepAliveNanos;
  private final Listener listener;
  private final List<LabelAccess> labels = new ArrayList<>();
  private int left;
  private long lookNanos;
  private long checkedNanos;
  private boolean ended;

  /** Creates them; {@link #look} begins the first one. */
  LabelWatch(ClientLoop loop, Controller controller, long keepAliveNanos, Listener listener) {
    this.loop = loop;
    this.keepAliveNanos = keepAliveNanos;
    this.listener = listener;
    this.checkedNanos = loop.clock().nanoTime();
    for (NamespaceData namespace : controller.namespaces()) {
      labels.add(new LabelAccess(loop, controller, namespace));
    }
  }

  /** Begins a look. */
  void look() {
    // What is read may be as old as its request.
    lookNanos = loop.clock().nanoTime();
    left = labels.size();
    for (int i = 0; i < labels.size() && !ended; i++) {
      NamespaceData namespace = labels.get(i).namespace();
      labels.get(i).readLabel((block, problem) -> read(namespace, block, problem));
    }
  }

  private void read(NamespaceData namespace, ByteBuffer block, String problem) {
    if (ended || !listener.isOwned(namespace, block, problem)) {
      return;
    }
    if (--left > 0) {
      send();
    } else {
      checkedNanos = lookNanos;
      listener.checked();
    }
  }

  private void send() {
    for (int i = 0; i < labels.size(); i++) {
      labels.get(i).send();
    }
  }

  /**
   * Looks again when it is time. Such a look goes before all transfers, which would leave it no
   * room.
   *
   * @return false when the last good look is too old to send anything; see {@link LateExecution}
   */
  boolean areFresh(long nowNanos) {
    long since = nowNanos - checkedNanos;
    if (left > 0) {
      send();
    } else if (since >= keepAliveNanos / 2) {
      look();
    }
    return since < keepAliveNanos;
  }

  /** Whether a look has no answer for so long that the last good one has become too old. */
  boolean areSilent(long nowNanos) {
    return left > 0 && nowNanos - lookNanos >= keepAliveNanos / 2;
  }

  /** Forgets the labels; the listener is not called any more. */
  void end() {
    ended = true;
    labels.forEach(LabelAccess::abandon);
  }
}
