/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.ByteText;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a datanode's region files, {@code <datapath>/<uuid>/}, as its datanode owns it:
 *
 * <ul>
 *   <li>{@code id}: the identity of the datanode process, as text
 *   <li>{@code heartbeat}: a number that the datanode raises while it lives, see {@link Heartbeat}
 *   <li>{@code lock}: locked by the datanode process until its end
 *   <li>{@code region-<i>} and {@code region-<i>.gen}: bytes and generations of region i; the file
 *       of the bytes may be a link into a mount of huge pages, which holds nothing else
 *   <li>{@code region-<i>.grown}: which of those bytes have memory, see {@link RegionFile}
 *   <li>{@code hazards}: the writes that are under way, see {@link HazardTable}
 *   <li>{@code writers}: a socket for the processes that write, see {@link LocalWriters}
 * </ul>
 *
 * A killed datanode leaves its directory behind; the next datanode with the same data path removes
 * it. It does so only when the directory has all the marks of a datanode's directory, the heartbeat
 * stands still for a second and a half, and the lock is free. Neither heartbeat nor lock alone
 * proves enough. A stopped process has a still heartbeat. A POSIX lock is lost when its own process
 * closes any other descriptor of the file, so the lock file of a process that may be this one is
 * not even opened.
 *
 * <p>Created, beaten and closed by one thread at a time.
 */
public final class RegionDirectory implements AutoCloseable {
  /** Pause between two calls of {@link #beat}. */
  public static final long BEAT_MILLIS = Heartbeat.INTERVAL_MILLIS;

  /** The file that holds the identity. */
  static final String ID_FILE = "id";

  /** The file that holds the heartbeat. */
  static final String HEARTBEAT_FILE = "heartbeat";

  private static final String LOCK_FILE = "lock";
  private static final long PROOF_MILLIS = 1500;
  private static final int CREATE_ATTEMPTS = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(RegionDirectory.class);

  private final Path path;
  private final FileChannel lockChannel;
  private final Heartbeat heartbeat;
  private final HazardTable hazards;
  private final LocalWriters writers;
  private List<RegionMemory> regions;
  private boolean closed;

  private RegionDirectory(
      Path path,
      FileChannel lockChannel,
      Heartbeat heartbeat,
      HazardTable hazards,
      LocalWriters writers,
      List<RegionMemory> regions) {
    this.path = path;
    this.lockChannel = lockChannel;
    this.heartbeat = heartbeat;
    this.hazards = hazards;
    this.writers = writers;
    this.regions = regions;
  }

  /**
   * Creates the directory and its regions, after removing the directories of dead datanodes.
   *
   * @param dataPath parent of the directory; created when it does not exist
   * @param uuid identity of this datanode process
   * @param lengths bytes of each region
   * @param preallocate whether all memory is taken at once, rather than at its first use
   * @throws IOException that names the path and the problem, missing bytes included; leaves nothing
   *     behind
   */
  public static RegionDirectory create(
      Path dataPath, UUID uuid, List<Integer> lengths, boolean preallocate) throws IOException {
    return create(dataPath, uuid, lengths, preallocate, null);
  }

  /**
   * The same, with the bytes of the regions in huge pages, if there are any.
   *
   * @param lengths bytes of each region; with huge pages, multiples of the size of a page
   * @param preallocate whether all memory is taken at once; huge pages always are
   * @param hugePages a directory of a mount of huge pages, or null
   */
  public static RegionDirectory create(
      Path dataPath, UUID uuid, List<Integer> lengths, boolean preallocate, HugePages hugePages)
      throws IOException {
    Path parent = dataPath.toAbsolutePath().normalize();
    Path path = parent.resolve(uuid.toString());
    removeLeftovers(parent);
    createWithParent(path);
    boolean created = false;
    try {
      checkSpace(parent, lengths, hugePages == null);
      RegionDirectory directory = fill(path, uuid, lengths, preallocate, hugePages);
      created = true;
      return directory;
    } finally {
      if (!created) {
        delete(path);
      }
    }
  }

