/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.fetch.Fetcher;
import java.io.FilterInputStream;
import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Function2;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Reads a range of partitions of a range of map outputs. Spark's iterator limits what is in flight
 * and turns what cannot be fetched into a fetch failure; {@link BlockClient} fetches.
 */
final class BlockReader<K, C> implements ShuffleReader<K, C> {
  private static final long MIB = 1 << 20;

  /**
   * What is read.
   *
   * @param startMap the first map output
   * @param endMap the map output after the last
   * @param startPartition the first partition
   * @param endPartition the partition after the last
   */
  record Range(int startMap, int endMap, int startPartition, int endPartition) {}

  private final Fetcher fetcher;
  private final ShuffleDependency<K, ?, C> dependency;
  private final Range range;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;

  BlockReader(
      Fetcher fetcher,
      ShuffleDependency<K, ?, C> dependency,
      Range range,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    this.fetcher = fetcher;
    this.dependency = dependency;
    this.range = range;
    this.context = context;
    this.metrics = metrics;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    Iterator<Product2<K, C>> records =
        new InterruptibleIterator<>(context, new Records<>(blocks(), metrics, dependency, context));
    Iterator<Product2<K, C>> result = combined(records);
    // A combiner or sorter has consumed the records, so the task's end has to be seen anew.
    return result == records ? result : new InterruptibleIterator<>(context, result);
  }

  private Iterator<Tuple2<BlockId, InputStream>> blocks() {
    SparkEnv env = SparkEnv.get();
    SparkConf conf = env.conf();
    SerializerManager serializers = env.serializerManager();
    Function2<BlockId, InputStream, InputStream> unwrap =
        (block, in) -> {
          InputStream unwrapped = serializers.wrapStream(block, in);
          // Only for a stream that is not the block's own, Spark takes an error of reading for a
          // fetch failure.
          return unwrapped == in ? new FilterInputStream(in) {} : unwrapped;
        };
    return new ShuffleBlockFetcherIterator(
            context,
            new BlockClient(fetcher, context),
            env.blockManager(),
            env.mapOutputTracker(),
            env.mapOutputTracker()
                .getMapSizesByExecutorId(
                    dependency.shuffleId(),
                    range.startMap,
                    range.endMap,
                    range.startPartition,
                    range.endPartition),
            unwrap,
            number(conf, package$.MODULE$.REDUCER_MAX_SIZE_IN_FLIGHT()) * MIB,
            (int) number(conf, package$.MODULE$.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) number(conf, package$.MODULE$.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            number(conf, package$.MODULE$.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) number(conf, package$.MODULE$.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            flag(conf, package$.MODULE$.SHUFFLE_DETECT_CORRUPT()),
            flag(conf, package$.MODULE$.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            // Each block's checksum is compared when it arrives.
            false,
            "ADLER32",
            metrics,
            fetchesInBatches(conf),
            new SystemClock())
        .toCompletionIterator();
  }

  private static long number(SparkConf conf, ConfigEntry<?> entry) {
    return ((Number) conf.get(entry)).longValue();
  }

  private static boolean flag(SparkConf conf, ConfigEntry<?> entry) {
    return (Boolean) conf.get(entry);
  }

  /** Neighbouring partitions are one block if what they hold can be read as one stream. */
  private boolean fetchesInBatches(SparkConf conf) {
    return SortShuffleManager.canUseBatchFetch(range.startPartition, range.endPartition, context)
        && RunWriter.concatenates(dependency, conf);
  }

  /** Aggregates and sorts as the dependency wants it. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator<Product2<K, C>> combined(Iterator<Product2<K, C>> records) {
    Option<Aggregator> aggregator = (Option) dependency.aggregator();
    boolean combines = dependency.mapSideCombine();
    if (dependency.keyOrdering().isDefined()) {
      Option<Aggregator> second = aggregator;
      if (aggregator.isDefined() && combines) {
        scala.Function1<Object, Object> same = value -> value;
        Function2 merge = aggregator.get().mergeCombiners();
        second = Option.apply(new Aggregator(same, merge, merge));
      }
      ExternalSorter sorter =
          new ExternalSorter(
              context,
              second,
              Option.empty(),
              dependency.keyOrdering(),
              dependency.serializer(),
              new RowBasedChecksum[0]);
      return sorter.insertAllAndUpdateMetrics(records);
    }
    if (aggregator.isDefined()) {
      return combines
          ? aggregator.get().combineCombinersByKey(records, context)
          : aggregator.get().combineValuesByKey(records, context);
    }
    return records;
  }

  /** The records of all blocks, one after the other. */
  private static final class Records<K, C> extends AbstractIterator<Product2<K, C>> {
    private final Iterator<Tuple2<BlockId, InputStream>> blocks;
    private final ShuffleReadMetricsReporter metrics;
    private final SerializerInstance serializer;
    private final TaskContext context;
    private Iterator<Tuple2<Object, Object>> present;
    private boolean ended;

    Records(
        Iterator<Tuple2<BlockId, InputStream>> blocks,
        ShuffleReadMetricsReporter metrics,
        ShuffleDependency<K, ?, C> dependency,
        TaskContext context) {
      this.blocks = blocks;
      this.metrics = metrics;
      this.serializer = dependency.serializer().newInstance();
      this.context = context;
    }

    @Override
    public boolean hasNext() {
      while (present == null || !present.hasNext()) {
        if (!blocks.hasNext()) {
          if (!ended) {
            ended = true;
            context.taskMetrics().mergeShuffleReadMetrics();
          }
          return false;
        }
        present = serializer.deserializeStream(blocks.next()._2()).asKeyValueIterator();
      }
      return true;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Product2<K, C> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      metrics.incRecordsRead(1);
      return (Product2<K, C>) (Product2<?, ?>) present.next();
    }
  }
}
