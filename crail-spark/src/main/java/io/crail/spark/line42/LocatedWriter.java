/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
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
  private final TaskContext context;
  private final Supplier<String> sealedHost;
  private String host;

  /**
   * Creates it.
   *
   * @param sealedHost gives the host of the output that this thread has sealed; null for none
   */
  LocatedWriter(ShuffleWriter<K, V> writer, TaskContext context, Supplier<String> sealedHost) {
    this.writer = writer;
    this.context = context;
    this.sealedHost = sealedHost;
  }

  /**
   * A place that is no executor and no host of Spark. The attempt of the stage is a part of it:
   * when a late task of the stage before reports that an output was lost, Spark forgets that output
   * only if its place is the one that the task has asked, and not what was computed again
   * meanwhile.
   */
  static BlockManagerId location(String host, TaskContext context) {
    String name = PREFIX + (host.isEmpty() ? "nowhere" : host.replace(':', '-'));
    return BlockManagerId.apply(
        name, name, PORT, Option.apply("attempt " + context.stageAttemptNumber()));
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    writer.write(records);
    host = sealedHost.get();
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    Option<MapStatus> status = writer.stop(success);
    if (status.isDefined()) {
      status.get().updateLocation(location(host, context));
    }
    return status;
  }

  @Override
  public long[] getPartitionLengths() {
    return writer.getPartitionLengths();
  }

  /** Whether an output at this place has a file: that of a task without records may have none. */
  static boolean hasFile(BlockManagerId location) {
    return !location.host().equals(PREFIX + "nowhere");
  }
}
