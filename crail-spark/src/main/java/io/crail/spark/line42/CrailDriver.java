/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Stores;
import java.lang.reflect.Field;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.broadcast.BroadcastFactory;
import org.apache.spark.broadcast.BroadcastManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's part of the plugin. Spark has no setting for who broadcasts, so it puts Crail's
 * factory where Spark's was. Used by the thread that starts and stops the application.
 */
public final class CrailDriver implements DriverPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(CrailDriver.class);
  private static final String FACTORY = "broadcastFactory";

  private ApplicationStore application;
  private BroadcastManager manager;
  private BroadcastFactory replaced;

  /** Created by the plugin. */
  public CrailDriver() {}

  @Override
  public Map<String, String> init(SparkContext spark, PluginContext context) {
    Stores.nameApplication(context.conf());
    application = CrailExecutor.share(context);
    CrailTab.attach(spark, application);
    manager = SparkEnv.get().broadcastManager();
    try {
      Field field = BroadcastManager.class.getDeclaredField(FACTORY);
      field.setAccessible(true);
      BroadcastFactory present = (BroadcastFactory) field.get(manager);
      field.set(manager, new CrailBroadcastFactory(present, application));
      replaced = present;
    } catch (ReflectiveOperationException e) {
      LOG.warn("this Spark has no place for Crail's broadcast; its own stays", e);
    }
    return Map.of();
  }

  @Override
  public void shutdown() {
    if (replaced != null) {
      try {
        Field field = BroadcastManager.class.getDeclaredField(FACTORY);
        field.setAccessible(true);
        field.set(manager, replaced);
      } catch (ReflectiveOperationException e) {
        LOG.warn("Spark's own broadcast does not come back", e);
      }
    }
    application.removeAll();
    CrailExecutor.giveBack(application);
  }
}
