/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import io.crail.spark.output.OutputPlace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.broadcast.BroadcastFactory;
import org.apache.spark.util.io.ChunkedByteBufferOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.reflect.ClassTag;

/**
 * Stores large values in Crail, and leaves all others to Spark's factory: small ones, and those
 * that cannot be stored. Lives in the driver. Thread-safe.
 */
final class CrailBroadcastFactory implements BroadcastFactory {
  private static final Logger LOG = LoggerFactory.getLogger(CrailBroadcastFactory.class);

  /** The bytes of a file are kept in pieces of this size. */
  private static final int PIECE_BYTES = 4 << 20;

  private final BroadcastFactory spark;
  private final ApplicationStore application;
  private final OutputPlace place;
  private final long minBytes;

  /** The values that have a file. */
  private final Set<Long> stored = ConcurrentHashMap.newKeySet();

  CrailBroadcastFactory(BroadcastFactory spark, ApplicationStore application) {
    this.spark = spark;
    this.application = application;
    this.place = application.broadcasts();
    this.minBytes = application.configuration().get(SparkKeys.BROADCAST_MIN_SIZE);
  }

  @Override
  public void initialize(boolean isDriver, SparkConf conf) {
    // It is made ready.
  }

  @Override
  public <T> Broadcast<T> newBroadcast(
      T value, boolean isLocal, long id, boolean serializedOnly, ClassTag<T> tag) {
    // No executor asks a driver that has none.
    ChunkedByteBufferOutputStream bytes =
        isLocal ? null : new ChunkedByteBufferOutputStream(PIECE_BYTES, newPiece());
    Optional<ValueFile> file =
        store(value, id, bytes == null ? OutputStream.nullOutputStream() : bytes);
    if (file.isEmpty()) {
      return spark.newBroadcast(value, isLocal, id, serializedOnly, tag);
    }
    stored.add(id);
    StoredBroadcast<T> broadcast = new StoredBroadcast<>(id, file.get(), serializedOnly, tag);
    boolean kept = false;
    try {
      broadcast.keep(value, isLocal);
      if (bytes != null) {
        bytes.close();
        broadcast.keepBytes(bytes.toChunkedByteBuffer());
      }
      kept = true;
    } finally {
      if (!kept) {
        unbroadcast(id, true, false);
      }
    }
    return broadcast;
  }

  private static Function1<Object, ByteBuffer> newPiece() {
    return length -> ByteBuffer.allocate((Integer) length);
  }

  private Optional<ValueFile> store(Object value, long id, OutputStream copy) {
    if (value == null
        || !canReachAll(value, getClass().getClassLoader(), Broadcast.class.getClassLoader())
        || application.silence().lasts()) {
      return Optional.empty();
    }
    SparkEnv env = SparkEnv.get();
    try {
      return Values.write(
          place,
          application.broadcastPath(id),
          env.serializer(),
          value,
          minBytes,
          out -> env.serializerManager().wrapStream(StoredBroadcast.block(id), out),
          copy,
          application.deletions());
    } catch (IOException e) {
      application.silence().failed(e);
      LOG.warn("cannot store broadcast {}; Spark broadcasts it itself", id, e);
      return Optional.empty();
    }
  }

  /**
   * Whether executors find the class of the handle. They read the places of map outputs, which are
   * such arrays, with the loader of Spark's own classes, which does not know {@code spark.jars}.
   */
  static boolean canReachAll(Object value, ClassLoader crail, ClassLoader spark) {
    return !(value instanceof byte[][]) || crail == spark;
  }

  @Override
  public void unbroadcast(long id, boolean removeFromDriver, boolean blocking) {
    try {
      spark.unbroadcast(id, removeFromDriver, blocking);
    } finally {
      if (removeFromDriver && stored.remove(id)) {
        application.deletions().delete(application.broadcastPath(id), blocking);
      }
    }
  }

  @Override
  public void stop() {
    spark.stop();
  }
}
