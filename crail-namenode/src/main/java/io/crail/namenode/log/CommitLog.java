/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeSink;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.CommitGate;

/**
 * Where the changes of a namenode go that is to survive. The number of the last record that was
 * appended is the {@linkplain #position position} of the gate. Thread-safe.
 */
public interface CommitLog extends ChangeSink, RecordTarget, CommitGate {
  /**
   * As the other method. If the log may end behind the change, and before {@link #finish}, a record
   * follows that says so.
   */
  void changed(Change change, Unfinished<?> begun);

  /**
   * Appends a record that finishes something.
   *
   * @param begun what was begun; null for nothing
   */
  <T> void finish(int kind, Codec<T> codec, T record, Unfinished<?> begun);

  /** Which requests write their changes and their answers to it. */
  RequestsUnderWay requests();

  /** Why no changes may be made now; null if they may. */
  String refusal();

  /** Nothing is appended any more, since what is in the log may not be what there is. */
  void fail(Throwable cause);
}
