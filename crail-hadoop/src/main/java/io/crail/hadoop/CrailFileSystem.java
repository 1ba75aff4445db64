/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailAttributeChanges;
import io.crail.CrailAttributes;
import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedOutputStream;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Crail as Hadoop's file system {@code crail://host:port[,host:port]/path}, with the semantics of
 * HDFS. Directories, multi-files and tables are directories, what has bytes is a file. The
 * authority names the namenodes; without one the configuration does. Each file system has a store
 * of its own, which is closed with it. Thread-safe.
 */
public class CrailFileSystem extends FileSystem {
  /** Bytes of the blocks by which schedulers split a file. */
  public static final String BLOCK_SIZE_KEY = "fs.crail.block.size";

  /** The site file of Crail, where it is not the environment's; empty for none. */
  public static final String SITE_FILE_KEY = "fs.crail.site.file";

  private static final Logger LOG = LoggerFactory.getLogger(CrailFileSystem.class);

  private static final long DEFAULT_BLOCK_SIZE = 128L << 20;

  /** All bits that a node has; others of {@code FsPermission} tell of ACLs and encryption. */
  private static final int PERMISSIONS = 07777;

  /** Write and search for the owner of a directory. */
  private static final int OWNER_MAY_USE = 0300;

  /** How often a create tries again when others change the same paths meanwhile. */
  private static final int ATTEMPTS = 8;

  /** The file system whose store this one uses; null when it has one of its own. */
  private final CrailFileSystem owner;

  /** The streams that are closed with this, as HDFS does it. */
  private final Set<CrailHadoopOutputStream> openOutputs;

  private URI uri;
  private CrailStore store;
  private String user;
  private long blockSize;

  /** Null with one namenode, where Hadoop's default will do. */
  private TopLevelTrash trash;

  private Path workingDirectory;

  /** Called by Hadoop, before {@link #initialize}. */
  public CrailFileSystem() {
    this.owner = null;
    this.openOutputs = ConcurrentHashMap.newKeySet();
  }

  /** Creates a file system on the store of another one, which closes what is left open here. */
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
    blockSize = blockSize(configuration);
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

  /** Counts what is read and written in the place of a {@code FileContext}. */
  void countIn(Statistics counters) {
    statistics = counters;
  }

  /** Without a path, as Hadoop's others: programs put one after it. */
  static URI root(URI name) {
    String authority = name.getRawAuthority();
    return URI.create(HadoopConfiguration.SCHEME + "://" + (authority == null ? "/" : authority));
  }

  private static long blockSize(Configuration configuration) throws IOException {
    long size = configuration.getLongBytes(BLOCK_SIZE_KEY, DEFAULT_BLOCK_SIZE);
    if (size < 1) {
      throw new IOException("key '" + BLOCK_SIZE_KEY + "' must be positive, not " + size);
    }
    return size;
  }

  private void open(CrailConfiguration crail) throws IOException {
    trash = HadoopConfiguration.hasSeveralNamenodes(crail) ? new TopLevelTrash(this) : null;
    store = HadoopErrors.translate(new Path(uri), () -> CrailStore.newInstance(crail));
  }

