/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.common.error.ErrorCode;
import io.crail.common.error.NoSpaceException;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * A writer that asks the driver for room when it finds the store full. Its task fails all the same,
 * and Spark's next attempt finds the room. Used by one thread.
 */
final class RoomWriter<K, V> extends ShuffleWriter<K, V> {
  private final ShuffleWriter<K, V> writer;
  private final Supplier<String> makeRoom;

  /**
   * Creates it.
   *
   * @param makeRoom says who holds the space then
   */
  RoomWriter(ShuffleWriter<K, V> writer, Supplier<String> makeRoom) {
    this.writer = writer;
    this.makeRoom = makeRoom;
  }

  /** The writer that writes. */
  ShuffleWriter<K, V> inner() {
    return writer;
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    try {
      writer.write(records);
    } catch (NoSpaceException e) {
      IOException full = ErrorCode.NO_SPACE.exception(e.detail() + "; " + makeRoom.get());
      full.initCause(e);
      throw full;
    }
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    return writer.stop(success);
  }

  @Override
  public long[] getPartitionLengths() {
    return writer.getPartitionLengths();
  }
}
