/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.OutputWriter;
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
 * One of Spark's writers, which reports the output's host as its location, and not this executor.
 * So Spark keeps it when the executor goes, and drops all outputs of a host of Crail when one of
 * them cannot be fetched.
 */
final class LocatedWriter<K, V> extends ShuffleWriter<K, V> {
  /**
   * An output that one of Spark's writers has sealed.
   *
   * @param writer wrote it
   * @param host where the output is
   */
  record SealedOutput(OutputWriter writer, String host) {}

  private static final String PREFIX = "crail-";

  /** Spark wants one, although it takes no connections. */
  private static final int PORT = 1;

  private final ShuffleWriter<K, V> writer;
  private final TaskContext context;
  private final Supplier<SealedOutput> takeSealed;
  private SealedOutput sealed;

  /**
   * Creates it.
   *
   * @param takeSealed gives the output that this thread has sealed; null for none
   */
  LocatedWriter(
      ShuffleWriter<K, V> writer, TaskContext context, Supplier<SealedOutput> takeSealed) {
    this.writer = writer;
    this.context = context;
    this.takeSealed = takeSealed;
  }

  /**
   * A place that is no executor and no host of Spark. The stage and its attempt are a part of it:
   * when a late task of the stage before reports that an output was lost, Spark forgets that output
   * only if its place is the one that the task has asked, and not what was computed again
   * meanwhile.
   */
  static BlockManagerId location(String host, TaskContext context) {
    String name = PREFIX + (host.isEmpty() ? "nowhere" : host.replace(':', '-'));
    return BlockManagerId.apply(
        name,
        name,
        PORT,
        Option.apply("stage " + context.stageId() + "." + context.stageAttemptNumber()));
  }

  /** Whether an executor's name is one that {@link #location} gives. */
  static boolean isPlace(String executor) {
    return executor.startsWith(PREFIX);
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    try {
      writer.write(records);
    } finally {
      // Also when it fails after the output was sealed. And no other task of this thread takes it.
      sealed = takeSealed.get();
    }
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    Option<MapStatus> status = writer.stop(success);
    if (status.isDefined()) {
      status.get().updateLocation(location(sealed.host(), context));
    } else if (sealed != null) {
      discard(sealed.writer());
    }
    return status;
  }

  private static void discard(OutputWriter output) {
    try {
      output.discard();
    } catch (IOException e) {
      // The driver deletes it when it hears that the task has failed.
    }
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
