/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * One of Spark's writers, whose output is told to be where it lies and not at this executor. So
 * Spark keeps it when the executor goes, and drops all outputs of a host of Crail when one of them
 * cannot be fetched.
 */
final class LocatedWriter<K, V> extends ShuffleWriter<K, V> {
  private static final String PREFIX = "crail-";

  /** Nobody connects to it, but Spark wants one. */
  private static final int PORT = 1;

  private final ShuffleWriter<K, V> writer;
  private final Supplier<String> host;

  /** Creates it; {@code host} gives the host of the sealed output, once, and null without one. */
  LocatedWriter(ShuffleWriter<K, V> writer, Supplier<String> host) {
    this.writer = writer;
    this.host = host;
  }

  /** A place that is no executor and no host of Spark. */
  static BlockManagerId location(String host) {
    String name = PREFIX + (host.isEmpty() ? "nowhere" : host.replace(':', '-'));
    return BlockManagerId.apply(name, name, PORT, Option.empty());
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    writer.write(records);
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    Option<MapStatus> status = writer.stop(success);
    String sealed = host.get();
    if (status.isDefined()) {
      status.get().updateLocation(location(sealed));
    }
    return status;
  }

  @Override
  public long[] getPartitionLengths() {
    return writer.getPartitionLengths();
  }
}
