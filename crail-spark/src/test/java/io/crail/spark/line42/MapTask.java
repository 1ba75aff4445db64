/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.executor.ShuffleWriteMetrics;
import org.apache.spark.memory.MemoryTestingUtils;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriteProcessor;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** A map task without a job, to look into its writer and its output. Used by one thread. */
final class MapTask {
  private static final long MAP = 7;

  private final ShuffleDependency<Integer, Object, Object> dependency;
  private final TaskContext context;
  private final ShuffleWriter<Integer, Object> writer;
  private final OutputId id;
  private Runnable onBytes = () -> {};

  /** Begins a task of the manager of this process. */
  MapTask(JavaSparkContext spark, int partitions, RowBasedChecksum... checksums) {
    SparkEnv env = SparkEnv.get();
    this.dependency =
        new ShuffleDependency<>(
            spark.parallelizePairs(List.<Tuple2<Integer, Object>>of(), 1).rdd(),
            new HashPartitioner(partitions),
            new KryoSerializer(env.conf()),
            Option.empty(),
            Option.empty(),
            false,
            new ShuffleWriteProcessor(),
            checksums,
            false,
            false,
            ClassTag$.MODULE$.apply(Integer.class),
            ClassTag$.MODULE$.apply(Object.class),
            ClassTag$.MODULE$.apply(Object.class));
    this.context = MemoryTestingUtils.fakeTaskContext(env);
    this.id = new OutputId(dependency.shuffleId(), MAP);
    ((MapOutputTrackerMaster) env.mapOutputTracker()).registerShuffle(id.shuffle(), 1, partitions);
    this.writer =
        ShuffleManager42.current()
            .getWriter(
                dependency.shuffleHandle(),
                MAP,
                context,
                new Counted(context.taskMetrics().shuffleWriteMetrics()));
  }

  /** Counts for the task, and lets a write fail. */
  private final class Counted implements ShuffleWriteMetricsReporter {
    private final ShuffleWriteMetrics counts;

    Counted(ShuffleWriteMetrics counts) {
      this.counts = counts;
    }

    @Override
    public void incBytesWritten(long bytes) {
      onBytes.run();
      counts.incBytesWritten(bytes);
    }

    @Override
    public void incRecordsWritten(long records) {
      counts.incRecordsWritten(records);
    }

    @Override
    public void incWriteTime(long nanos) {
      counts.incWriteTime(nanos);
    }

    @Override
    public void decBytesWritten(long bytes) {
      counts.decBytesWritten(bytes);
    }

    @Override
    public void decRecordsWritten(long records) {
      counts.decRecordsWritten(records);
    }
  }

  /** Runs something each time bytes are counted. */
  void onBytes(Runnable action) {
    onBytes = action;
  }

  int shuffle() {
    return id.shuffle();
  }

  TaskContext context() {
    return context;
  }

  ShuffleWriter<Integer, Object> writer() {
    return writer instanceof RoomWriter<Integer, Object> room ? room.inner() : writer;
  }

  /** Writes records and ends the task well. */
  MapStatus run(Iterator<Tuple2<Integer, Object>> records) throws Exception {
    write(records);
    return writer.stop(true).get();
  }

  void write(Iterator<Tuple2<Integer, Object>> records) throws Exception {
    writer.write(CollectionConverters.asScala(pairs(records)));
  }

  private static Iterator<Product2<Integer, Object>> pairs(
      Iterator<Tuple2<Integer, Object>> records) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return records.hasNext();
      }

      @Override
      public Product2<Integer, Object> next() {
        return records.next();
      }
    };
  }

  /** The output's records as they lie in the store: for each run, for each partition. */
  List<List<List<Tuple2<Integer, Object>>>> stored() throws Exception {
    SparkEnv env = SparkEnv.get();
    String path = ShuffleManager42.current().outputs().path(id);
    MapOutput output = MapOutput.open(ShuffleManager42.current().outputs().store(), path, id);
    byte[] bytes;
    try (CrailBufferedInputStream in = output.file().getBufferedInputStream(0)) {
      bytes = in.readAllBytes();
    }
    List<List<List<Tuple2<Integer, Object>>>> runs = new ArrayList<>();
    for (int run = 0; run < output.index().runs(); run++) {
      List<List<Tuple2<Integer, Object>>> partitions = new ArrayList<>();
      for (int partition = 0; partition < output.index().partitions(); partition++) {
        int start = (int) output.index().start(run, partition);
        int length = (int) output.index().end(run, partition) - start;
        List<Tuple2<Integer, Object>> records = new ArrayList<>();
        if (length > 0) {
          InputStream in =
              env.serializerManager()
                  .wrapStream(
                      new ShuffleBlockId(id.shuffle(), id.map(), partition),
                      new ByteArrayInputStream(bytes, start, length));
          add(
              dependency.serializer().newInstance().deserializeStream(in).asKeyValueIterator(),
              records);
        }
        partitions.add(records);
      }
      runs.add(partitions);
    }
    return runs;
  }

  /** The records of a range of partitions, as a reduce task of this shuffle reads them. */
  List<Tuple2<Integer, Object>> read(MapStatus status, int from, int to) {
    SparkEnv env = SparkEnv.get();
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) env.mapOutputTracker();
    tracker.registerMapOutput(id.shuffle(), 0, status);
    TaskContext reader = MemoryTestingUtils.fakeTaskContext(env);
    reader.getLocalProperties().setProperty("__fetch_continuous_blocks_in_batch_enabled", "true");
    ShuffleReadMetricsReporter metrics = reader.taskMetrics().createTempShuffleReadMetrics();
    List<Tuple2<Integer, Object>> records = new ArrayList<>();
    add(
        ShuffleManager42.current()
            .<Integer, Object>getReader(
                dependency.shuffleHandle(), 0, Integer.MAX_VALUE, from, to, reader, metrics)
            .read(),
        records);
    return records;
  }

  @SuppressWarnings("unchecked")
  private static void add(
      scala.collection.Iterator<?> records, List<Tuple2<Integer, Object>> target) {
    while (records.hasNext()) {
      target.add((Tuple2<Integer, Object>) records.next());
    }
  }

  /** The paths of all files below a directory of the store. */
  static List<String> files(CrailStore store, String directory) throws Exception {
    List<String> files = new ArrayList<>();
    Iterator<CrailNode> children = store.lookup(directory).get().asContainer().listStatus();
    while (children.hasNext()) {
      CrailNode child = children.next();
      if (child.getType().isContainer()) {
        files.addAll(files(store, child.getPath()));
      } else {
        files.add(child.getPath());
      }
    }
    return files;
  }
}
