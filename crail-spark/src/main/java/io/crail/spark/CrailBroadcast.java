/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import io.crail.common.config.ConfigException;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.application.Stores;
import io.crail.spark.broadcast.CrailBroadcastException;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * A value in Crail for the tasks of an application, for programs that ask for it. It needs nothing
 * but Spark's public interfaces, and the plugin or the shuffle manager in the configuration. A
 * process reads the value when its first task asks for it. Spark does not account its memory: for
 * that, take {@code SparkContext.broadcast} with {@link CrailPlugin}.
 *
 * <p>The value is serialized with the serializer of the application, and is not compressed. It
 * stays in the store until {@link #destroy()}, or until the application ends. Serializable and
 * thread-safe.
 *
 * @param <T> the value
 */
public final class CrailBroadcast<T> implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String ENCRYPTION = "spark.io.encryption.enabled";

  /** Spark keeps one in each process, and with it the value. */
  private final Broadcast<Holder<T>> holder;

  private CrailBroadcast(Broadcast<Holder<T>> holder) {
    this.holder = holder;
  }

  /**
   * Stores a value, in the driver.
   *
   * @param value not null
   * @return the handle for tasks
   * @throws ConfigException without the plugin or the shuffle manager, and with {@code
   *     spark.io.encryption.enabled}: no public interface gives the key away
   * @throws CrailBroadcastException when the value cannot be stored
   */
  public static <T> CrailBroadcast<T> of(SparkContext context, T value) {
    return of(new JavaSparkContext(context), value);
  }

  /**
   * As {@link #of(SparkContext, Object)}.
   *
   * @param value not null
   * @return the handle for tasks
   */
  public static <T> CrailBroadcast<T> of(JavaSparkContext context, T value) {
    Objects.requireNonNull(value, "value");
    SparkConf conf = context.getConf();
    if (conf.getBoolean(ENCRYPTION, false)) {
      throw new ConfigException(
          "key '" + ENCRYPTION + "' is set; use SparkContext.broadcast with CrailPlugin");
    }
    if (context.sc().isStopped()) {
      throw new IllegalStateException("the application has ended");
    }
    try {
      return Stores.PROCESS.share(conf, store -> store(store, context, value));
    } catch (IOException e) {
      throw new CrailBroadcastException("cannot store a value for tasks: " + e.getMessage(), e);
    }
  }

  private static <T> CrailBroadcast<T> store(
      ApplicationStore store, JavaSparkContext context, T value) throws IOException {
    // The ids of Spark's values are small.
    String path = store.broadcastPath(ThreadLocalRandom.current().nextLong() | 1L << 63);
    ValueFile file =
        Values.write(
                store.broadcasts(),
                path,
                SparkEnv.get().serializer(),
                value,
                0,
                out -> out,
                OutputStream.nullOutputStream(),
                store.deletions())
            .orElseThrow();
    boolean sent = false;
    try {
      Broadcast<Holder<T>> holder = context.broadcast(new Holder<>(file));
      sent = true;
      return new CrailBroadcast<>(holder);
    } finally {
      if (!sent) {
        store.deletions().delete(path, true);
      }
    }
  }

  /**
   * {@return the value}
   *
   * @throws CrailBroadcastException when it cannot be read, because it was destroyed or for another
   *     reason
   */
  public T value() {
    return holder.value().value();
  }

  /** Lets the executors forget the value. A task that asks for it reads it again. */
  public void unpersist() {
    holder.unpersist();
  }

  /** Deletes the value, in the driver. It cannot be used afterwards. */
  public void destroy() {
    String path = holder.value().file.path();
    holder.destroy();
    try {
      Stores.PROCESS.share(
          SparkEnv.get().conf(),
          store -> {
            store.deletions().delete(path, true);
            return path;
          });
    } catch (IOException e) {
      throw new CrailBroadcastException("cannot delete " + path + ": " + e.getMessage(), e);
    }
  }

  private static final class Holder<T> implements Serializable {
    private static final long serialVersionUID = 1L;

    private final ValueFile file;
    private transient volatile T value;

    Holder(ValueFile file) {
      this.file = file;
    }

    T value() {
      T known = value;
      return known == null ? load() : known;
    }

    private T load() {
      try {
        return Stores.PROCESS.share(
            SparkEnv.get().conf(),
            store ->
                store
                    .loads()
                    .load(
                        file.path(),
                        store.configuration().get(SparkKeys.BROADCAST_TIMEOUT),
                        () -> {
                          if (value == null) {
                            value =
                                Values.read(
                                    file, store.store(), SparkEnv.get().serializer(), in -> in);
                          }
                          return value;
                        }));
      } catch (IOException e) {
        throw CrailBroadcastException.ofRead("the value at " + file.path(), e);
      }
    }
  }
}
