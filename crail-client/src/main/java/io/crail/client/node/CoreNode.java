/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailAttributes;
import io.crail.CrailBlockLocation;
import io.crail.CrailContainer;
import io.crail.CrailDirectory;
import io.crail.CrailFile;
import io.crail.CrailKeyValue;
import io.crail.CrailMultiFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.CrailTable;
import io.crail.client.lease.CreateCall;
import io.crail.client.loop.IoWait;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.NodeInfo;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A handle of a node. Thread-safe. */
public abstract class CoreNode implements CrailNode {
  private static final VarHandle INFO;

  static {
    try {
      INFO = MethodHandles.lookup().findVarHandle(CoreNode.class, "info", NodeInfo.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final StoreContext store;
  private final String path;
  private final CrailNodeType type;
  private final CreateCall create;
  private volatile NodeInfo info;

  /**
   * Creates a handle.
   *
   * @param create the call that creates the node, if the handle exists before its answer
   * @param info what is known about the node; null before the answer
   */
  CoreNode(StoreContext store, String path, CrailNodeType type, CreateCall create, NodeInfo info) {
    this.store = store;
    this.path = path;
    this.type = type;
    this.create = create;
    // Without the fence of a volatile write: no other thread has the handle yet.
    INFO.set(this, info);
  }

  /** What all handles of the store share. */
  public final StoreContext store() {
    return store;
  }

  /**
   * What the namenode has returned last; waits for the answer to a create.
   *
   * @throws CrailException the error of the create
   */
  final NodeInfo info() throws CrailException, InterruptedException {
    NodeInfo known = info;
    if (known == null) {
      create.join();
      known = create.node();
      info = known;
    }
    return known;
  }

  /** As {@link #info()}, for methods that declare no exception. */
  final NodeInfo infoUnchecked() {
    NodeInfo known = info;
    if (known != null) {
      return known;
    }
    try {
      return info();
    } catch (CrailException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new UncheckedIOException(IoWait.interrupted(e));
    }
  }

  /** Replaces what is known about the node. */
  public final void info(NodeInfo newInfo) {
    this.info = newInfo;
  }

  /** True for the errors that mean: no node has this path. */
  public static boolean isAbsence(ErrorCode code) {
    return code == ErrorCode.NODE_NOT_FOUND
        || code == ErrorCode.PARENT_NOT_FOUND
        || code == ErrorCode.NOT_A_CONTAINER;
  }

  /** The call that creates the node; null for a handle that came from elsewhere. */
  final CreateCall create() {
    return create;
  }

  @Override
  public final CrailStore getFileSystem() {
    return store.facade();
  }

  @Override
  public final String getPath() {
    return path;
  }

  @Override
  public final CrailNode syncDir() throws Exception {
    info();
    return this;
  }

  @Override
  public long getModificationTime() {
    return infoUnchecked().modifiedMillis();
  }

  @Override
  public final CrailAttributes getAttributes() throws Exception {
    NodeInfo known = info();
    return new CrailAttributes(
        store.names().name(known.id(), known.owner()),
        store.names().name(known.id(), known.group()),
        known.permissions(),
        known.modifiedMillis(),
        known.accessedMillis());
  }

  @Override
  public long getCapacity() {
    return infoUnchecked().size();
  }

  @Override
  public final CrailNodeType getType() {
    return type;
  }

  @Override
  public CrailFile asFile() throws Exception {
    throw mismatch("a data file");
  }

  @Override
  public CrailContainer asContainer() throws Exception {
    throw mismatch("a container");
  }

  @Override
  public CrailDirectory asDirectory() throws Exception {
    throw mismatch("a directory");
  }

  @Override
  public CrailMultiFile asMultiFile() throws Exception {
    throw mismatch("a multi-file");
  }

  @Override
  public CrailTable asTable() throws Exception {
    throw mismatch("a table");
  }

  @Override
  public CrailKeyValue asKeyValue() throws Exception {
    throw mismatch("a key-value");
  }

  @Override
  public CrailBlockLocation[] getBlockLocations(long start, long length) throws Exception {
    return new CrailBlockLocation[0];
  }

  private CrailException mismatch(String wanted) {
    return ErrorCode.WRONG_TYPE.exception(path + " is a " + type + ", not " + wanted);
  }

  @Override
  public final String toString() {
    return type + " " + path;
  }
}
