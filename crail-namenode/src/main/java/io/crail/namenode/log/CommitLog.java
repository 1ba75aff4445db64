/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.rpc.CommitGate;

/**
 * Where the changes of a namenode go that is to survive. The number of the last record that was
 * appended is the {@linkplain #position position} of the gate. Thread-safe.
 */
public interface CommitLog extends RecordTarget, CommitGate {
  /** Which requests write their changes and their answers to it. */
  RequestsUnderWay requests();

  /** Why no changes may be made now; null if they may. */
  String refusal();

  /** Nothing is appended any more, since what is in the log may not be what there is. */
  void fail(Throwable cause);
}
