/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.BlockCache.Loaded;
import io.crail.cache.mount.MountedFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.LambdaUtils;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * A slow file system with a cache in Crail: the blocks of its files, and their status, are kept on
 * all datanodes. There are two ways in:
 *
 * <ul>
 *   <li>{@code crailcache://NAME/path}, where {@value #SOURCE_KEY}{@code NAME} is the URI of the
 *       slow file system.
 *   <li>The URIs of the slow file system itself: {@code fs.SCHEME.impl} names this class, and
 *       {@value #IMPLEMENTATION_KEY}{@code SCHEME} the class of the slow one.
 * </ul>
 *
 * Writers go to the slow file system, and what they change is forgotten here before they return.
 * What others change is seen after {@code crail.cache.statusage}. No error of Crail reaches the
 * program: the slow file system answers then. All else passes through. Thread-safe.
 */
public class CacheFileSystem extends ForgetfulFileSystem {
  /**
   * How long after its change a file may still be too new to be cached, in milliseconds: with some
   * time for another clock.
   */
  public static final long JUST_NOW_MILLIS = 2 * StatusRecord.RACY_MILLIS;

  /** The scheme of paths that a configuration gives a source. */
  public static final String SCHEME = MountedFileSystem.SCHEME;

  /** The beginning of the key for the URI of a source; its name follows. */
  public static final String SOURCE_KEY = MountedFileSystem.SOURCE_KEY;

  /** The beginning of the key for the class of a file system; its scheme follows. */
  public static final String IMPLEMENTATION_KEY = "crail.cache.impl.";

  /**
   * The beginning of the key for the budget of a source, instead of that of all; its name follows.
   */
  public static final String BUDGET_KEY = "crail.cache.budget.";

  private CacheSettings settings;
  private CacheStatistics cacheStatistics;
  private CacheStore crail;
  private StatusCache statuses;
  private BlockCache blocks;

  /** Called by Hadoop, before {@link #initialize}. */
  public CacheFileSystem() {}

  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    setConf(configuration);
    settings =
        CacheSettings.of(
            configuration,
            UserGroupInformation.getCurrentUser().getShortUserName(),
            SCHEME.equals(name.getScheme()) ? BUDGET_KEY + name.getAuthority() : null);
    fs = source(name, configuration);
    boolean opened = false;
    try {
      super.initialize(name, configuration);
      open(name);
      opened = true;
    } finally {
      if (!opened) {
        fs.close();
      }
    }
  }

  private static FileSystem source(URI name, Configuration configuration) throws IOException {
    if (SCHEME.equals(name.getScheme())) {
      return MountedFileSystem.of(name, configuration);
    }
    String key = IMPLEMENTATION_KEY + name.getScheme();
    Class<? extends FileSystem> type = configuration.getClass(key, null, FileSystem.class);
    if (type == null) {
      throw new IOException("no key '" + key + "', which names the class of the slow file system");
    }
    FileSystem source = ReflectionUtils.newInstance(type, configuration);
    source.initialize(name, configuration);
    return source;
  }

  private void open(URI name) throws IOException {
    CacheNames names =
        fs instanceof MountedFileSystem mounted
            ? new CacheNames(settings.root(), name.getAuthority(), mounted.place())
            : new CacheNames(
                settings.root(), CacheNames.sourceOf(name), getCanonicalUri().toString());
    String place = getUri().toString();
    cacheStatistics = CacheStatistics.of(place, getScheme());
    crail = openStore(names, settings, cacheStatistics);
    LongSupplier clock = System::currentTimeMillis;
    LoadClaims claims = new LoadClaims(crail, names, settings.claim(), clock);
    statuses = new StatusCache(crail, names, claims, fs, settings, clock, cacheStatistics);
    blocks =
        new BlockCache(
            crail,
            names,
            claims,
            new CacheBudget(crail, names, claims, settings, clock, cacheStatistics),
            new AccessStamps(crail, settings.stampMillis(), clock),
            settings,
            cacheStatistics);
  }

  /** Opens Crail. */
  CacheStore openStore(CacheNames names, CacheSettings with, CacheStatistics counts)
      throws IOException {
    return CacheStore.open(names, with, counts);
  }

  /** That of the source, or {@value #SCHEME}. */
  @Override
  public String getScheme() {
    return fs == null || fs instanceof MountedFileSystem ? SCHEME : fs.getUri().getScheme();
  }

  /** That of the source: its tokens are asked for. */
  @Override
  public String getCanonicalServiceName() {
    return fs.getCanonicalServiceName();
  }

  @Override
  public Token<?> getDelegationToken(String renewer) throws IOException {
    return fs.getDelegationToken(renewer);
  }

  /** What the cache did in this process. */
  @Override
  public StorageStatistics getStorageStatistics() {
    return cacheStatistics;
  }

  /** {@return the same, with its type} */
  public CacheStatistics cacheStatistics() {
    return cacheStatistics;
  }

  /** {@return the bytes of a block, as the configuration says} */
  public int blockBytes() {
    return settings.blockBytes();
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return statuses.find(makeQualified(path)).status();
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    statistics.incrementReadOps(1);
    CachedFile file = cached(makeQualified(path));
    // A file that is being written may have more bytes than its status says.
    if (file == null || file.length() <= 0) {
      return fs.open(path, bufferSize);
    }
    return new FSDataInputStream(
        new CachedInputStream(file, blocks, settings.readAhead(), cacheStatistics, statistics));
  }

  /** A file with the names of its blocks; null if its status is not cached. */
  private CachedFile cached(Path qualified) throws IOException {
    long errors = crail.errors();
    StatusRecord record = statuses.find(qualified).record();
    if (record == null) {
      return null;
    }
    SourceFile source =
        new SourceFile(
            fs,
            qualified,
            record,
            () -> statuses.invalidate(qualified),
            () -> statuses.standing(qualified, record, errors),
            cacheStatistics);
    return new CachedFile(
        qualified,
        record.length(),
        record.identity(settings.blockBytes()),
        settings.blockBytes(),
        source);
  }

  /**
   * Sees to it that a part of a file is in the cache, and waits for that. What is not there is read
   * from the slow file system, by one process of all. So several threads and processes may load
   * parts of one file, or the same part, at the same time. What is loaded takes the place of what
   * was used least recently.
   *
   * @param path a file
   * @param from the first byte of the part
   * @param bytes how long the part is at most; all blocks that it touches are loaded
   * @param usedBeforeMillis only blocks that were last used before this time are removed to make
   *     room; in milliseconds since 1970
   * @param read gets the bytes of each block that was read from the slow file system, when it is in
   *     the cache; the others were there
   * @return the same for all parts that are loaded while the file is not changed
   * @throws NotCachedException if the part is not in the cache now, since there is no room, the
   *     file was changed in the last two seconds, or Crail does not answer; it may be soon
   * @throws IOException the error of the slow file system, as {@link #open} throws it; or if its
   *     files cannot be cached
   */
  public String load(Path path, long from, long bytes, long usedBeforeMillis, LongConsumer read)
      throws IOException {
    Path qualified = makeQualified(path);
    CachedFile file = cached(qualified);
    if (file == null) {
      throw notCached(statuses.find(qualified).status());
    }
    long end = Math.min(file.length(), from + Math.min(bytes, file.length()));
    try {
      for (long at = from; at < end; at = (file.blockOf(at) + 1) * file.blockBytes()) {
        Loaded block = blocks.load(file, file.blockOf(at), usedBeforeMillis);
        if (block == Loaded.REFUSED) {
          String why = crail.mayAsk() ? "there is no room" : "Crail does not answer";
          throw new NotCachedException(path + " is not whole in the cache: " + why, false);
        }
        if (block == Loaded.READ) {
          read.accept(file.bytesOf(file.blockOf(at)));
        }
      }
    } finally {
      file.source().close();
    }
    return file.identity();
  }

  /** Why the status of a file is not in the cache. */
  private IOException notCached(FileStatus status) {
    Path path = status.getPath();
    long ageMillis = System.currentTimeMillis() - status.getModificationTime();
    if (status.isDirectory() || settings.statusAgeMillis() == 0 || ageMillis < 0) {
      return new IOException(
          path
              + (ageMillis < 0
                  ? " is not cached: it was changed later than now"
                  : " is not cached: crail.cache.statusage is 0, or it is a directory"));
    }
    if (ageMillis < JUST_NOW_MILLIS) {
      return new NotCachedException(path + " was changed just now", true);
    }
    String why = crail.mayAsk() ? "its status has no room" : "Crail does not answer";
    return new NotCachedException(path + " is not cached: " + why, false);
  }

  /** A part of a file is not in the cache, through no fault of the slow file system. */
  public static final class NotCachedException extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean ofFile;

    NotCachedException(String message, boolean ofFile) {
      super(message);
      this.ofFile = ofFile;
    }

    /** Whether other files may be taken now. */
    public boolean isOfFile() {
      return ofFile;
    }
  }

  /** The builder of this file system, not that of the source, which would pass the cache by. */
  @Override
  public FutureDataInputStreamBuilder openFile(Path path) throws IOException {
    return createDataInputStreamBuilder(this, path);
  }

  /** Options that must be obeyed, and that only the source may know, go to the source. */
  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    boolean known =
        Options.OpenFileOptions.FS_OPTION_OPENFILE_STANDARD_OPTIONS.containsAll(
            parameters.getMandatoryKeys());
    return known
        ? LambdaUtils.eval(new CompletableFuture<>(), () -> open(path, parameters.getBufferSize()))
        : super.openFileWithOptions(path, parameters);
  }

  @Override
  void forget(Path path) {
    statuses.invalidate(makeQualified(path));
  }

  @Override
  void forgetTree(Path path) {
    statuses.invalidateTree(makeQualified(path));
  }

  // What Hadoop's filter does in its own, slower way.

  @Override
  public ContentSummary getContentSummary(Path path) throws IOException {
    return fs.getContentSummary(path);
  }

  @Override
  public QuotaUsage getQuotaUsage(Path path) throws IOException {
    return fs.getQuotaUsage(path);
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive)
      throws IOException {
    return fs.listFiles(path, recursive);
  }

  /** An upload in parts would pass the cache by. */
  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    String asked =
        PathCapabilitiesSupport.validatePathCapabilityArgs(makeQualified(path), capability);
    return !asked.equals(CommonPathCapabilities.FS_MULTIPART_UPLOADER)
        && super.hasPathCapability(path, capability);
  }

  @Override
  public void close() throws IOException {
    try {
      // Files that are removed with the file system.
      processDeleteOnExit();
    } finally {
      try {
        if (blocks != null) {
          blocks.close();
        }
      } finally {
        try {
          if (crail != null) {
            crail.close();
          }
        } finally {
          super.close();
        }
      }
    }
  }

  @Override
  public String toString() {
    return "cache of " + fs + ": " + cacheStatistics;
  }
}
