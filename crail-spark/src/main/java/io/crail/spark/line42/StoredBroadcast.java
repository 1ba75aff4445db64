/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.application.Stores;
import io.crail.spark.broadcast.CrailBroadcastException;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import java.io.IOException;
import java.io.InterruptedIOException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.collection.Iterator;
import scala.reflect.ClassTag;

/**
 * A broadcast value that lies in Crail. As Spark's own it is kept in the block manager of each
 * process that reads it, so its memory is accounted and goes to disk when it is short, and the
 * process has one instance as long as anybody uses it. The driver's block manager has it too, and
 * gives it to executors that cannot read it from Crail: Spark never makes a value again, so the
 * loss of a datanode would fail each task that needs one which lay there. Thread-safe.
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
   * @param serializedOnly whether the driver does not use the value
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

  /** Keeps the value in the driver, for all processes of the application. */
  void keep(T value) {
    put(value, true);
  }

  private void refer(T value) {
    reference = serializedOnly ? new WeakReference<>(value) : new SoftReference<>(value);
  }

  /**
   * Puts the value into the block manager.
   *
   * @param isTold whether other processes hear of it
   */
  private void put(T value, boolean isTold) {
    BlockManager blocks = SparkEnv.get().blockManager();
    if (!blocks.putSingle(block(id()), value, StorageLevel.MEMORY_AND_DISK(), isTold, tag)) {
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

  /** The value that somebody in this process uses, or the block manager has in memory. */
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
    SparkEnv env = SparkEnv.get();
    T value;
    try {
      value =
          Values.read(
              file,
              store.store(),
              env.serializer(),
              in -> env.serializerManager().wrapStream(block(id()), in));
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      value = fromDriver().orElseThrow(() -> e);
      LOG.warn("{} cannot be read from Crail; the driver has sent it", this, e);
    }
    put(value, false);
    noteUse(value);
    return value;
  }

  /** The driver's copy; empty when the value was destroyed. */
  @SuppressWarnings("unchecked")
  private Optional<T> fromDriver() {
    Option<BlockResult> result = SparkEnv.get().blockManager().getRemoteValues(block(id()), tag);
    if (result.isEmpty()) {
      return Optional.empty();
    }
    Iterator<Object> values = result.get().data();
    T value = (T) values.next();
    // At its end the iterator gives its memory back.
    values.hasNext();
    return Optional.of(value);
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
