/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputWriter;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.util.TaskCompletionListener;

/** Where Spark's writers put their outputs: into the store of the shuffle manager. */
public final class CrailShuffleDataIO implements ShuffleDataIO {
  /**
   * Spark creates it.
   *
   * @param conf Spark's configuration
   */
  public CrailShuffleDataIO(SparkConf conf) {
    // The shuffle manager has read it.
  }

  @Override
  public ShuffleExecutorComponents executor() {
    return new Executor();
  }

  @Override
  public ShuffleDriverComponents driver() {
    return new Driver();
  }

  private static final class Executor implements ShuffleExecutorComponents {
    @Override
    public void initializeExecutor(String appId, String execId, Map<String, String> extra) {
      // The shuffle manager is connected.
    }

    @Override
    public ShuffleMapOutputWriter createMapOutputWriter(int shuffle, long map, int partitions)
        throws IOException {
      ShuffleManager42 manager = ShuffleManager42.current();
      OutputWriter out = manager.open(new OutputId(shuffle, map), partitions);
      TaskContext task = TaskContext.get();
      if (task != null) {
        // Not all of Spark's writers call abort.
        TaskCompletionListener close = context -> closeQuietly(out);
        task.addTaskCompletionListener(close);
      }
      return new MapOutputWriter(out, manager::sealed);
    }

    @Override
    public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(
        int shuffle, long map) {
      return Optional.of(new SpillWriter(ShuffleManager42.current(), new OutputId(shuffle, map)));
    }

    private static void closeQuietly(OutputWriter out) {
      try {
        out.close();
      } catch (IOException e) {
        // What is left goes with the shuffle.
      }
    }
  }

  private static final class Driver implements ShuffleDriverComponents {
    @Override
    public Map<String, String> initializeApplication() {
      return Map.of();
    }

    @Override
    public void cleanupApplication() {
      SparkEnv env = SparkEnv.get();
      if (env != null && env.shuffleManager() instanceof ShuffleManager42 manager) {
        manager.removeAll();
      }
    }

    @Override
    public void removeShuffle(int shuffle, boolean blocking) {
      ShuffleManager42.current().removeShuffle(shuffle);
      // Executors forget what they know of it: Spark informs only its own components.
      SparkEnv.get().blockManager().master().removeShuffle(shuffle, blocking);
    }

    @Override
    public boolean supportsReliableStorage() {
      return true;
    }
  }
}
