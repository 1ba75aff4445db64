/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.util.concurrent.atomic.LongAdder;

/** What a process has written and fetched of map outputs. Thread-safe. */
public final class OutputStatistics {
  private final LongAdder outputs = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder blocksFetched = new LongAdder();
  private final LongAdder bytesFetched = new LongAdder();
  private final LongAdder blocksFailed = new LongAdder();

  /** Creates it with zeros. */
  public OutputStatistics() {}

  /** Counts an output that was sealed, with the bytes of its file. */
  void sealed(long bytes) {
    outputs.increment();
    bytesWritten.add(bytes);
  }

  /** Counts a block that was handed over. */
  public void fetched(long bytes) {
    blocksFetched.increment();
    bytesFetched.add(bytes);
  }

  /** Counts a block that could not be fetched. */
  public void failed() {
    blocksFailed.increment();
  }

  /** {@return the outputs that were sealed} */
  public long outputs() {
    return outputs.sum();
  }

  /** {@return the bytes of their files} */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** {@return the blocks that tasks got} */
  public long blocksFetched() {
    return blocksFetched.sum();
  }

  /** {@return their bytes} */
  public long bytesFetched() {
    return bytesFetched.sum();
  }

  /** {@return the blocks that could not be fetched} */
  public long blocksFailed() {
    return blocksFailed.sum();
  }
}
