/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailAttributeChanges;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.IncompleteException;
import io.crail.conf.CrailConfiguration;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.functional.RemoteIterators;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store, used with absolute paths of Hadoop and with Hadoop's errors. It makes the directories
 * that a new node needs. It does not know the semantics of HDFS. Thread-safe.
 */
final class PathStore implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(PathStore.class);

  /** All bits that a node has. The other bits of {@code FsPermission} mark ACLs and encryption. */
  private static final int PERMISSIONS = 07777;

  /** Write and search for the owner of a directory. */
  private static final int OWNER_MAY_USE = 0300;

  /** How often a create tries again when other clients change the same paths at the same time. */
  private static final int ATTEMPTS = 8;

  private final Path root;
  private final CrailStore store;

  private PathStore(Path root, CrailStore store) {
    this.root = root;
    this.store = store;
  }

  /**
   * Opens a store.
   *
   * @param root the path of errors that belong to no other path
   */
  static PathStore open(Path root, CrailConfiguration configuration) throws IOException {
    return new PathStore(
        root, HadoopErrors.translate(root, () -> CrailStore.newInstance(configuration)));
  }

  /** The path as the store knows it. */
  private static String name(Path path) {
    return path.toUri().getPath();
  }

  /**
   * The path of a name in a directory. Hadoop's own constructor takes the beginning of a name with
   * a colon for a scheme.
   */
  static Path child(Path directory, String name) {
    URI uri = directory.toUri();
    String path = uri.getPath();
    return new Path(
        uri.getScheme(), uri.getAuthority(), path + (path.endsWith("/") ? "" : "/") + name);
  }

  /** The bits of a permission that a node keeps. */
  static int bits(FsPermission permission) {
    return permission.toShort() & PERMISSIONS;
  }

  /** The node of a path, or null. No node can have a path that breaks a rule. */
  CrailNode lookup(Path path) throws IOException {
    try {
      return find(path);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  private CrailNode find(Path path) throws IOException {
    return HadoopErrors.ofExisting(path, () -> store.lookup(name(path)).get());
  }

  /** The node of a path, which must exist. */
  CrailNode require(Path path) throws IOException {
    CrailNode node = find(path);
    if (node == null) {
      throw new FileNotFoundException("no such file or directory: " + path);
    }
    return node;
  }

  /** A node as a file. A directory counts as not found. */
  static CrailFile asFile(Path path, CrailNode node) throws IOException {
    switch (node.getType()) {
      case DATAFILE:
        return HadoopErrors.translate(path, node::asFile);
      case KEYVALUE:
        return HadoopErrors.translate(path, node::asKeyValue);
      default:
        throw new FileNotFoundException(path + " is a directory");
    }
  }

  /** The children of a directory, page after page; for a file, the file itself. */
  RemoteIterator<CrailNode> list(Path path) throws IOException {
    CrailNode node = require(path);
    if (!node.getType().isContainer()) {
      return RemoteIterators.remoteIteratorFromSingleton(node);
    }
    Iterator<CrailNode> children =
        HadoopErrors.translate(path, () -> node.asContainer().listStatus());
    return new RemoteIterator<>() {
      @Override
      public boolean hasNext() throws IOException {
        return HadoopErrors.translate(path, children::hasNext);
      }

      @Override
      public CrailNode next() throws IOException {
        return HadoopErrors.translate(path, children::next);
      }
    };
  }

  /**
   * Makes a file.
   *
   * @param overwrite whether it may replace another file
   * @param above gives the permissions of missing directories above it; null when none may be
   *     missing
   */
  CrailFile createFile(
      Path path, FsPermission permission, boolean overwrite, Supplier<FsPermission> above)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return asFile(path, make(path, CrailNodeType.DATAFILE, permission, overwrite));
      } catch (FileNotFoundException e) {
        if (above == null || attempt == ATTEMPTS) {
          throw e;
        }
        makeDirectories(path.getParent(), above.get());
      }
    }
  }

  /** Makes a directory, and the missing directories above it, which their owner may always use. */
  void makeDirectories(Path path, FsPermission permission) throws IOException {
    FsPermission above = new FsPermission((short) (permission.toShort() | OWNER_MAY_USE));
    Deque<Path> missing = new ArrayDeque<>();
    missing.push(path);
    // Each level may be missing once; more often only when other clients remove directories made
    // here.
    int attempts = path.depth() + ATTEMPTS;
    while (!missing.isEmpty()) {
      try {
        makeDirectory(missing.peek(), missing.size() == 1 ? permission : above);
        missing.pop();
      } catch (FileNotFoundException e) {
        if (--attempts == 0) {
          throw e;
        }
        missing.push(missing.peek().getParent());
      }
    }
  }

  /** Makes a directory, or finds that it exists. */
  private void makeDirectory(Path path, FsPermission permission) throws IOException {
    if (path.isRoot()) {
      return;
    }
    try {
      make(path, CrailNodeType.DIRECTORY, permission, false);
    } catch (FileAlreadyExistsException e) {
      CrailNode present = lookup(path);
      if (present == null || !present.getType().isContainer()) {
        throw e;
      }
    }
  }

  private CrailNode make(Path path, CrailNodeType type, FsPermission permission, boolean replace)
      throws IOException {
    return HadoopErrors.translate(
        path,
        () ->
            store
                .create(
                    name(path),
                    type,
                    CrailStorageClass.PARENT,
                    CrailLocationClass.PARENT,
                    true,
                    replace,
                    bits(permission))
                .get());
  }

  /**
   * Gives a node exactly this path. With {@code replace}, it replaces the node that has the path.
   */
  void rename(Path from, Path to, boolean replace) throws IOException {
    try {
      HadoopErrors.translate(from, () -> store.rename(name(from), name(to), replace).get());
    } catch (PathIOException e) {
      if (HadoopErrors.isOfImpossiblePath(e)) {
        // Which of the two is meant?
        find(from);
        throw HadoopErrors.translated(to, e.getCause());
      }
      throw e;
    }
  }

  /** Gives a node exactly this path; false when the tree does not allow that. */
  boolean renames(Path from, Path to) throws IOException {
    try {
      rename(from, to, false);
      return true;
    } catch (FileNotFoundException
        | FileAlreadyExistsException
        | ParentNotDirectoryException
        | PathIntoItselfException e) {
      LOG.debug("no rename of {} to {}", from, to, e);
      return false;
    }
  }

  /** Removes a node; false when there is none. */
  boolean remove(Path path, boolean recursive) throws IOException {
    try {
      HadoopErrors.ofExisting(path, () -> store.delete(name(path), recursive).get());
      return true;
    } catch (FileNotFoundException | ParentNotDirectoryException e) {
      return false;
    }
  }

  void setAttributes(Path path, CrailAttributeChanges changes) throws IOException {
    HadoopErrors.ofExisting(path, () -> store.setAttributes(name(path), changes).get());
  }

  /** The space of all storage classes; fails when the part of a namenode is missing. */
  CrailSpace space() throws IOException {
    CrailSpace space = HadoopErrors.translate(root, store::getSpace);
    if (!space.missing().isEmpty()) {
      throw HadoopErrors.translated(root, new IncompleteException("space", space.missing()));
    }
    return space;
  }

  @Override
  public void close() throws IOException {
    HadoopErrors.translate(
        root,
        () -> {
          store.close();
          return null;
        });
  }
}
