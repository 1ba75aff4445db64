/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailContainer;
import io.crail.CrailDirectory;
import io.crail.CrailMultiFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailTable;
import io.crail.client.lease.CreateCall;
import io.crail.client.loop.IoWait;
import io.crail.client.stream.DirectInput;
import io.crail.client.stream.MultiFileInput;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.SpreadPath;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.Objects;
import java.util.function.Consumer;

/** A handle of a node with children. Thread-safe. */
abstract class CoreContainer extends CoreNode implements CrailContainer {
  private CoreContainer(
      StoreContext store, String path, CrailNodeType type, CreateCall create, NodeInfo info) {
    super(store, path, type, create, info);
  }

  /** A directory. */
  static final class Directory extends CoreContainer implements CrailDirectory {
    Directory(StoreContext store, String path, CreateCall create, NodeInfo info) {
      super(store, path, CrailNodeType.DIRECTORY, create, info);
    }

    @Override
    public CrailDirectory asDirectory() {
      return this;
    }
  }

  /** A multi-file. */
  static final class MultiFile extends CoreContainer implements CrailMultiFile {
    MultiFile(StoreContext store, String path, CreateCall create, NodeInfo info) {
      super(store, path, CrailNodeType.MULTIFILE, create, info);
    }

    @Override
    public CrailMultiFile asMultiFile() {
      return this;
    }

    @Override
    public CrailBufferedInputStream getMultiStream(int outstanding) throws Exception {
      if (outstanding < 1) {
        throw new IllegalArgumentException("outstanding must be at least 1, not " + outstanding);
      }
      Listing children = list(store().randomizesListings());
      return new MultiFileInput(
          store().streams(), getPath(), () -> openNext(children), outstanding);
    }
  }

  /** Opens the next file of a listing that has bytes; null when there is none. */
  private static DirectInput openNext(Listing children)
      throws CrailException, InterruptedException {
    while (children.fetch()) {
      if (children.next() instanceof CoreFile file && file.size() > 0) {
        return file.openInput(file.size());
      }
    }
    return null;
  }

  /** A table. */
  static final class Table extends CoreContainer implements CrailTable {
    Table(StoreContext store, String path, CreateCall create, NodeInfo info) {
      super(store, path, CrailNodeType.TABLE, create, info);
    }

    @Override
    public CrailTable asTable() {
      return this;
    }
  }

  @Override
  public final CrailContainer asContainer() {
    return this;
  }

  final boolean isRoot() {
    return getPath().equals(NodePath.ROOT.toString());
  }

  @Override
  public final boolean isSpread() {
    return infoUnchecked().isSpread();
  }

  /** Whether each namenode has a share of the children, as it has of those of the root. */
  private boolean hasShares() throws CrailException, InterruptedException {
    return store().context().namenodes().count() > 1 && (isRoot() || info().isSpread());
  }

  @Override
  public final int files() {
    try {
      return present().childCount();
    } catch (CrailException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new UncheckedIOException(IoWait.interrupted(e));
    }
  }

  @Override
  public final CrailNode refresh() throws Exception {
    info(present());
    return this;
  }

  /** What the namenode knows about this container now; for the root, the sum of all namenodes. */
  private NodeInfo present() throws CrailException, InterruptedException {
    if (isRoot()) {
      return sum(null, NodePath.ROOT);
    }
    NodeInfo present = presentHere();
    Utf8 text = NodePath.parse(getPath());
    return hasShares() ? sum(present, SpreadPath.of(present.id(), text.length(), text)) : present;
  }

  /** What the namenode of its path knows about this container now. */
  private NodeInfo presentHere() throws CrailException, InterruptedException {
    NodeInfo known = info();
    Lookup.Request request = new Lookup.Request(NodePath.parse(getPath()));
    NodeInfo present;
    try {
      present =
          store().context().namenodes().call(NameNodeOperations.LOOKUP, request).join().node();
    } catch (CrailException e) {
      if (isAbsence(e.code())) {
        throw ErrorCode.STALE_NODE.exception(getPath());
      }
      throw e;
    }
    if (present.id() != known.id()) {
      throw ErrorCode.STALE_NODE.exception(getPath());
    }
    return present;
  }

  /**
   * A container with the children of all its shares.
   *
   * @param container what its owner knows of it; null for the root, which the first namenode has
   * @param path leads to the shares
   */
  private NodeInfo sum(NodeInfo container, Utf8 path) throws CrailException, InterruptedException {
    NodeInfo base = container;
    long modifiedMillis = 0;
    int children = 0;
    for (Lookup.Response each : Listing.everywhere(store().context(), path).complete(getPath())) {
      NodeInfo share = each.node();
      base = base == null ? share : base;
      modifiedMillis = Math.max(modifiedMillis, share.modifiedMillis());
      children += share.childCount();
    }
    return new NodeInfo(
        base.id(),
        base.size(),
        modifiedMillis,
        base.accessedMillis(),
        children,
        base.storageClass(),
        base.type(),
        base.flags(),
        base.permissions(),
        base.owner(),
        base.group());
  }

  /** The enumerable children. */
  final Listing list(boolean randomize) throws CrailException, InterruptedException {
    return list(randomize, null);
  }

  private Listing list(boolean randomize, Consumer<MissingNamenode> leftOut)
      throws CrailException, InterruptedException {
    store().checkOpen();
    return new Listing(
        store(), store().context(), getPath(), info().id(), hasShares(), randomize, leftOut);
  }

  /**
   * As {@link #list}, but checks that the paths lead to the children.
   *
   * @throws CrailException with STALE_NODE when the container has another path by now
   */
  private Listing listHere(boolean randomize, Consumer<MissingNamenode> leftOut)
      throws CrailException, InterruptedException {
    // The request for the first page is in flight during the check.
    Listing nodes = list(randomize, leftOut);
    if (!isRoot()) {
      try {
        presentHere();
      } catch (CrailException e) {
        boolean isEnough = leftOut != null && hasShares() && MissingNamenode.isDown(e.code());
        if (!isEnough) {
          throw e;
        }
      }
    }
    return nodes;
  }

  @Override
  public final Iterator<String> listEntries() throws Exception {
    Listing nodes = listHere(store().randomizesListings(), null);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return nodes.hasNext();
      }

      @Override
      public String next() {
        return nodes.nextPath();
      }
    };
  }

  @Override
  public final Iterator<CrailNode> listStatus() throws Exception {
    return listHere(false, null);
  }

  @Override
  public final Iterator<CrailNode> listStatus(Consumer<MissingNamenode> missing) throws Exception {
    return listHere(false, Objects.requireNonNull(missing, "missing"));
  }
}
