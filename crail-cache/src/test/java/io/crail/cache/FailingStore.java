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
import java.util.concurrent.atomic.AtomicLong;

/** A store of which one call fails. */
final class FailingStore extends CrailStore {
  private final CrailStore store;
  private final ErrorCode error;

  /** Calls until one fails; negative after that. */
  private final AtomicLong left;

  FailingStore(CrailStore store, long failing, ErrorCode error) {
    this.store = store;
    this.left = new AtomicLong(failing);
    this.error = error;
  }

  /** Whether a call has failed. */
  boolean hasFailed() {
    return left.get() < 0;
  }

  private CrailStore store() throws CrailException {
    if (left.getAndDecrement() == 0) {
      throw error.exception("a fault of the test");
    }
    return store;
  }

  @Override
  public Upcoming<CrailNode> create(
      String path, CrailNodeType type, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store().create(path, type, c, l, listed);
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
    return store().create(path, type, c, l, listed, replace, permissions);
  }

  @Override
  public Upcoming<CrailNode> createSpread(
      String path, CrailNodeType type, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store().createSpread(path, type, c, l, listed);
  }

  @Override
  public Upcoming<CrailNode> lookup(String path) throws Exception {
    return store().lookup(path);
  }

  @Override
  public Upcoming<CrailKeyValue> put(
      String path, CrailBuffer value, CrailStorageClass c, CrailLocationClass l, boolean listed)
      throws Exception {
    return store().put(path, value, c, l, listed);
  }

  @Override
  public Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception {
    return store().get(path, target);
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target) throws Exception {
    return store().rename(source, target);
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target, boolean replace)
      throws Exception {
    return store().rename(source, target, replace);
  }

  @Override
  public Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception {
    return store().setAttributes(path, changes);
  }

  @Override
  public Upcoming<CrailNode> delete(String path, boolean recursive) throws Exception {
    return store().delete(path, recursive);
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
    return store().getBlockSize();
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
    return store().getSpace();
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
