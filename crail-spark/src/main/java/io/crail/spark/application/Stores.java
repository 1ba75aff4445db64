/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailStore;
import io.crail.client.ClientKeys;
import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.ClusterKeys;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * The stores of this process, one for each application. Spark makes the parts of the plugin by
 * their class names, so they find their common store through {@link #PROCESS}. Thread-safe.
 */
public final class Stores {
  private static final Logger LOG = LoggerFactory.getLogger(Stores.class);

  /** The stores of this process. */
  public static final Stores PROCESS =
      new Stores(settings -> CrailStore.newInstance(CrailConfiguration.of(settings)));

  /** The application's name in the store; the driver's part of the plugin sets it. */
  public static final String APPLICATION_KEY = "spark.crail.application";

  /** When the context started that the name was made for. */
  private static final String STARTED_KEY = APPLICATION_KEY + ".started";

  /** What a user who sets it expects of data on their way as well. */
  private static final List<String> SECURED =
      List.of("spark.authenticate", "spark.network.crypto.enabled", "spark.ssl.rpc.enabled");

  private static final String PREFIX = "spark.crail.";
  private static final String SPARK = "spark.";
  private static final int RANDOM_BYTES = 8;

  private final Opener opener;

  /**
   * Guards itself and the numbers of shares in it. It is not held while waiting for the network.
   */
  private final Map<String, Entry> entries = new HashMap<>();

  /** The store of an application. Its lock guards the opening alone. */
  private static final class Entry {
    private int shares;
    private ApplicationStore store;
  }

  /** Makes a store. */
  @FunctionalInterface
  interface Opener {
    /** Makes it. */
    CrailStore open(Configuration configuration) throws Exception;
  }

  /** For tests; there is {@link #PROCESS}. */
  Stores(Opener opener) {
    this.opener = opener;
  }

  /**
   * Checks what Spark wants of data on their way, and names the application, unless another part of
   * the plugin has done it. A name that came with the configuration of an earlier application is
   * replaced. Called in the driver before any executor starts.
   *
   * @throws ConfigException for settings that Crail cannot keep
   */
  public static void nameApplication(SparkConf conf) {
    if (!conf.getBoolean("spark.io.encryption.enabled", false)) {
      for (String key : SECURED) {
        if (conf.getBoolean(key, false)) {
          throw new ConfigException(
              "key '"
                  + key
                  + "' is set: Crail neither encrypts nor knows users; with"
                  + " spark.io.encryption.enabled it gets encrypted data only");
        }
      }
    }
    // Each context has another one.
    String started = conf.get("spark.app.startTime", "");
    if (!conf.contains(APPLICATION_KEY) || !conf.get(STARTED_KEY, "").equals(started)) {
      byte[] random = new byte[RANDOM_BYTES];
      new SecureRandom().nextBytes(random);
      String name = Roots.application(conf.get("spark.app.name", ""), Instant.now(), random);
      conf.set(APPLICATION_KEY, name);
      conf.set(STARTED_KEY, started);
    }
  }

  /**
   * Gives a part of the plugin a share in the store of its application.
   *
   * @param conf with the application's name
   * @throws ConfigException for an unknown key or a bad value
   */
  public ApplicationStore of(SparkConf conf) throws Exception {
    String application = conf.get(APPLICATION_KEY, "");
    if (application.isEmpty()) {
      throw new ConfigException(
          "key '" + APPLICATION_KEY + "' is missing; the driver has to run the same plugin");
    }
    Entry entry;
    synchronized (entries) {
      entry = entries.computeIfAbsent(application, key -> new Entry());
      entry.shares++;
    }
    boolean opened = false;
    try {
      ApplicationStore store = open(entry, application, conf);
      opened = true;
      return store;
    } finally {
      if (!opened) {
        release(application, entry);
      }
    }
  }

  private ApplicationStore open(Entry entry, String application, SparkConf conf) throws Exception {
    synchronized (entry) {
      if (entry.store == null) {
        Configuration configuration = configuration(conf);
        configuration.warnings().forEach(LOG::warn);
        CrailStore made = opener.open(configuration);
        entry.store =
            new ApplicationStore(
                () -> release(application, entry), application, configuration, made);
      }
      return entry.store;
    }
  }

  /** Gives a share back. The store is no longer found once the last one is given back. */
  private void release(String application, Entry entry) throws Exception {
    synchronized (entries) {
      entry.shares--;
      if (entry.shares > 0) {
        return;
      }
      entries.remove(application);
    }
    if (entry.store != null) {
      entry.store.end();
    }
  }

  /**
   * A step that needs a store.
   *
   * @param <T> its result
   */
  @FunctionalInterface
  public interface Step<T> {
    /** Runs it. */
    T run(ApplicationStore store) throws Exception;
  }

  /**
   * Runs a step with a share that is given back after it.
   *
   * @param conf with the application's name
   * @throws IOException the error of the step
   */
  public <T> T share(SparkConf conf, Step<T> step) throws IOException {
    try (ApplicationStore store = of(conf)) {
      return step.run(store);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** The settings of the plugin, and those of the store that stand after {@code spark.}. */
  static Configuration configuration(SparkConf conf) {
    Configuration.Builder builder = Configuration.builder();
    Set<String> own = new HashSet<>();
    Configuration.declarations().forEach(keys -> keys.keys().forEach(key -> own.add(key.name())));
    for (Tuple2<String, String> each : conf.getAll()) {
      String name = each._1();
      for (SparkKeys.Former former : SparkKeys.FORMER) {
        if (former.name().equalsIgnoreCase(name)) {
          throw new ConfigException(
              "Spark's configuration: key '" + name + "' is of an earlier plugin: " + former.now());
        }
      }
      String key = ConfigKey.nameOf(name);
      if (key.startsWith(PREFIX) && !key.equals(APPLICATION_KEY) && !key.equals(STARTED_KEY)) {
        if (own.contains(key)) {
          builder.set(name, each._2(), "Spark's configuration");
        } else {
          // Errors name the key as the user wrote it.
          builder.set(
              name.substring(SPARK.length()), each._2(), "Spark's configuration, '" + name + "'");
        }
      }
    }
    Configuration configuration = builder.build();
    if (configuration.isSet(ClientKeys.NAMENODE_PATIENCE)) {
      return configuration;
    }
    // A task has few attempts, and they fail within seconds. A namenode takes some to start again.
    return configuration.toBuilder()
        .set(
            ClientKeys.NAMENODE_PATIENCE,
            configuration.get(ClusterKeys.RPC_TIMEOUT).toMillis() + "ms")
        .build();
  }
}
