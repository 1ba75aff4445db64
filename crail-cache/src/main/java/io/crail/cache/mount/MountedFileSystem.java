/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.mount;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * Another file system, or a directory of it, under a name: {@code crailcache://NAME/path} is {@code
 * path} below the URI that the configuration gives the name. Only paths are translated. What
 * returns a path of the other one, such as the locations of a file, is not changed otherwise.
 * Thread-safe.
 */
public final class MountedFileSystem extends FilterFileSystem {
  /** The scheme of all URIs here. */
  public static final String SCHEME = "crailcache";

  /** The beginning of the key for the URI of a source; its name follows. */
  public static final String SOURCE_KEY = "crail.cache.source.";

  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,199}");

  private final URI uri;

  /** The directory at the source, without a slash at its end. */
  private final String base;

  private final URI sourceUri;
  private Path workingDirectory;

  private MountedFileSystem(URI uri, FileSystem source, URI place) {
    super(source);
    this.uri = uri;
    this.sourceUri = source.getUri();
    String path = place.getPath();
    this.base = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    this.workingDirectory = getHomeDirectory();
  }

  /**
   * Opens the source of a URI, which is closed with the result.
   *
   * @param uri {@code crailcache://NAME/}
   * @param configuration has the URI of the source
   * @return the source under its name
   * @throws IOException for a name without a source, and if the source cannot be opened
   */
  public static MountedFileSystem of(URI uri, Configuration configuration) throws IOException {
    String name = uri.getAuthority();
    if (name == null) {
      throw new IOException("no name in " + uri);
    }
    if (!NAME.matcher(name).matches()) {
      // Hadoop's cache of file systems takes large letters for small ones.
      throw new IOException(
          "the name in "
              + uri
              + " must begin with a small letter or a digit, and also may have '.', '_' and '-'");
    }
    String key = SOURCE_KEY + name;
    String place = configuration.getTrimmed(key, "");
    if (place.isEmpty()) {
      throw new IOException("no key '" + key + "', which is the URI of the slow file system");
    }
    URI source = new Path(place).toUri();
    if (SCHEME.equals(source.getScheme())) {
      throw new IOException("key '" + key + "' names a cache, not a slow file system");
    }
    // Our own, which is closed with this one.
    FileSystem opened = FileSystem.newInstance(source, configuration);
    MountedFileSystem mounted =
        new MountedFileSystem(URI.create(SCHEME + "://" + uri.getRawAuthority()), opened, source);
    mounted.setConf(configuration);
    return mounted;
  }

  /** {@return the URI of what has the name here, in the form that the source takes as its own} */
  public String place() {
    return super.getCanonicalUri() + base;
  }

  /** The path at the source. One that leads out of the directory there has dots left. */
  private Path at(Path path) {
    Path absolute = makeQualified(path);
    String below = absolute.toUri().getPath();
    if (below.equals("/..") || below.startsWith("/../")) {
      throw new IllegalArgumentException(path + " is outside of " + uri);
    }
    String joined = base + (below.equals("/") && !base.isEmpty() ? "" : below);
    return new Path(sourceUri.getScheme(), sourceUri.getAuthority(), joined);
  }

  private Path[] at(Path[] paths) {
    Path[] translated = new Path[paths.length];
    for (int i = 0; i < paths.length; i++) {
      translated[i] = at(paths[i]);
    }
    return translated;
  }

  /** The path here of one at the source, which keeps it if it is elsewhere. */
  private Path here(Path path) {
    String there = path.toUri().getPath();
    if (!there.equals(base) && !there.startsWith(base + "/")) {
      return path;
    }
    String below = there.substring(base.length());
    return new Path(uri.getScheme(), uri.getAuthority(), below.isEmpty() ? "/" : below);
  }

  private FileStatus here(FileStatus status) {
    Path path = here(status.getPath());
    if (status.getClass() == FileStatus.class) {
      status.setPath(path);
      return status;
    }
    return new MountedFileStatus(status, path);
  }

  /** Such a status has all it knows in itself. */
  private LocatedFileStatus here(LocatedFileStatus status) {
    status.setPath(here(status.getPath()));
    return status;
  }

  private RemoteIterator<LocatedFileStatus> here(RemoteIterator<LocatedFileStatus> statuses) {
    return RemoteIterators.mappingRemoteIterator(statuses, this::here);
  }

  @Override
  public void initialize(URI name, Configuration configuration) {
    throw new IllegalStateException("it is initialized when it is made");
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  protected URI getCanonicalUri() {
    return uri;
  }

  @Override
  protected URI canonicalizeUri(URI any) {
    return any;
  }

  @Override
  public String getCanonicalServiceName() {
    return fs.getCanonicalServiceName();
  }

  @Override
  public Token<?> getDelegationToken(String renewer) throws IOException {
    return fs.getDelegationToken(renewer);
  }

  @Override
  public Path makeQualified(Path path) {
    checkPath(path);
    return path.makeQualified(uri, workingDirectory == null ? new Path("/") : workingDirectory);
  }

  @Override
  protected void checkPath(Path path) {
    URI other = path.toUri();
    boolean relative = other.getScheme() == null && other.getAuthority() == null;
    boolean own =
        uri.getScheme().equalsIgnoreCase(other.getScheme())
            && uri.getAuthority().equalsIgnoreCase(other.getAuthority());
    if (!relative && !own) {
      throw new IllegalArgumentException("Wrong FS: " + path + ", expected: " + uri);
    }
  }

  @Override
  public Path getHomeDirectory() {
    Path home = here(fs.getHomeDirectory());
    return SCHEME.equals(home.toUri().getScheme())
        ? home
        : new Path(uri.getScheme(), uri.getAuthority(), fs.getHomeDirectory().toUri().getPath());
  }

  @Override
  protected Path getInitialWorkingDirectory() {
    return null;
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    workingDirectory = makeQualified(directory);
  }

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    return file == null ? null : fs.getFileBlockLocations(at(file.getPath()), start, length);
  }

  @Override
  public Path resolvePath(Path path) throws IOException {
    return here(fs.resolvePath(at(path)));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return fs.open(at(path), bufferSize);
  }

  @Override
  protected PathHandle createPathHandle(FileStatus status, Options.HandleOpt... options) {
    throw new UnsupportedOperationException("a handle would have the path of the source");
  }

  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    // A status has a path of this file system, which the source does not know.
    return super.openFileWithOptions(at(path), parameters.withStatus(null));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    return fs.append(at(path), bufferSize, progress);
  }

  @Override
  public void concat(Path target, Path[] sources) throws IOException {
    fs.concat(at(target), at(sources));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return fs.create(at(path), permission, overwrite, bufferSize, replication, blockSize, progress);
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return fs.create(
        at(path), permission, flags, bufferSize, replication, blockSize, progress, checksum);
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return fs.createNonRecursive(
        at(path), permission, flags, bufferSize, replication, blockSize, progress);
  }

  @Override
  protected FSDataOutputStream primitiveCreate(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return super.primitiveCreate(
        at(path), permission, flags, bufferSize, replication, blockSize, progress, checksum);
  }

  @Override
  protected boolean primitiveMkdir(Path path, FsPermission permission) throws IOException {
    return super.primitiveMkdir(at(path), permission);
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    return fs.setReplication(at(path), replication);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    return fs.rename(at(from), at(to));
  }

  @Override
  protected void rename(Path from, Path to, Options.Rename... options) throws IOException {
    super.rename(at(from), at(to), options);
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    return fs.truncate(at(path), length);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return fs.delete(at(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] statuses = fs.listStatus(at(path));
    FileStatus[] translated = new FileStatus[statuses.length];
    for (int i = 0; i < statuses.length; i++) {
      translated[i] = here(statuses[i]);
    }
    return translated;
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return RemoteIterators.mappingRemoteIterator(
        fs.listStatusIterator(at(path)), status -> here(status));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return here(fs.listLocatedStatus(at(path)));
  }

  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    return here(super.listLocatedStatus(at(path), each -> filter.accept(here(each))));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive)
      throws IOException {
    return here(fs.listFiles(at(path), recursive));
  }

  @Override
  public RemoteIterator<Path> listCorruptFileBlocks(Path path) throws IOException {
    return RemoteIterators.mappingRemoteIterator(fs.listCorruptFileBlocks(at(path)), this::here);
  }

  @Override
  public FsStatus getStatus(Path path) throws IOException {
    return fs.getStatus(path == null ? null : at(path));
  }

  @Override
  public boolean mkdirs(Path path) throws IOException {
    return fs.mkdirs(at(path));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return fs.mkdirs(at(path), permission);
  }

  @Override
  public void copyFromLocalFile(boolean move, Path from, Path to) throws IOException {
    fs.copyFromLocalFile(move, from, at(to));
  }

  @Override
  public void copyFromLocalFile(boolean move, boolean overwrite, Path[] from, Path to)
      throws IOException {
    fs.copyFromLocalFile(move, overwrite, from, at(to));
  }

  @Override
  public void copyFromLocalFile(boolean move, boolean overwrite, Path from, Path to)
      throws IOException {
    fs.copyFromLocalFile(move, overwrite, from, at(to));
  }

  @Override
  public void copyToLocalFile(boolean move, Path from, Path to) throws IOException {
    fs.copyToLocalFile(move, at(from), to);
  }

  @Override
  public Path startLocalOutput(Path target, Path local) throws IOException {
    return fs.startLocalOutput(at(target), local);
  }

  @Override
  public void completeLocalOutput(Path target, Path local) throws IOException {
    fs.completeLocalOutput(at(target), local);
  }

  @Override
  public long getUsed(Path path) throws IOException {
    return fs.getUsed(at(path));
  }

  @Override
  public long getDefaultBlockSize(Path path) {
    return fs.getDefaultBlockSize(at(path));
  }

  @Override
  public short getDefaultReplication(Path path) {
    return fs.getDefaultReplication(at(path));
  }

  @Override
  public FsServerDefaults getServerDefaults(Path path) throws IOException {
    return fs.getServerDefaults(at(path));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return here(fs.getFileStatus(at(path)));
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    fs.access(at(path), mode);
  }

  @Override
  public void createSymlink(Path target, Path link, boolean parents) throws IOException {
    fs.createSymlink(at(target), at(link), parents);
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return here(fs.getFileLinkStatus(at(path)));
  }

  @Override
  public Path getLinkTarget(Path path) throws IOException {
    return here(fs.getLinkTarget(at(path)));
  }

  @Override
  protected Path resolveLink(Path path) throws IOException {
    return here(super.resolveLink(at(path)));
  }

  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    return fs.getFileChecksum(at(path));
  }

  @Override
  public FileChecksum getFileChecksum(Path path, long length) throws IOException {
    return fs.getFileChecksum(at(path), length);
  }

  @Override
  public void setOwner(Path path, String owner, String group) throws IOException {
    fs.setOwner(at(path), owner, group);
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    fs.setTimes(at(path), modified, accessed);
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    fs.setPermission(at(path), permission);
  }

  @Override
  public Path createSnapshot(Path path, String name) throws IOException {
    return here(fs.createSnapshot(at(path), name));
  }

  @Override
  public void renameSnapshot(Path path, String from, String to) throws IOException {
    fs.renameSnapshot(at(path), from, to);
  }

  @Override
  public void deleteSnapshot(Path path, String name) throws IOException {
    fs.deleteSnapshot(at(path), name);
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fs.modifyAclEntries(at(path), entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fs.removeAclEntries(at(path), entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    fs.removeDefaultAcl(at(path));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    fs.removeAcl(at(path));
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    fs.setAcl(at(path), entries);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return fs.getAclStatus(at(path));
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value) throws IOException {
    fs.setXAttr(at(path), name, value);
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    fs.setXAttr(at(path), name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return fs.getXAttr(at(path), name);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return fs.getXAttrs(at(path));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    return fs.getXAttrs(at(path), names);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return fs.listXAttrs(at(path));
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    fs.removeXAttr(at(path), name);
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    fs.satisfyStoragePolicy(at(path));
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    fs.setStoragePolicy(at(path), policy);
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    fs.unsetStoragePolicy(at(path));
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return fs.getStoragePolicy(at(path));
  }

  @Override
  public Path getTrashRoot(Path path) {
    return new Path(getHomeDirectory(), TRASH_PREFIX);
  }

  @Override
  public Collection<FileStatus> getTrashRoots(boolean allUsers) {
    List<FileStatus> roots = new ArrayList<>();
    for (FileStatus root : fs.getTrashRoots(allUsers)) {
      FileStatus translated = here(root);
      if (SCHEME.equals(translated.getPath().toUri().getScheme())) {
        roots.add(translated);
      }
    }
    return roots;
  }

  @Override
  public ContentSummary getContentSummary(Path path) throws IOException {
    return fs.getContentSummary(at(path));
  }

  @Override
  public QuotaUsage getQuotaUsage(Path path) throws IOException {
    return fs.getQuotaUsage(at(path));
  }

  @Override
  public Path getEnclosingRoot(Path path) throws IOException {
    Path root = here(fs.getEnclosingRoot(at(path)));
    return SCHEME.equals(root.toUri().getScheme()) ? root : makeQualified(new Path("/"));
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    return fs.hasPathCapability(at(path), capability);
  }
}
