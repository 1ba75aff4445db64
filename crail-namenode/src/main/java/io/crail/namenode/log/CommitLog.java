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
   * Appends a record. If the log may end behind one that begins something, and before the one that
   * finishes it, a record follows that says so.
   *
   * @param begins what it begins; null for nothing
   * @param ends what it finishes; null for nothing
   */
  <T> void append(int kind, Codec<T> codec, T record, Unfinished<?> begins, Unfinished<?> ends);

  @Override
  default <T> void append(int kind, Codec<T> codec, T record) {
    append(kind, codec, record, null, null);
  }

  @Override
  default void changed(Change change) {
    changed(change, null);
  }

  /** As the other method, where the change begins something. */
  @SuppressWarnings("unchecked")
  default void changed(Change change, Unfinished<?> begins) {
    append(change.number(), (Codec<Change>) change.codec(), change, begins, null);
  }

  /** The number of the last record, whether it is final or not. */
  long last();

  /** Bytes of records that are not on their way yet. If there are too many, changes are refused. */
  long waitingBytes();

  /** Which requests write their changes and their answers to it. */
  RequestsUnderWay requests();

  /** Why no changes may be made now; null if they may. */
  String refusal();

  /** Nothing is appended any more, since what is in the log may not be what there is. */
  void fail(Throwable cause);
}
