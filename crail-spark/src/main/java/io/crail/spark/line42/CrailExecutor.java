/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.crail.CrailStatistics;
import io.crail.CrailStatistics.OperationStatistics;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Stores;
import io.crail.spark.output.OutputStatistics;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor's part of the plugin: keeps the store open from the first task to the last. Used by
 * the threads that start and stop the executor.
 */
public final class CrailExecutor implements ExecutorPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(CrailExecutor.class);

  /** What tasks do most. */
  private static final Set<String> TIMED = Set.of("create", "lookup", "read", "write");

  private ApplicationStore application;

  /** Created by the plugin. */
  public CrailExecutor() {}

  @Override
  public void init(PluginContext context, Map<String, String> settings) {
    application = share(context);
  }

  @Override
  public void shutdown() {
    giveBack(application);
  }

  /** Takes a share of the application's store, and shows its counts among Spark's metrics. */
  static ApplicationStore share(PluginContext context) {
    try {
      ApplicationStore application = Stores.PROCESS.of(context.conf());
      register(context.metricRegistry(), application.counts());
      register(context.metricRegistry(), application.store().getStatistics());
      return application;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void register(MetricRegistry registry, OutputStatistics counts) {
    Map<String, Gauge<Long>> gauges =
        Map.of(
            "outputs", counts::outputs,
            "bytesWritten", counts::bytesWritten,
            "blocksFetched", counts::blocksFetched,
            "bytesFetched", counts::bytesFetched,
            "blocksFailed", counts::blocksFailed);
    gauges.forEach(registry::register);
  }

  private static void register(MetricRegistry registry, CrailStatistics store) {
    List<OperationStatistics> all = store.getOperations();
    Map<String, Gauge<Long>> gauges = new HashMap<>();
    gauges.put("store.operations", () -> sum(all, OperationStatistics::getCount));
    gauges.put("store.errors", () -> sum(all, CrailExecutor::errors));
    gauges.put("store.bytesRead", () -> sum(store.getBytesRead().values(), bytes -> bytes));
    gauges.put("store.bytesWritten", () -> sum(store.getBytesWritten().values(), bytes -> bytes));
    for (OperationStatistics each : all) {
      if (TIMED.contains(each.getName())) {
        gauges.put("store." + each.getName() + ".count", each::getCount);
        gauges.put("store." + each.getName() + ".medianNanos", () -> each.getLatencyNanos(0.5));
        gauges.put("store." + each.getName() + ".p99Nanos", () -> each.getLatencyNanos(0.99));
      }
    }
    gauges.forEach(registry::register);
  }

  private static long errors(OperationStatistics operation) {
    return sum(operation.getErrors().values(), count -> count);
  }

  private static <T> long sum(Collection<T> all, ToLongFunction<T> figure) {
    return all.stream().mapToLong(figure).sum();
  }

  /** Gives a share back. */
  static void giveBack(ApplicationStore application) {
    try {
      application.close();
    } catch (Exception e) {
      LOG.warn("cannot close the store", e);
    }
  }
}
