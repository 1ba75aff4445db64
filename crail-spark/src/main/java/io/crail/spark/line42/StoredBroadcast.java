/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.application.Stores;
import io.crail.spark.broadcast.CrailBroadcastException;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamException;
import java.lang.ref.Reference;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockResult;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.reflect.ClassTag;

/**
 * A broadcast value that is kept in Crail. As Spark's own it is kept in the block manager of each
 * process that reads it, so its memory is accounted and goes to disk when it is short, and the
 * process has one instance as long as anybody uses it. Thread-safe.
 *
 * <p>The driver's block manager also has the bytes of the file, and gives them to executors that
 * cannot read it: Spark never makes a value again, so the loss of a datanode would fail each task
 * that needs one which lay there.
 *
 * <p>Public for the code that Spark generates for a query: it names this class.
 */
public final class StoredBroadcast<T> extends Broadcast<T> {
  private static final Logger LOG = LoggerFactory.getLogger(StoredBroadcast.class);
  private static final long serialVersionUID = 1L;

  private final ValueFile file;
  private final boolean serializedOnly;
  private final ClassTag<T> tag;

  /** The value, softly: the block manager may put it on disk, and it can be read again. */
  private transient volatile Reference<T> reference;

  /**
   * Creates it.
   *
   * @param serializedOnly whether the driver needs the value itself no more
   */
  StoredBroadcast(long id, ValueFile file, boolean serializedOnly, ClassTag<T> tag) {
    super(id, tag);
    this.file = file;
    this.serializedOnly = serializedOnly;
    this.tag = tag;
  }

  /** The block of a value. */
  static BroadcastBlockId block(long id) {
    return new BroadcastBlockId(id, "");
  }

  /** The block with the bytes of the file. */
  private static BroadcastBlockId bytesBlock(long id) {
    return new BroadcastBlockId(id, "bytes");
  }

  /** Keeps the value in the driver, as Spark does. */
  void keep(T value, boolean isLocal) {
    if (serializedOnly && !isLocal) {
      refer(value);
    } else {
      put(value);
    }
  }

  /** Keeps the bytes of the file in the driver, for executors that cannot read it. */
  void keepBytes(ChunkedByteBuffer bytes) {
    StorageLevel level = StorageLevel.MEMORY_AND_DISK_SER();
    BlockManager blocks = SparkEnv.get().blockManager();
    checkTaken(blocks.putBytes(bytesBlock(id()), bytes, level, true, tag));
  }

  private void refer(T value) {
    reference = serializedOnly ? new WeakReference<>(value) : new SoftReference<>(value);
  }

  private void put(T value) {
    StorageLevel level = StorageLevel.MEMORY_AND_DISK();
    BlockManager blocks = SparkEnv.get().blockManager();
    checkTaken(blocks.putSingle(block(id()), value, level, false, tag));
  }

  private void checkTaken(boolean isTaken) {
    if (!isTaken) {
      throw new IllegalStateException("the block manager does not take the value of " + this);
    }
  }

  @Override
  public T getValue() {
    Reference<T> known = reference;
    T value = known == null ? null : known.get();
    if (value == null) {
      // Most tasks find it here, and should pay no more for it than for a value of Spark's.
      value = used().orElseGet(this::find);
      refer(value);
    }
    return value;
  }

  /** The value that this process uses, or the block manager has in memory. */
  @SuppressWarnings("unchecked")
  private Optional<T> used() {
    return Optional.ofNullable(
        (T) SparkEnv.get().broadcastManager().cachedValues().get(block(id())));
  }

  private T find() {
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
                        Optional<T> cached = cached();
                        return cached.isPresent() ? cached.get() : read(store);
                      }));
    } catch (IOException e) {
      throw CrailBroadcastException.ofRead(toString(), e);
    }
  }

  /** The value that this process has already. */
  @SuppressWarnings("unchecked")
  private Optional<T> cached() {
    Optional<T> used = used();
    if (used.isPresent()) {
      return used;
    }
    Option<BlockResult> result = SparkEnv.get().blockManager().getLocalValues(block(id()));
    if (result.isEmpty()) {
      return Optional.empty();
    }
    T value = (T) result.get().data().next();
    releaseBlock();
    noteUse(value);
    return Optional.of(value);
  }

  /** The block stays where it is until the task ends. */
  private void releaseBlock() {
    BlockManager blocks = SparkEnv.get().blockManager();
    TaskContext task = TaskContext.get();
    if (task == null) {
      blocks.releaseLock(block(id()), Option.empty());
    } else {
      // It is the task of this thread. One that is named has ended, and gives nothing back.
      TaskCompletionListener release = ended -> blocks.releaseLock(block(id()), Option.empty());
      task.addTaskCompletionListener(release);
    }
  }

  private T read(ApplicationStore store) throws IOException {
    // Each attempt to read from a silent datanode would cost a timeout.
    Optional<T> sent =
        store.silence().lasts() ? sentByDriver(new IOException("silent")) : Optional.empty();
    T value = sent.isPresent() ? sent.get() : readFile(store);
    // Without a task this is the driver.
    if (!serializedOnly || TaskContext.get() != null) {
      put(value);
    }
    noteUse(value);
    return value;
  }

  private T readFile(ApplicationStore store) throws IOException {
    try {
      return Values.read(file, store.store(), SparkEnv.get().serializer(), this::unwrap);
    } catch (InterruptedIOException | ObjectStreamException e) {
      // It is no longer needed; or its class is at fault, and would be so with other bytes.
      throw e;
    } catch (IOException e) {
      store.silence().failed(e);
      Optional<T> sent = sentByDriver(e);
      if (sent.isEmpty()) {
        throw e;
      }
      LOG.warn("{} cannot be read from Crail; the driver has sent it", this, e);
      return sent.get();
    }
  }

  private InputStream unwrap(InputStream in) {
    return SparkEnv.get().serializerManager().wrapStream(block(id()), in);
  }

  /** Reads the driver's bytes; empty when there are none, with the reason in {@code failure}. */
  private Optional<T> sentByDriver(IOException failure) throws IOException {
    SparkEnv env = SparkEnv.get();
    try {
      Option<ChunkedByteBuffer> bytes = env.blockManager().getRemoteBytes(bytesBlock(id()));
      return bytes.isEmpty()
          ? Optional.empty()
          : Optional.of(
              Values.read(bytes.get().toInputStream(true), env.serializer(), this::unwrap));
    } catch (Exception e) {
      // Spark's methods throw checked exceptions that they do not declare.
      if (e instanceof InterruptedException) {
        throw StoreFailure.of(e);
      }
      failure.addSuppressed(e);
      return Optional.empty();
    }
  }

  /** So that there is one instance, even when the block manager has no memory for it. */
  private void noteUse(T value) {
    SparkEnv.get().broadcastManager().cachedValues().put(block(id()), value);
  }

  @Override
  public void doUnpersist(boolean blocking) {
    SparkEnv.get().broadcastManager().unbroadcast(id(), false, blocking);
  }

  @Override
  public void doDestroy(boolean blocking) {
    SparkEnv.get().broadcastManager().unbroadcast(id(), true, blocking);
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    assertValid();
    out.defaultWriteObject();
  }
}
