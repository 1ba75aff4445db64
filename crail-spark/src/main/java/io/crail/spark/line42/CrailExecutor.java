/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Stores;
import io.crail.spark.output.OutputCounts;
import java.util.Map;
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

  private ApplicationStore application;

  /** Created by the plugin. */
  public CrailExecutor() {}

  @Override
  public void init(PluginContext context, Map<String, String> settings) {
    application = share(context, false);
  }

  @Override
  public void shutdown() {
    giveBack(application);
  }

  /** Takes a share of the application's store, and shows its counts among Spark's metrics. */
  static ApplicationStore share(PluginContext context, boolean driver) {
    try {
      ApplicationStore application = Stores.PROCESS.of(context.conf(), driver);
      register(context.metricRegistry(), application.counts());
      return application;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void register(MetricRegistry registry, OutputCounts counts) {
    Map<String, Gauge<Long>> gauges =
        Map.of(
            "outputs", counts::outputs,
            "bytesWritten", counts::bytesWritten,
            "blocksFetched", counts::blocksFetched,
            "bytesFetched", counts::bytesFetched,
            "blocksFailed", counts::blocksFailed);
    gauges.forEach(registry::register);
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