  @Override
  public String getScheme() {
    return HadoopConfiguration.SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** None: nobody asks for tokens here, and several namenodes are no service address. */
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

  /** What Hadoop asks for every path, and tells as the server's default. */
  @Override
  @SuppressWarnings("deprecation")
  public long getDefaultBlockSize() {
    return blockSize;
  }

  @Override
  public short getDefaultReplication(Path path) {
    return 1;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    CrailFile file = asFile(absolute, require(absolute));
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
    return create(absolute(path), masked(permission, false), overwrite, true);
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
    return create(
        absolute(path), masked(permission, false), flags.contains(CreateFlag.OVERWRITE), false);
  }

  /** For {@code FileContext}, which has applied its own mask. */
  @Override
  @SuppressWarnings("deprecation")
  protected FSDataOutputStream primitiveCreate(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockBytes,
      Progressable progress,
      Options.ChecksumOpt checksums)
      throws IOException {
    boolean exists = exists(path);
    CreateFlag.validate(path, exists, flags);
    return exists && flags.contains(CreateFlag.APPEND)
        ? append(path, bufferSize, progress)
        : create(absolute(path), permission, flags.contains(CreateFlag.OVERWRITE), true);
  }

  /** What a new node gets: the bits that are asked for without those of the configured mask. */
  private FsPermission masked(FsPermission permission, boolean directory) {
    FsPermission wanted =
        permission != null
            ? permission
            : directory ? FsPermission.getDirDefault() : FsPermission.getFileDefault();
    return wanted.applyUMask(FsPermission.getUMask(getConf()));
  }

  private FSDataOutputStream create(
      Path path, FsPermission permission, boolean overwrite, boolean parents) throws IOException {
    statistics.incrementWriteOps(1);
    if (path.isRoot()) {
      throw new FileAlreadyExistsException(path + " is a directory");
    }
    CrailNode made = null;
    for (int attempt = 1; made == null; attempt++) {
      try {
        made = make(path, CrailNodeType.DATAFILE, permission, overwrite);
      } catch (FileNotFoundException e) {
        if (!parents || attempt == ATTEMPTS) {
          throw e;
        }
        makeDirectories(path.getParent(), masked(null, true));
      }
    }
    return output(path, asFile(path, made));
  }

  /** A stream that begins at the end of a file. */
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
    CrailNode node = require(absolute);
    if (node.getType().isContainer()) {
      // As HDFS; a read of a directory finds no file instead.
      throw new FileAlreadyExistsException(absolute + " is a directory");
    }
    return output(absolute, asFile(absolute, node));
  }

  /**
   * As HDFS: into a directory that is there, never onto something that is there, and false for what
   * cannot be.
   */
  @Override
  public boolean rename(Path source, Path target) throws IOException {
    statistics.incrementWriteOps(1);
    Path from = absolute(source);
    Path to = absolute(target);
    CrailNode node = lookup(from);
    if (node == null || from.isRoot()) {
      return false;
    }
    CrailNode present = lookup(to);
    Path place = present != null && present.getType().isContainer() ? child(to, from) : to;
    if (from.equals(place)) {
      return true;
    }
    try {
      HadoopErrors.translate(from, () -> store.rename(name(from), name(place)).get());
      return true;
    } catch (FileNotFoundException
        | FileAlreadyExistsException
        | ParentNotDirectoryException
        | PathIntoItselfException e) {
      LOG.debug("no rename of {} to {}", from, place, e);
      return false;
    }
  }

  /** As HDFS: exactly there; with an overwrite in the place of a file or an empty directory. */
  @Override
  @SuppressWarnings("deprecation")
  protected void rename(Path source, Path target, Options.Rename... options) throws IOException {
    statistics.incrementWriteOps(1);
    Path from = absolute(source);
    Path to = absolute(target);
    boolean overwrite = Arrays.asList(options).contains(Options.Rename.OVERWRITE);
    HadoopErrors.translate(from, () -> store.rename(name(from), name(to), overwrite).get());
  }

  private static Path child(Path directory, Path named) {
    return new Path(directory, named.getName());
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    if (absolute.isRoot()) {
      return deleteRoot(absolute, recursive);
    }
    return remove(absolute, recursive);
  }

  /** The root stays; what is below it goes only when it is asked for with it. */
  private boolean deleteRoot(Path root, boolean recursive) throws IOException {
    if (!recursive && listStatusIterator(root).hasNext()) {
      throw new PathIsNotEmptyDirectoryException(root.toString());
    }
    return false;
  }

  /** Removes a node; false when there is none. */
  private boolean remove(Path path, boolean recursive) throws IOException {
    try {
      HadoopErrors.translate(path, () -> store.delete(name(path), recursive).get());
      return true;
    } catch (FileNotFoundException | ParentNotDirectoryException e) {
      return false;
    }
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    statistics.incrementWriteOps(1);
    makeDirectories(absolute(path), masked(permission, true));
    return true;
  }

  /** For {@code FileContext}, which has applied its own mask. */
  @Override
  @SuppressWarnings("deprecation")
  protected boolean primitiveMkdir(Path path, FsPermission permission) throws IOException {
    statistics.incrementWriteOps(1);
    makeDirectories(absolute(path), permission);
    return true;
  }

  /** For {@code FileContext}, which has applied its own mask. */
  @Override
  @SuppressWarnings("deprecation")
  protected void primitiveMkdir(Path path, FsPermission permission, boolean createParent)
      throws IOException {
    Path parent = path.getParent();
    if (!createParent && parent != null && !getFileStatus(parent).isDirectory()) {
      throw new ParentNotDirectoryException(parent + " is a file");
    }
    primitiveMkdir(path, permission);
  }

