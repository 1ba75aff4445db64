/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.CrailSpace;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * Crail as Hadoop's file system {@code crail://host:port[,host:port]/path}, with the semantics of
 * HDFS. Directories, multi-files and tables are directories; a node with bytes is a file. The
 * authority names the namenodes; without an authority the configuration does. Each file system has
 * a store of its own, which is closed with it. Thread-safe.
 */
public class CrailFileSystem extends MendedFileSystem {
  /** The key for the length of the blocks by which schedulers split a file, in bytes. */
  public static final String BLOCK_SIZE_KEY = "fs.crail.block.size";

  /**
   * The key for the site file of Crail, if it is not the one of the environment; empty for none.
   */
  public static final String SITE_FILE_KEY = "fs.crail.site.file";

  /** The file system whose store this one uses; null when this one has its own store. */
  private final CrailFileSystem owner;

  /** The streams that are closed with the store. */
  private final OpenOutputs openOutputs;

  private URI uri;
  private PathStore store;
  private NodeStatus statuses;
  private String user;

  /** Null with one namenode, when Hadoop's default is enough. */
  private TopLevelTrash trash;

  private Path workingDirectory;

  /** Called by Hadoop, before {@link #initialize}. */
  public CrailFileSystem() {
    this.owner = null;
    this.openOutputs = new OpenOutputs();
  }

