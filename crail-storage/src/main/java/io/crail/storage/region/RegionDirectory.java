/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.ByteText;
import io.crail.common.OtherUserException;
import io.crail.common.ProcessUser;
import io.crail.protocol.part.Extent;
import io.crail.rpc.login.Mechanisms;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a datanode's region files, {@code <datapath>/<uuid>/}, as its datanode owns it:
 *
 * <ul>
 *   <li>{@code id}: the identity of the datanode process, as text
 *   <li>{@code heartbeat}: a number that the datanode raises while it lives, see {@link Heartbeat}
 *   <li>{@code lock}: locked by the datanode process until its end
 *   <li>{@code region-<i>} and {@code region-<i>.gen}: bytes and generations of region i
 *   <li>{@code pages}: where the bytes are in place of {@code region-<i>}, if they are in huge
 *       pages
 *   <li>{@code region-<i>.grown}: which of those bytes have memory, see {@link RegionFile}
 *   <li>{@code hazards}: the writes that are under way, see {@link HazardTable}
 *   <li>{@code writers}: a socket for the processes that map the regions, see {@link LocalWriters}
 * </ul>
 *
 * A killed datanode leaves its directory behind; the next datanode with the same data path removes
 * it. It does so only when the directory has all the marks of a datanode's directory, the heartbeat
 * stops for a second and a half, and the lock is free. Neither heartbeat nor lock alone proves
 * enough. A stopped process has a still heartbeat. A POSIX lock is lost when its own process closes
 * any other descriptor of the file, so the lock file of a process that may be this one is not even
 * opened.
 *
 * <p>Other users of the host can neither read nor change what is in it, whatever the umask is, see
 * {@link SafeDirectory}.
 *
 * <p>Created, beaten and closed by one thread at a time.
 */
public final class RegionDirectory implements AutoCloseable {
  /** Pause between two calls of {@link #beat}. */
  public static final long BEAT_MILLIS = Heartbeat.INTERVAL_MILLIS;

  /** The file that is locked. */
  static final String LOCK_FILE = "lock";

  /** The file that holds the identity. */
  static final String ID_FILE = "id";

