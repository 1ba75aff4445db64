/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.rpc.login.Mechanisms;
import io.crail.storage.LastingBytes;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
 * <p>A datanode that keeps its bytes has one more file, {@code kept}, see {@link KeptFile}. Its
 * directory stays, has the name of the bytes' own identity, and goes to the next process. So do the
 * announcements in {@code hazards}, since processes that map the regions may live on.
 *
 * <p>Else a killed datanode leaves its directory behind; the next datanode with the same data path
 * removes it. It does so only when the directory has all the marks of a datanode's directory, the
 * heartbeat stops for a second and a half, and the lock is free. Neither heartbeat nor lock alone
 * proves enough. A stopped process has a still heartbeat. A POSIX lock is lost when its own process
 * closes any other descriptor of the file, so the lock file of a process that may be this one is
 * not even opened.
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

  /** In which processes that map the regions notice the end of their datanode. */
  private static final long LAST_WRITES_MILLIS = 20;

  private static final long WRITERS_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RegionDirectory.class);

  private final Path path;
  private final FileChannel lockChannel;
  private final Heartbeat heartbeat;
  private final HazardTable hazards;
  private final LocalWriters writers;

  /** Null when nothing is kept. */
  private final KeptFile kept;

  private List<RegionMemory> regions;
  private boolean closed;

  private RegionDirectory(
      Path path,
      FileChannel lockChannel,
      Heartbeat heartbeat,
      HazardTable hazards,
      LocalWriters writers,
      KeptFile kept,
      List<RegionMemory> regions) {
    this.path = path;
    this.lockChannel = lockChannel;
    this.heartbeat = heartbeat;
    this.hazards = hazards;
    this.writers = writers;
    this.kept = kept;
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
    return create(dataPath, uuid, lengths, new Manner(preallocate, null, Mechanisms.ANYBODY, null));
  }

  /**
   * How a directory is made.
   *
   * @param preallocate whether all memory is taken at once; huge pages always are
   * @param hugePages a directory of a mount of huge pages for the bytes of the regions, or null
   * @param mechanisms the ways to log in for processes that map the regions
   * @param keeper who keeps the bytes for the next process, or null
   */
  public record Manner(
      boolean preallocate, HugePages hugePages, Mechanisms mechanisms, LastingBytes.Owner keeper) {}

  /**
   * The same in another manner. If bytes are kept, and an earlier process has left some, the
   * regions have these.
   *
   * @param lengths bytes of each region; with huge pages, multiples of the size of a page
   */
  public static RegionDirectory create(
      Path dataPath, UUID uuid, List<Integer> lengths, Manner manner) throws IOException {
    Path parent = dataPath.toAbsolutePath().normalize();
    KeptPlace place =
        manner.keeper() == null ? null : KeptPlace.take(parent, manner.keeper(), lengths);
    if (place != null) {
      RegionDirectory before = reopen(place, uuid, lengths, manner);
      if (before != null) {
        return before;
      }
    }
    return createNew(
        parent, manner.keeper() == null ? uuid : UUID.randomUUID(), uuid, lengths, manner);
  }

  private static RegionDirectory createNew(
      Path parent, UUID name, UUID uuid, List<Integer> lengths, Manner manner) throws IOException {
    Path path = parent.resolve(name.toString());
    NewDirectory.make(path);
    boolean created = false;
    try {
      Leftovers.removeDead(parent);
      NewDirectory.checkSpace(parent, lengths, manner.hugePages() == null);
      try (SafeDirectory files = SafeDirectory.ofUser(path)) {
        RegionDirectory directory = fill(files, name, uuid, lengths, manner);
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
      SafeDirectory files, UUID name, UUID uuid, List<Integer> lengths, Manner manner)
      throws IOException {
    Path path = files.path();
    HugePages hugePages = manner.hugePages();
    FileChannel lockChannel = null;
    LocalWriters writers = null;
    KeptFile kept = null;
    List<RegionMemory> regions = new ArrayList<>();
    boolean filled = false;
    try {
      lockChannel = files.create(LOCK_FILE);
      lockChannel.lock();
      Heartbeat heartbeat = Heartbeat.create(files);
      HazardTable hazards = HazardTable.create(files);
      writers = listen(path, hazards, manner);
      if (hugePages != null) {
        hugePages.note(files);
      }
      for (int i = 0; i < lengths.size(); i++) {
        // Mapping takes huge pages, or fails.
        RegionMemory region = RegionMemory.create(files, i, lengths.get(i), hugePages, hazards);
        regions.add(region);
        if (manner.preallocate() && hugePages == null) {
          region.growAll(heartbeat::beat);
        }
        heartbeat.beat();
      }
      if (manner.keeper() != null) {
        kept = KeptFile.create(files, name, manner.keeper(), lengths, boot());
        try (SafeDirectory parent = SafeDirectory.shared(path.getParent())) {
          parent.force();
        }
      }
      // Last, since this file shows that the others are complete.
      files.write(ID_FILE, identity(uuid).getBytes(StandardCharsets.US_ASCII));
      filled = true;
      return new RegionDirectory(
          path, lockChannel, heartbeat, hazards, writers, kept, List.copyOf(regions));
    } catch (IOException e) {
      String where = hugePages == null ? path.toString() : hugePages.toString();
      throw new IOException("cannot create the regions in " + where + ": " + e, e);
    } finally {
      if (!filled) {
        regions.forEach(RegionMemory::close);
        if (writers != null) {
          writers.close();
        }
        if (kept != null) {
          kept.close();
        }
        if (lockChannel != null) {
          lockChannel.close();
        }
      }
    }
  }

  /**
   * The regions that an earlier process has left, for this one. Null when their bytes are gone;
   * then what is left is removed.
   *
   * @param place closed after this, unless its directory is returned
   */
  private static RegionDirectory reopen(
      KeptPlace place, UUID uuid, List<Integer> lengths, Manner manner) throws IOException {
    SafeDirectory files = place.files();
    boolean opened = false;
    try {
      String boot = boot();
      KeptFile.Standing before = place.file().standing();
      boolean isSameBoot = !boot.isEmpty() && before.boot().toString().equals(boot);
      String lack =
          before.closed() || isSameBoot
              ? RegionMemory.lack(files, place.file().lengths())
              : "the host has restarted without an orderly end of the datanode";
      if (lack != null) {
        LOG.warn("the bytes in {} are lost, and its regions begin empty: {}", files.path(), lack);
        Leftovers.delete(files.path());
        return null;
      }
      if (!place.file().lengths().equals(lengths)) {
        throw new IOException(
            files.path()
                + " keeps regions of other lengths or another number than those that are"
                + " configured; configure the former ones, or remove the directory to start with"
                + " empty regions");
      }
      RegionDirectory directory = reopen(place, uuid, isSameBoot, boot, manner);
      opened = true;
      return directory;
    } finally {
      if (opened) {
        files.close();
      } else {
        place.close();
      }
    }
  }

  private static RegionDirectory reopen(
      KeptPlace place, UUID uuid, boolean isSameBoot, String boot, Manner manner)
      throws IOException {
    SafeDirectory files = place.files();
    // The identity goes first, so that no process maps files that have no datanode yet.
    files.deleteIfExists(ID_FILE);
    files.deleteIfExists(LocalWriters.FILE);
    files.deleteIfExists(Heartbeat.FILE);
    // Before the first byte can change.
    place.file().begin(manner.keeper().port(), boot);
    LocalWriters writers = null;
    List<RegionMemory> regions = new ArrayList<>();
    boolean opened = false;
    try {
      final Heartbeat heartbeat = Heartbeat.create(files);
      if (!isSameBoot) {
        // No process that has announced a write lives any more.
        files.deleteIfExists(HazardTable.FILE);
      }
      HazardTable hazards = isSameBoot ? HazardTable.open(files) : HazardTable.create(files);
      hazards.clear(HazardTable.OWN_THREADS);
      writers = listen(files.path(), hazards, manner);
      for (int i = 0; i < place.file().identity().regions(); i++) {
        RegionMemory region = RegionMemory.open(files, i, hazards);
        regions.add(region);
        if (manner.preallocate() && manner.hugePages() == null) {
          region.growAll(heartbeat::beat);
        }
      }
      files.write(ID_FILE, identity(uuid).getBytes(StandardCharsets.US_ASCII));
      LOG.info(
          "{} has the bytes of an earlier process; this is start {}",
          files.path(),
          place.file().standing().start());
      opened = true;
      return new RegionDirectory(
          files.path(),
          place.lock(),
          heartbeat,
          hazards,
          writers,
          place.file(),
          List.copyOf(regions));
    } finally {
      if (!opened) {
        regions.forEach(RegionMemory::close);
        if (writers != null) {
          writers.close();
        }
      }
    }
  }

  /**
   * What distinguishes a datanode from all others, also from one of another host that shares the
   * directory: its memory is not this host's, and its socket cannot be reached.
   */
  static String identity(UUID uuid) {
    return uuid + "\n" + boot();
  }

  private static String boot() {
    try {
      return Files.readString(BOOT_ID);
    } catch (IOException e) {
      // Some sandboxes hide it. What two hosts share then looks like this host's own.
      return "";
    }
  }

  /** Null when the directory's name is too long for a socket; the regions cannot be mapped then. */
  private static LocalWriters listen(Path path, HazardTable hazards, Manner manner)
      throws IOException {
    boolean keeps = manner.keeper() != null;
    if (LocalWriters.fits(path, keeps)) {
      return LocalWriters.listen(path, hazards, manner.mechanisms(), keeps);
    }
    if (keeps) {
      // It is also how the next process sees that this one has ended.
      throw new IOException("the data path is too long for a socket in " + path);
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

  /** What is known of the bytes that are kept; null when nothing is. */
  public LastingBytes kept() {
    return kept;
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
   * these are gone, and removes the directory unless it is kept.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    regions.forEach(RegionMemory::close);
    if (writers != null) {
      writers.close();
    }
    if (kept == null || kept.isDiscarded()) {
      Leftovers.delete(path);
    } else {
      keep();
    }
    regions = List.of();
    try {
      if (kept != null) {
        kept.close();
      }
      lockChannel.close();
    } catch (IOException e) {
      LOG.warn("cannot close the lock of {}", path, e);
    }
  }

  /**
   * Writes all bytes to the disk, and then says so. If a process that maps the regions is still in
   * the middle of a write after a while, it is not said; then they are kept unless the host
   * restarts.
   */
  private void keep() {
    try (SafeDirectory files = SafeDirectory.ofUser(path)) {
      files.deleteIfExists(ID_FILE);
      if (areWritersDone()) {
        for (RegionMemory region : regions) {
          RegionMemory.force(files, region.index());
        }
        files.force();
        kept.end();
      } else {
        LOG.warn("{} is kept, but not over a restart of the host: a process still writes", path);
      }
    } catch (IOException e) {
      LOG.warn("{} is kept, but not over a restart of the host", path, e);
    }
  }

  /** Waits until processes that have mapped the regions have noticed the end of this one. */
  private boolean areWritersDone() {
    long start = System.nanoTime();
    boolean done = false;
    boolean interrupted = false;
    while (!done && System.nanoTime() - start < WRITERS_NANOS && !interrupted) {
      try {
        Thread.sleep(LAST_WRITES_MILLIS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      done = hazards.isQuiet();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return done;
  }
}