  private static RegionDirectory fill(
      Path path, UUID uuid, List<Integer> lengths, boolean preallocate, HugePages hugePages)
      throws IOException {
    FileChannel lockChannel = null;
    LocalWriters writers = null;
    List<RegionMemory> regions = new ArrayList<>();
    boolean filled = false;
    try {
      lockChannel =
          FileChannel.open(
              path.resolve(LOCK_FILE), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      lockChannel.lock();
      Heartbeat heartbeat = Heartbeat.create(path.resolve(HEARTBEAT_FILE));
      HazardTable hazards = HazardTable.create(path);
      writers = listen(path, hazards);
      for (int i = 0; i < lengths.size(); i++) {
        if (hugePages != null) {
          // Mapping takes the pages, or fails.
          Files.createSymbolicLink(
              RegionMemory.dataFile(path, i), hugePages.createFile(targetName(path, i)));
        }
        RegionMemory region =
            RegionMemory.create(path, i, lengths.get(i), hugePages != null, hazards);
        regions.add(region);
        if (preallocate && hugePages == null) {
          region.growAll(heartbeat::beat);
        }
        heartbeat.beat();
      }
      // Last, since this file shows that the others are complete.
      Files.writeString(path.resolve(ID_FILE), uuid.toString(), StandardOpenOption.CREATE_NEW);
      filled = true;
      return new RegionDirectory(
          path, lockChannel, heartbeat, hazards, writers, List.copyOf(regions));
    } catch (IOException e) {
      String where = hugePages == null ? path.toString() : hugePages.toString();
      throw new IOException("cannot create the regions in " + where + ": " + e, e);
    } finally {
      if (!filled) {
        regions.forEach(RegionMemory::close);
        if (writers != null) {
          writers.close();
        }
        if (lockChannel != null) {
          lockChannel.close();
        }
      }
    }
  }

  /** Null when the directory's name is too long for a socket; the regions cannot be mapped then. */
  private static LocalWriters listen(Path path, HazardTable hazards) throws IOException {
    if (LocalWriters.fits(path)) {
      return LocalWriters.listen(path, hazards);
    }
    LOG.warn(
        "clients of this host go over the network: the data path is too long for a socket in {}",
        path);
    return null;
  }

  /** The directory. */
  public Path path() {
    return path;
  }

  /** The directory, if clients of this host may map the regions; else empty. */
  public String mappablePath() {
    return writers == null ? "" : path.toString();
  }

  /** The regions, by index; none once this was closed. */
  public List<RegionMemory> regions() {
    return regions;
  }

  /** The table of writes that are under way to the regions. */
  public HazardTable hazards() {
    return hazards;
  }

  /**
   * Shows that this datanode lives, and notices which writing processes have ended. Due every
   * {@link #BEAT_MILLIS}.
   */
  public void beat() {
    heartbeat.beat();
    if (writers != null) {
      writers.poll(System.nanoTime());
    }
  }

  /**
   * Stops processes of this host from writing as their present owners. A process that connects
   * again checks its leases before it writes. For the thread that beats.
   *
   * @param clients the identities of their clients, as told to namenodes
   * @return the revoked owners, for {@link #areIdle}; null when they cannot be told now
   */
  public List<Long> revoke(Set<Long> clients) {
    return writers == null ? List.of() : writers.revoke(clients);
  }

  /** True when no write of the revoked owners is under way. */
  public boolean areIdle(List<Long> revoked) {
    return revoked.stream().allMatch(hazards::isIdle);
  }

  /**
   * Tells the processes that have mapped the regions that these are gone, and removes the
   * directory.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    regions.forEach(RegionMemory::close);
    regions = List.of();
    heartbeat.end();
    if (writers != null) {
      writers.close();
    }
    delete(path);
    try {
      lockChannel.close();
    } catch (IOException e) {
      LOG.warn("cannot close the lock of {}", path, e);
    }
  }

  /**
   * Creates the directory, with its parent. Another datanode that ends removes the parent if it is
   * empty, so this may need more than one try. Once the directory exists, the parent stays. What is
   * missing above the parent may be a disk that is not mounted, and is an error.
   */
  private static void createWithParent(Path path) throws IOException {
    Path above = path.toAbsolutePath().getParent().getParent();
    if (above != null && !Files.isDirectory(above)) {
      throw new IOException(
          "cannot create the data path "
              + path.getParent()
              + ": there is no directory "
              + above
              + "; mount or make it first");
    }
    for (int attempt = 1; ; attempt++) {
      try {
        Files.createDirectories(path);
        return;
      } catch (NoSuchFileException e) {
        if (attempt == CREATE_ATTEMPTS) {
          throw new IOException("cannot create the data path " + path.getParent() + ": " + e, e);
        }
      } catch (IOException e) {
        throw new IOException("cannot create the data path " + path.getParent() + ": " + e, e);
      }
    }
  }

  private static void checkSpace(Path parent, List<Integer> lengths, boolean withData)
      throws IOException {
    long needed = 0;
    for (int length : lengths) {
      needed += (withData ? (long) length : 0) + GenerationTable.lengthFor(length);
      needed += RegionFile.grownLengthFor(length);
    }
    needed += HazardTable.LENGTH + Extent.MIN_LENGTH;
    long available = FreeSpace.bytes(parent);
    if (available < needed) {
      throw new IOException(
          "the data path "
              + parent
              + " has "
              + ByteText.of(available)
              + " free, needed are "
              + ByteText.of(needed));
    }
  }

  /** Removes the directories of datanodes that are certainly dead. */
  private static void removeLeftovers(Path parent) throws IOException {
    Map<Path, Long> silent = new HashMap<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
      for (Path entry : entries) {
        Long beat = isDatanodeDirectory(entry) ? Heartbeat.peek(entry) : null;
        if (beat != null) {
          silent.put(entry, beat);
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      // There is nothing to remove. The next step shows whether the directory can be made.
      return;
    }
    if (silent.isEmpty()) {
      return;
    }
    long endNanos = System.nanoTime() + PROOF_MILLIS * 1_000_000;
    while (!silent.isEmpty() && System.nanoTime() - endNanos < 0) {
      pause();
      silent.entrySet().removeIf(entry -> !entry.getValue().equals(Heartbeat.peek(entry.getKey())));
    }
    for (Path entry : silent.keySet()) {
      if (lockIsFree(entry.resolve(LOCK_FILE))) {
        LOG.info("removing {}, left behind by a datanode that has ended", entry);
        delete(entry);
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(Heartbeat.INTERVAL_MILLIS / 5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while looking for what dead datanodes have left", e);
    }
  }

  private static boolean isDatanodeDirectory(Path entry) {
    String name = String.valueOf(entry.getFileName());
    try {
      return UUID.fromString(name).toString().equals(name)
          && Files.isDirectory(entry)
          && Files.isRegularFile(entry.resolve(LOCK_FILE))
          && Files.isWritable(entry.resolve(LOCK_FILE));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean lockIsFree(Path file) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (IOException | OverlappingFileLockException e) {
      return false;
    }
  }

  /**
   * The name of a region's file when the data lie elsewhere. No other datanode's file names begin
   * like this.
   */
  private static String targetName(Path directory, int index) {
    return "crail-" + directory.getFileName() + "-region-" + index;
  }

  private static void deleteTarget(Path directory, Path file) throws IOException {
    if (Files.isSymbolicLink(file)) {
      Path target = Files.readSymbolicLink(file);
      if (String.valueOf(target.getFileName())
          .equals("crail-" + directory.getFileName() + "-" + file.getFileName())) {
        Files.deleteIfExists(target);
      }
    }
  }

  /** Removes a datanode's directory, and only its own files. */
  private static void delete(Path directory) {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(directory, "{id,heartbeat,lock,hazards,writers,region-*}")) {
      // The identity goes first, so that no process begins to map files that are about to go.
      files.add(directory.resolve(ID_FILE));
      entries.forEach(files::add);
      for (Path file : files) {
        deleteTarget(directory, file);
        Files.deleteIfExists(file);
      }
      Files.delete(directory);
    } catch (NoSuchFileException e) {
      // It was never made, or was removed already, as wanted.
    } catch (IOException e) {
      LOG.warn("cannot remove {}", directory, e);
    }
  }
}