  /**
   * The kernel has another one on each host, and after each boot; containers share their host's.
   */
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private static final long CREATE_NANOS = TimeUnit.SECONDS.toNanos(10);
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
    return create(dataPath, uuid, lengths, preallocate, null, Mechanisms.ANYBODY);
  }

  /**
   * The same, with the bytes of the regions in huge pages, if there are any.
   *
   * @param lengths bytes of each region; with huge pages, multiples of the size of a page
   * @param preallocate whether all memory is taken at once; huge pages always are
   * @param hugePages a directory of a mount of huge pages, or null
   * @param mechanisms the ways to log in for processes that map the regions
   */
  public static RegionDirectory create(
      Path dataPath,
      UUID uuid,
      List<Integer> lengths,
      boolean preallocate,
      HugePages hugePages,
      Mechanisms mechanisms)
      throws IOException {
    Path parent = dataPath.toAbsolutePath().normalize();
    Path path = parent.resolve(uuid.toString());
    make(path);
    boolean created = false;
    try {
      Leftovers.removeDead(parent);
      checkSpace(parent, lengths, hugePages == null);
      try (SafeDirectory files = SafeDirectory.ofUser(path)) {
        RegionDirectory directory = fill(files, uuid, lengths, preallocate, hugePages, mechanisms);
        created = true;
        return directory;
      }
    } finally {
      if (!created) {
        Leftovers.delete(path);
      }
    }
  }

  private static RegionDirectory fill(
      SafeDirectory files,
      UUID uuid,
      List<Integer> lengths,
      boolean preallocate,
      HugePages hugePages,
      Mechanisms mechanisms)
      throws IOException {
    Path path = files.path();
    FileChannel lockChannel = null;
    LocalWriters writers = null;
    List<RegionMemory> regions = new ArrayList<>();
    boolean filled = false;
    try {
      lockChannel = files.create(LOCK_FILE);
      lockChannel.lock();
      Heartbeat heartbeat = Heartbeat.create(files);
      HazardTable hazards = HazardTable.create(files);
      writers = listen(path, hazards, mechanisms);
      if (hugePages != null) {
        hugePages.note(files);
      }
      for (int i = 0; i < lengths.size(); i++) {
        // Mapping takes huge pages, or fails.
        RegionMemory region = RegionMemory.create(files, i, lengths.get(i), hugePages, hazards);
        regions.add(region);
        if (preallocate && hugePages == null) {
          region.growAll(heartbeat::beat);
        }
        heartbeat.beat();
      }
      // Last, since this file shows that the others are complete.
      files.write(ID_FILE, identity(uuid).getBytes(StandardCharsets.US_ASCII));
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

  /**
   * What distinguishes a datanode from all others, also from one of another host that shares the
   * directory: its memory is not this host's, and its socket cannot be reached.
   */
  static String identity(UUID uuid) {
    String boot;
    try {
      boot = Files.readString(BOOT_ID);
    } catch (IOException e) {
      // Some sandboxes hide it. What two hosts share then looks like this host's own.
      boot = "";
    }
    return uuid + "\n" + boot;
  }

  /** Null when the directory's name is too long for a socket; the regions cannot be mapped then. */
  private static LocalWriters listen(Path path, HazardTable hazards, Mechanisms mechanisms)
      throws IOException {
    if (LocalWriters.fits(path)) {
      return LocalWriters.listen(path, hazards, mechanisms);
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
   * @param clients the identities of their clients, as known to namenodes
   * @return the revoked owners, for {@link #areIdle}; null when they cannot be determined now
   */
  public List<Long> revoke(Set<Long> clients) {
    return writers == null ? List.of() : writers.revoke(clients);
  }

  /** True when no write of the revoked owners is under way. */
  public boolean areIdle(List<Long> revoked) {
    return revoked.stream().allMatch(hazards::isIdle);
  }

  /**
   * Ends the connections of the processes that have mapped the regions, by which they know that
   * these are gone, and removes the directory.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    regions.forEach(RegionMemory::close);
    regions = List.of();
    if (writers != null) {
      writers.close();
    }
    Leftovers.delete(path);
    try {
      lockChannel.close();
    } catch (IOException e) {
      LOG.warn("cannot close the lock of {}", path, e);
    }
  }

  /**
   * Makes the directory, with its parent. Another datanode that ends removes the parent if it is
   * empty, so this may need more than one try. Once the directory exists, the parent stays. What is
   * missing above the parent may be a disk that is not mounted, and is an error.
   */
  private static void make(Path path) throws IOException {
    Path parent = path.getParent();
    Path above = parent.getParent();
    if (above != null && Files.notExists(above)) {
      throw new IOException(
          "cannot create the data path "
              + parent
              + ": there is no directory "
              + above
              + "; mount or make it first");
    }
    long start = System.nanoTime();
    while (true) {
      try {
        boolean made = makeIfAbsent(parent);
        if (!made) {
          SafeDirectory.shared(parent).close();
        }
        Files.createDirectory(path, SafeDirectory.DIRECTORY_RIGHTS);
        if (made) {
          checkParentOf(path);
        }
        return;
      } catch (NoSuchFileException e) {
        // A link that leads nowhere does so the next time, too.
        if (Files.isSymbolicLink(parent) || System.nanoTime() - start > CREATE_NANOS) {
          throw refused(parent, e.toString(), e);
        }
      } catch (AccessDeniedException e) {
        throw refused(
            parent,
            "user "
                + ProcessUser.idText()
                + " may not make "
                + e.getFile()
                + "; change the rights of the directory above, or name another data path (-d)",
            e);
      } catch (OtherUserException e) {
        throw refused(parent, e.getMessage() + "; name another data path (-d)", e);
      } catch (FileSystemException e) {
        throw refused(parent, e.toString(), e);
      } catch (IOException e) {
        throw refused(parent, e.getMessage(), e);
      }
    }
  }

  private static boolean makeIfAbsent(Path parent) throws IOException {
    try {
      Files.createDirectory(parent, SafeDirectory.DIRECTORY_RIGHTS);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  /**
   * Looks at a parent that was just made, once it can no longer be removed. Looking first would
   * leave more time to remove it, and another user could still make it in between.
   */
  private static void checkParentOf(Path path) throws IOException {
    boolean safe = false;
    try {
      SafeDirectory.shared(path.getParent()).close();
      safe = true;
    } finally {
      if (!safe) {
        Files.deleteIfExists(path);
      }
    }
  }

  private static IOException refused(Path dataPath, String why, IOException cause) {
    return new IOException("cannot use the data path " + dataPath + ": " + why, cause);
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
}