  /** Makes a directory, and those above it that are missing, which their owner may always use. */
  private void makeDirectories(Path absolute, FsPermission permission) throws IOException {
    FsPermission above = new FsPermission((short) (permission.toShort() | OWNER_MAY_USE));
    Deque<Path> missing = new ArrayDeque<>();
    missing.push(absolute);
    // Each level may be missing once; more often only where others remove what is made here.
    int attempts = absolute.depth() + ATTEMPTS;
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

  /** Makes a directory, or finds that it is there. */
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

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    return status(absolute, require(absolute));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    RemoteIterator<FileStatus> each = listStatusIterator(path);
    while (each.hasNext()) {
      found.add(each.next());
    }
    return found.toArray(FileStatus[]::new);
  }

  /**
   * Asks for page after page while they are consumed. The root lies on all namenodes: where one is
   * down, the children that the others have come first, then an exception, for a program must not
   * take what is out of reach for deleted.
   */
  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return RemoteIterators.mappingRemoteIterator(
        list(absolute(path)), node -> status(pathOf(node), node));
  }

  /** Without the files that are removed before it is asked where they lie. */
  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    RemoteIterator<CrailNode> accepted =
        RemoteIterators.filteringRemoteIterator(
            list(absolute(path)), node -> filter.accept(pathOf(node)));
    return RemoteIterators.filteringRemoteIterator(
        RemoteIterators.mappingRemoteIterator(accepted, this::located), Objects::nonNull);
  }

  /** A node with its locations; null when it is gone. */
  private LocatedFileStatus located(CrailNode node) throws IOException {
    FileStatus status = status(pathOf(node), node);
    try {
      return new LocatedFileStatus(
          status, status.isFile() ? locations(status.getPath(), node, 0, status.getLen()) : null);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  /** The children of a directory, page after page; of a file itself. */
  private RemoteIterator<CrailNode> list(Path absolute) throws IOException {
    statistics.incrementReadOps(1);
    CrailNode node = require(absolute);
    if (!node.getType().isContainer()) {
      return RemoteIterators.remoteIteratorFromSingleton(node);
    }
    Iterator<CrailNode> children =
        HadoopErrors.translate(absolute, () -> node.asContainer().listStatus());
    return new RemoteIterator<>() {
      @Override
      public boolean hasNext() throws IOException {
        return HadoopErrors.translate(absolute, children::hasNext);
      }

      @Override
      public CrailNode next() throws IOException {
        return HadoopErrors.translate(absolute, children::next);
      }
    };
  }

  private Path pathOf(CrailNode node) {
    return makeQualified(new Path(node.getPath()));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    return file == null ? null : getFileBlockLocations(file.getPath(), start, length);
  }

  /** The blocks that have bytes of the range, each as a whole. */
  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException("range " + start + ", " + length);
    }
    statistics.incrementReadOps(1);
    Path absolute = absolute(path);
    return locations(absolute, require(absolute), start, length);
  }

  private BlockLocation[] locations(Path path, CrailNode node, long start, long length)
      throws IOException {
    long behind = start + Math.min(length, Math.max(0, node.getCapacity() - start));
    if (behind == start) {
      return new BlockLocation[0];
    }
    long from = start - start % blockSize;
    long rest = behind % blockSize;
    long to = rest == 0 ? behind : behind - rest + blockSize;
    CrailBlockLocation[] runs =
        HadoopErrors.translate(path, () -> node.getBlockLocations(from, to - from));
    return SchedulerBlocks.of(runs, blockSize);
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

  /** Kept and shown; nobody is refused anything for it. */
  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    change(path, CrailAttributeChanges.ofPermissions(permission.toShort() & PERMISSIONS));
  }

  /** Kept and shown; nobody is refused anything for it. */
  @Override
  public void setOwner(Path path, String newOwner, String group) throws IOException {
    if (newOwner == null && group == null) {
      throw new PathIOException(path.toString(), "neither owner nor group");
    }
    change(path, CrailAttributeChanges.ofOwner(newOwner, group));
  }

  /** -1 is a time that stays. */
  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    change(
        path,
        CrailAttributeChanges.ofTimes(
            modified == -1 ? null : modified, accessed == -1 ? null : accessed));
  }

  /**
   * As HDFS: false for what is no file. Bytes are kept once, so no other number is ever reached.
   */
  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    statistics.incrementWriteOps(1);
    CrailNode node = lookup(absolute(path));
    return node != null && !node.getType().isContainer() && replication == 1;
  }

  /** Nothing to do: each call is answered by the one namenode that knows. */
  @Override
  public void msync() {}

  @Override
  public Path getTrashRoot(Path path) {
    return trash == null ? super.getTrashRoot(path) : trash.rootOf(absolute(path), user);
  }

  @Override
  public Collection<FileStatus> getTrashRoots(boolean allUsers) {
    if (trash == null) {
      return super.getTrashRoots(allUsers);
    }
    try {
      return trash.roots(allUsers ? null : user);
    } catch (IOException e) {
      LOG.warn("cannot list the trash of {}", uri, e);
      return List.of();
    }
  }

  private void change(Path path, CrailAttributeChanges changes) throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    HadoopErrors.translate(absolute, () -> store.setAttributes(name(absolute), changes).get());
  }

  /**
   * The space of all storage classes; what rests until leases have ended counts as used. Fails
   * where a namenode is down: this answer could not say that a part is missing.
   */
  @Override
  public FsStatus getStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    CrailSpace space = HadoopErrors.translate(new Path(uri), store::getSpace);
    if (!space.missing().isEmpty()) {
      throw HadoopErrors.translated(
          new Path(uri), new IncompleteException("space", space.missing()));
    }
    return new FsStatus(
        space.capacityBytes(), space.usedBytes() + space.waitingBytes(), space.freeBytes());
  }

  /** Completes the files that are being written, then ends the store. */
  @Override
  public void close() throws IOException {
    List<Closeable> ends = new ArrayList<>();
    if (owner == null) {
      openOutputs.forEach(output -> ends.add(() -> complete(output)));
    }
    ends.add(super::close);
    if (owner == null && store != null) {
      ends.add(this::closeStore);
    }
    closeAll(ends);
  }

  /** A file that is gone has nothing to complete, and keeps nothing open. */
  private static void complete(CrailHadoopOutputStream output) throws IOException {
    try {
      output.close();
    } catch (FileNotFoundException e) {
      LOG.warn("a file was removed while it was written: {}", e.getMessage());
    }
  }

  private void closeStore() throws IOException {
    HadoopErrors.translate(
        new Path(uri),
        () -> {
          store.close();
          return null;
        });
  }

  /** Closes all of them, and throws the first failure with the others in it. */
  private static void closeAll(List<Closeable> ends) throws IOException {
    Exception failure = null;
    for (Closeable end : ends) {
      try {
        end.close();
      } catch (IOException | RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    }
    if (failure != null) {
      throw (IOException) failure;
    }
  }

  private Path absolute(Path path) {
    Path absolute = makeQualified(path);
    checkPath(absolute);
    return absolute;
  }

  /** The path as the store knows it. */
  private static String name(Path path) {
    return path.toUri().getPath();
  }

  /** The node of a path, or null. */
  private CrailNode lookup(Path path) throws IOException {
    return HadoopErrors.translate(path, () -> store.lookup(name(path)).get());
  }

  private CrailNode require(Path path) throws IOException {
    CrailNode node = lookup(path);
    if (node == null) {
      throw new FileNotFoundException("no such file or directory: " + path);
    }
    return node;
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
                    permission.toShort() & PERMISSIONS)
                .get());
  }

  private static CrailFile asFile(Path path, CrailNode node) throws IOException {
    switch (node.getType()) {
      case DATAFILE:
        return HadoopErrors.translate(path, node::asFile);
      case KEYVALUE:
        return HadoopErrors.translate(path, node::asKeyValue);
      default:
        throw new FileNotFoundException(path + " is a directory");
    }
  }

  private FileStatus status(Path path, CrailNode node) throws IOException {
    boolean directory = node.getType().isContainer();
    CrailAttributes attributes = HadoopErrors.translate(path, node::getAttributes);
    return new FileStatus(
        node.getCapacity(),
        directory,
        directory ? 0 : 1,
        directory ? 0 : blockSize,
        attributes.modificationTime(),
        attributes.accessTime(),
        new FsPermission((short) attributes.permissions()),
        attributes.owner(),
        attributes.group(),
        path);
  }
}
