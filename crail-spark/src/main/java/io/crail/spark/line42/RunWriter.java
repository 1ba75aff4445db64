/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputWriter.Sealed;
import java.io.IOException;
import java.util.Optional;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Writes the records of a map task straight into its output in Crail, as one run or several, where
 * Spark's writers have local files that they merge. Readers concatenate what a partition has in
 * each run, so it is for shuffles that {@linkplain #suits suit}. Used by one thread.
 */
final class RunWriter<K, V> extends ShuffleWriter<K, V> {
  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.Object();

  private final ShuffleDependency<K, V, ?> dependency;
  private final OutputId id;
  private final TaskContext task;
  private final RunOutput output;
  private final RecordSorter sorter;
  private long[] lengths;
  private MapStatus status;
  private boolean stopped;

  /** Takes no memory and creates no file yet. */
  RunWriter(
      RunOutput.Opener opener,
      OutputId id,
      ShuffleDependency<K, V, ?> dependency,
      TaskContext task,
      ShuffleWriteMetricsReporter metrics) {
    SparkEnv env = SparkEnv.get();
    this.dependency = dependency;
    this.id = id;
    this.task = task;
    this.output =
        new RunOutput(
            opener,
            id,
            dependency.partitioner().numPartitions(),
            env.serializerManager(),
            task,
            metrics);
    this.sorter = new RecordSorter(task, env.conf(), output);
  }

  /** Whether a shuffle's records may be written by this class. */
  static boolean suits(ShuffleDependency<?, ?, ?> dependency, SparkConf conf) {
    return SortShuffleManager.canUseSerializedShuffle(dependency) && concatenates(dependency, conf);
  }

  /** Whether streams of a shuffle's records can be read as one, after each other. */
  static boolean concatenates(ShuffleDependency<?, ?, ?> dependency, SparkConf conf) {
    return dependency.serializer().supportsRelocationOfSerializedObjects()
        && !(Boolean) conf.get(package$.MODULE$.IO_ENCRYPTION_ENABLED())
        && (!(Boolean) conf.get(package$.MODULE$.SHUFFLE_COMPRESS())
            || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
                CompressionCodec$.MODULE$.createCodec(conf)));
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    RowBasedChecksum[] checksums = dependency.rowBasedChecksums();
    try {
      sort(records, checksums);
      sorter.finish();
      Optional<Sealed> sealed = output.seal();
      lengths =
          sealed
              .map(each -> each.index().lengths())
              .orElseGet(() -> new long[dependency.partitioner().numPartitions()]);
      status =
          MapStatus$.MODULE$.apply(
              LocatedWriter.location(sealed.map(Sealed::host).orElse(""), task),
              lengths,
              id.map(),
              RowBasedChecksum.getAggregatedChecksumValue(checksums));
    } finally {
      // Spark does not call stop after an Error.
      sorter.free();
      if (status == null) {
        output.close();
      }
    }
  }

  private void sort(Iterator<Product2<K, V>> records, RowBasedChecksum[] checksums)
      throws IOException {
    Partitioner partitioner = dependency.partitioner();
    SerializationStream stream =
        dependency.serializer().newInstance().serializeStream(sorter.record());
    while (records.hasNext()) {
      Product2<K, V> record = records.next();
      K key = record._1();
      V value = record._2();
      int partition = partitioner.getPartition(key);
      sorter.begin();
      stream.<Object>writeKey(key, ANY);
      stream.<Object>writeValue(value, ANY);
      stream.flush();
      sorter.end(partition);
      if (checksums.length > 0) {
        checksums[partition].update(key, value);
      }
    }
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    if (!stopped) {
      stopped = true;
      task.taskMetrics().incPeakExecutionMemory(sorter.peakBytes());
    }
    if (!success) {
      output.close();
      return Option.empty();
    }
    if (status == null) {
      throw new IllegalStateException("output of " + id + " is not written");
    }
    return Option.apply(status);
  }

  @Override
  public long[] getPartitionLengths() {
    return lengths;
  }
}