  /** Creates a file system on the store of another one, which closes the streams left open here. */
  CrailFileSystem(CrailFileSystem owner) {
    this.owner = owner;
    this.openOutputs = owner.openOutputs;
  }

  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    super.initialize(name, configuration);
    setConf(configuration);
    uri = owner != null ? owner.uri : root(name);
    user = UserGroupInformation.getCurrentUser().getShortUserName();
    statuses = NodeStatus.of(configuration);
    if (owner != null) {
      store = owner.store;
    } else {
      open(
          HadoopErrors.translate(
              new Path(name),
              () -> HadoopConfiguration.of(name, configuration, user, System::getenv)));
    }
    workingDirectory = getHomeDirectory();
  }

  /** The URI without a path, as in Hadoop's other file systems: programs append a path. */
  static URI root(URI name) {
    String authority = name.getRawAuthority();
    return URI.create(HadoopConfiguration.SCHEME + "://" + (authority == null ? "/" : authority));
  }

  private void open(CrailConfiguration crail) throws IOException {
    trash = HadoopConfiguration.hasSeveralNamenodes(crail) ? new TopLevelTrash(this) : null;
    store = PathStore.open(new Path(uri), crail);
  }

  @Override
  public String getScheme() {
    return HadoopConfiguration.SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** None: there are no tokens here, and several namenodes are not a service address. */
  @Override
  public String getCanonicalServiceName() {
    return null;
  }

  @Override
  public Path getHomeDirectory() {
    return makeQualified(new Path("/user/" + user));
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    workingDirectory = fixRelativePart(directory);
  }

  /** Hadoop calls this for every path, and shows it as the server's default. */
  @Override
  @SuppressWarnings("deprecation")
  public long getDefaultBlockSize() {
    return statuses.blockSize();
  }

  @Override
  public short getDefaultReplication(Path path) {
    return 1;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    CrailFile file = PathStore.asFile(absolute, store.require(absolute));
    return new FSDataInputStream(new CrailHadoopInputStream(absolute, file, statistics));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockBytes,
      Progressable progress)
      throws IOException {
    return create(path, masked(permission, false), overwrite, true);
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockBytes,
      Progressable progress)
      throws IOException {
    boolean overwrite = flags.contains(CreateFlag.OVERWRITE);
    return create(path, masked(permission, false), overwrite, false);
  }

  /** The permission of a new node: the wanted bits without those of the configured mask. */
  private FsPermission masked(FsPermission permission, boolean directory) {
    FsPermission wanted =
        permission != null
            ? permission
            : directory ? FsPermission.getDirDefault() : FsPermission.getFileDefault();
    return wanted.applyUMask(FsPermission.getUMask(getConf()));
  }

  /** Creates a file, with exactly these bits. */
  FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, boolean parents)
      throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    if (absolute.isRoot()) {
      throw new FileAlreadyExistsException(absolute + " is a directory");
    }
    Supplier<FsPermission> above = parents ? () -> masked(null, true) : null;
    return output(absolute, store.createFile(absolute, permission, overwrite, above));
  }

  /** Opens a stream that begins at the end of a file. */
  private FSDataOutputStream output(Path path, CrailFile file) throws IOException {
    CrailBufferedOutputStream out =
        HadoopErrors.translate(path, () -> file.getBufferedOutputStream(0));
    return new FSDataOutputStream(
        new CrailHadoopOutputStream(path, out, openOutputs), statistics, out.position());
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    CrailNode node = store.require(absolute);
    if (node.getType().isContainer()) {
      // As HDFS does. A read of a directory fails with a file that is not found instead.
      throw new FileAlreadyExistsException(absolute + " is a directory");
    }
    return output(absolute, PathStore.asFile(absolute, node));
  }

  /**
   * As HDFS: moves into an existing directory, never replaces an existing node, and returns false
   * when the rename is impossible.
   */
  @Override
  public boolean rename(Path source, Path target) throws IOException {
    statistics.incrementWriteOps(1);
    Path from = absolute(source);
    Path to = absolute(target);
    CrailNode node = store.lookup(from);
    if (node == null || from.isRoot()) {
      return false;
    }
    CrailNode present = store.lookup(to);
    boolean into = present != null && present.getType().isContainer();
    Path place = into ? PathStore.child(to, from.getName()) : to;
    return from.equals(place) || store.renames(from, place);
  }

  /** As HDFS: renames to exactly this path. An overwrite replaces a file or an empty directory. */
  @Override
  @SuppressWarnings("deprecation")
  protected void rename(Path source, Path target, Options.Rename... options) throws IOException {
    statistics.incrementWriteOps(1);
    boolean overwrite = Arrays.asList(options).contains(Options.Rename.OVERWRITE);
    store.rename(absolute(source), absolute(target), overwrite);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    return absolute.isRoot() ? deleteRoot(absolute, recursive) : store.remove(absolute, recursive);
  }

  /** The root stays. The nodes below it are deleted only by a recursive delete. */
  private boolean deleteRoot(Path root, boolean recursive) throws IOException {
    if (!recursive && listStatusIterator(root).hasNext()) {
      throw new PathIsNotEmptyDirectoryException(root.toString());
    }
    return false;
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    makeDirectories(path, masked(permission, true));
    return true;
  }

  /** Makes a directory, with exactly these bits, and the missing directories above it. */
  final void makeDirectories(Path path, FsPermission permission) throws IOException {
    statistics.incrementWriteOps(1);
    store.makeDirectories(absolute(path), permission);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    return statuses.of(absolute, store.require(absolute));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return RemoteIterators.toArray(listStatusIterator(path), new FileStatus[0]);
  }

  /**
   * Asks for page after page while they are consumed. The root is on all namenodes. When one of
   * them is down, the children at the other namenodes come first, then an exception: a program must
   * not take files that cannot be reached for deleted.
   */
  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return RemoteIterators.mappingRemoteIterator(
        list(absolute(path)), node -> statuses.of(pathOf(node), node));
  }

  /** Leaves out files that are removed before their locations are asked for. */
  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    RemoteIterator<CrailNode> accepted =
        RemoteIterators.filteringRemoteIterator(
            list(absolute(path)), node -> filter.accept(pathOf(node)));
    return RemoteIterators.filteringRemoteIterator(
        RemoteIterators.mappingRemoteIterator(
            accepted, node -> statuses.located(pathOf(node), node)),
        Objects::nonNull);
  }

  private RemoteIterator<CrailNode> list(Path absolute) throws IOException {
    statistics.incrementReadOps(1);
    return store.list(absolute);
  }

  private Path pathOf(CrailNode node) {
    return makeQualified(new Path(node.getPath()));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    return file == null ? null : getFileBlockLocations(file.getPath(), start, length);
  }

  /** The blocks that have bytes of the range, each as a whole block. */
  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException("range " + start + ", " + length);
    }
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    return statuses.locations(absolute, store.require(absolute), start, length);
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    switch (PathCapabilitiesSupport.validatePathCapabilityArgs(absolute(path), capability)) {
      case CommonPathCapabilities.FS_APPEND:
      case CommonPathCapabilities.FS_PERMISSIONS:
        return true;
      default:
        return super.hasPathCapability(path, capability);
    }
  }

  /** Kept and shown; not enforced. */
  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    change(path, CrailAttributeChanges.ofPermissions(PathStore.bits(permission)));
  }

  /** Kept and shown; not enforced. */
  @Override
  public void setOwner(Path path, String newOwner, String group) throws IOException {
    if (newOwner == null && group == null) {
      throw new PathIOException(path.toString(), "neither owner nor group");
    }
    change(path, CrailAttributeChanges.ofOwner(newOwner, group));
  }

  /** A time of -1 stays as it is. */
  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    change(
        path,
        CrailAttributeChanges.ofTimes(
            modified == -1 ? null : modified, accessed == -1 ? null : accessed));
  }

  /**
   * As HDFS: false when the path is no file. Bytes are kept once, so no other replication is ever
   * reached.
   */
  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    statistics.incrementWriteOps(1);
    CrailNode node = store.lookup(absolute(path));
    return node != null && !node.getType().isContainer() && replication == 1;
  }

  /**
   * Whether the children of a directory may be at several namenodes, so that a rename cannot give
   * each of them any name.
   */
  protected final boolean isSpread(Path directory) throws IOException {
    Path absolute = absolute(directory);
    if (absolute.isRoot()) {
      return true;
    }
    CrailNode node = store.lookup(absolute);
    return node != null
        && node.getType().isContainer()
        && HadoopErrors.translate(absolute, () -> node.asContainer().isSpread());
  }

  /** Nothing to do: the one namenode that knows answers each call. */
  @Override
  public void msync() {}

  @Override
  public Path getTrashRoot(Path path) {
    return trash == null ? super.getTrashRoot(path) : trash.rootOf(absolute(path), user);
  }

  @Override
  public Collection<FileStatus> getTrashRoots(boolean allUsers) {
    return trash == null ? super.getTrashRoots(allUsers) : trash.roots(allUsers ? null : user);
  }

  private void change(Path path, CrailAttributeChanges changes) throws IOException {
    statistics.incrementWriteOps(1);
    store.setAttributes(absolute(path), changes);
  }

  /**
   * The space of all storage classes. Freed space that waits for leases to end counts as used.
   * Fails when a namenode is down, since the result could not show that a part is missing.
   */
  @Override
  public FsStatus getStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    CrailSpace space = store.space();
    return new FsStatus(
        space.capacityBytes(), space.usedBytes() + space.waitingBytes(), space.freeBytes());
  }

  /** Those of all file systems of this scheme, as for any scheme of Hadoop. */
  @Override
  public StorageStatistics getStorageStatistics() {
    return getGlobalStorageStatistics().get(getScheme());
  }

  /** Completes the files that are being written, then closes the store. */
  @Override
  public void close() throws IOException {
    if (owner != null || store == null) {
      super.close();
    } else {
      openOutputs.closeBefore(List.of(super::close, store));
    }
  }

  private Path absolute(Path path) {
    Path absolute = makeQualified(path);
    checkPath(absolute);
    return absolute;
  }
}
