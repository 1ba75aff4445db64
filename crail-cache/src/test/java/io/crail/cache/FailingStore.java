/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailSpace;
import io.crail.CrailStatistics;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import java.util.concurrent.atomic.AtomicLong;

/** A store that does what a test wants before each call: one of them fails, for example. */
final class FailingStore extends CrailStore {
  private final CrailStore store;
  private final Before before;
  private final AtomicLong calls = new AtomicLong();

  /** Happens before a call. */
  interface Before {
    /**
     * Happens.
     *
     * @param call the name of the method
     * @param number how many calls there were before
     */
    void call(String call, long number) throws CrailException;
  }

  FailingStore(CrailStore store, Before before) {
    this.store = store;
    this.before = before;
  }

  FailingStore(CrailStore store, long failing, ErrorCode error) {
    this(
        store,
        (call, number) -> {
          if (number == failing) {
            throw error.exception("a fault of the test");
          }
        });
  }

  /** How many calls there were. */
  long calls() {
    return calls.get();
  }

  private CrailStore store(String call) throws CrailException {
    before.call(call, calls.getAndIncrement());
    return store;
  }

  @Override
  public Upcoming<CrailNode> create(
      String path, CrailNodeType type, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store("create").create(path, type, c, l, listed);
  }

  @Override
  public Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass c,
      CrailLocationClass l,
      boolean listed,
      boolean replace,
      int permissions)
      throws Exception {
    return store("create").create(path, type, c, l, listed, replace, permissions);
  }

  @Override
  public Upcoming<CrailNode> createSpread(
      String path, CrailNodeType type, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store("createSpread").createSpread(path, type, c, l, listed);
  }

  @Override
  public Upcoming<CrailNode> lookup(String path) throws Exception {
    return store("lookup").lookup(path);
  }

  @Override
  public Upcoming<CrailKeyValue> put(
      String path, CrailBuffer value, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store("put").put(path, value, c, l, listed);
  }

  @Override
  public Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception {
    return store("get").get(path, target);
  }

  @Override
  public Upcoming<CompoundResult> operate(String path, CompoundOperation operation)
      throws Exception {
    return store("operate").operate(path, operation);
  }

  @Override
  public Upcoming<StagedBytes> stage(
      String path, CrailBuffer bytes, CrailStorageClass c, CrailLocationClass l) throws Exception {
    return store("stage").stage(path, bytes, c, l);
  }

  @Override
  public boolean settle(String path) throws Exception {
    return store("settle").settle(path);
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target) throws Exception {
    return store("rename").rename(source, target);
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target, boolean replace)
      throws Exception {
    return store("rename").rename(source, target, replace);
  }

  @Override
  public Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception {
    return store("setAttributes").setAttributes(path, changes);
  }

  @Override
  public Upcoming<CrailNode> delete(String path, boolean recursive) throws Exception {
    return store("delete").delete(path, recursive);
  }

  @Override
  public CrailBuffer allocateBuffer() throws Exception {
    return store.allocateBuffer();
  }

  @Override
  public void freeBuffer(CrailBuffer buffer) throws Exception {
    store.freeBuffer(buffer);
  }

  @Override
  public long getBlockSize() throws Exception {
    return store("getBlockSize").getBlockSize();
  }

  @Override
  public int getBufferSize() {
    return store.getBufferSize();
  }

  @Override
  public int getSliceSize() {
    return store.getSliceSize();
  }

  @Override
  public CrailSpace getSpace() throws Exception {
    return store("getSpace").getSpace();
  }

  @Override
  public CrailStatistics getStatistics() {
    return store.getStatistics();
  }

  @Override
  public CrailLocationClass getLocationClass() {
    return store.getLocationClass();
  }

  @Override
  public void close() throws Exception {
    store.close();
  }
}
