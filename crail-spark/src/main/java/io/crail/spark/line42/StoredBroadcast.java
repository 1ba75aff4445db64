/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.application.Stores;
import io.crail.spark.broadcast.CrailBroadcastException;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import java.io.IOException;
import java.io.ObjectOutputStream;
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
import scala.Option;
import scala.reflect.ClassTag;

/**
 * A broadcast value that lies in Crail. As Spark's own it is kept in the block manager of each
 * process that reads it, so its memory is accounted and goes to disk when it is short, and the
 * process has one instance as long as anybody uses it. Thread-safe.
 *
 * <p>Public for the code that Spark generates for a query: it names this class.
 */
public final class StoredBroadcast<T> extends Broadcast<T> {
  private static final long serialVersionUID = 1L;

  private final ValueFile file;
  private final boolean serializedOnly;
  private final ClassTag<T> tag;

  /** The value, softly: the block manager may put it on disk, and it can be read again. */
  private transient volatile Reference<T> reference;

  /**
   * Creates it.
   *
   * @param serializedOnly whether the driver needs no copy of the value
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

  /** Keeps the value in the driver, as Spark does. */
  void keep(T value, boolean isLocal) {
    if (serializedOnly && !isLocal) {
      refer(value);
    } else {
      put(value);
    }
  }

  private void refer(T value) {
    reference = serializedOnly ? new WeakReference<>(value) : new SoftReference<>(value);
  }

  private void put(T value) {
    BlockManager blocks = SparkEnv.get().blockManager();
    if (!blocks.putSingle(block(id()), value, StorageLevel.MEMORY_AND_DISK(), false, tag)) {
      throw new IllegalStateException("the block manager does not take the value of " + this);
    }
  }

  @Override
  public T getValue() {
    Reference<T> known = reference;
    T value = known == null ? null : known.get();
    if (value == null) {
      value = find();
      refer(value);
    }
    return value;
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
    Object used = SparkEnv.get().broadcastManager().cachedValues().get(block(id()));
    if (used != null) {
      return Optional.of((T) used);
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
    SparkEnv env = SparkEnv.get();
    T value =
        Values.read(
            file,
            store.store(),
            env.serializer(),
            in -> env.serializerManager().wrapStream(block(id()), in));
    // Without a task this is the driver.
    if (!serializedOnly || TaskContext.get() != null) {
      put(value);
    }
    noteUse(value);
    return value;
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
