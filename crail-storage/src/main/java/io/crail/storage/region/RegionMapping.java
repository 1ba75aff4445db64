/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.OtherUserException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;

/**
 * The regions of a datanode as another process of its host maps them, one by one when they are
 * needed. They can be unmapped at any time, so that their memory goes back to the host, and mapped
 * again.
 *
 * <p>A datanode that has ended is noticed by its {@link Heartbeat}: at once when it ended in order,
 * after {@value Heartbeat#PATIENCE_MILLIS} ms when it was killed.
 *
 * <p>{@link #lives}, {@link #region}, {@link #isGone} and {@link #mayHold} may be called by any
 * thread; the caller makes sure that all other methods are called one at a time.
 */
public final class RegionMapping {
  /** The most regions of a datanode that are mapped, far more than a datanode has. */
  public static final int MAX_REGIONS = 1 << 16;

  private static final RegionMemory[] NONE = {};
  private static final long PATIENCE_NANOS = Heartbeat.PATIENCE_MILLIS * 1_000_000;

  private final Path directory;
  private final UUID uuid;
  private final Heartbeat heartbeat;
  private volatile RegionMemory[] regions = NONE;
  private HazardTable hazards;
  private volatile long lastBeat;
  private volatile long lastBeatNanos;

  private RegionMapping(Path directory, UUID uuid, Heartbeat heartbeat, long nowNanos) {
    this.directory = directory;
    this.uuid = uuid;
    this.heartbeat = heartbeat;
    this.lastBeatNanos = nowNanos;
    this.lastBeat = heartbeat.value();
  }

  /**
   * Finds the region files of a datanode, when they are on this host and belong to exactly this
   * datanode process. A directory of the same name on another host, or in another container's
   * mount, holds another identity or nothing.
   *
   * @param directory the datanode's directory, as the datanode tells it; empty for none
   * @param nowNanos the time, for {@link #lives}
   * @return empty when the files are not here
   * @throws OtherUserException when they, or a directory above them, belong to another user
   * @throws IOException when the files are here, but may not be used; says why
   */
  public static Optional<RegionMapping> find(String directory, UUID uuid, long nowNanos)
      throws IOException {
    Path path;
    try {
      path = Path.of(directory);
    } catch (InvalidPathException e) {
      // A path on the datanode's host may be no valid path here.
      return Optional.empty();
    }
    return path.isAbsolute()
        ? Uninterrupted.run(() -> find(path, uuid, nowNanos))
        : Optional.empty();
  }

  private static Optional<RegionMapping> find(Path path, UUID uuid, long nowNanos)
      throws IOException {
    try (SafeDirectory directory = SafeDirectory.ofUser(path)) {
      if (!isOf(directory, uuid)) {
        return Optional.empty();
      }
      Heartbeat heartbeat = Heartbeat.open(directory);
      return Heartbeat.isEnd(heartbeat.value())
          ? Optional.empty()
          : Optional.of(new RegionMapping(path, uuid, heartbeat, nowNanos));
    } catch (NoSuchFileException | NotDirectoryException e) {
      // It is not here, or has just ended.
      return Optional.empty();
    }
  }

  private static boolean isOf(SafeDirectory directory, UUID uuid) throws IOException {
    return directory.read(RegionDirectory.ID_FILE).equals(uuid.toString());
  }

  /**
   * True when the directory is still that of the datanode.
   *
   * @param file a file that has to be in it
   */
  private boolean holds(String file) throws IOException {
    return Uninterrupted.run(
        () -> {
          try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
            return isOf(files, uuid) && files.contains(file);
          } catch (NoSuchFileException | NotDirectoryException e) {
            return false;
          }
        });
  }

  /** The datanode's directory. */
  public Path directory() {
    return directory;
  }

  /** False when the datanode has ended, or its heartbeat stands still for long. */
  public boolean lives(long nowNanos) {
    long beat = heartbeat.value();
    if (beat != lastBeat) {
      // In this order: a thread that sees the new beat sees the new time.
      lastBeatNanos = nowNanos;
      lastBeat = beat;
    }
    return !Heartbeat.isEnd(beat) && nowNanos - lastBeatNanos < PATIENCE_NANOS;
  }

  /**
   * True when the datanode has certainly ended. A still heartbeat is no proof before the directory
   * is gone as well: a process that was only stopped continues, and a killed one leaves its files.
   */
  public boolean isGone() {
    try {
      return Heartbeat.isEnd(heartbeat.value()) || !holds(RegionDirectory.ID_FILE);
    } catch (IOException e) {
      return true;
    }
  }

  /** False when the datanode certainly has no such region, or is gone itself. */
  public boolean mayHold(int index, boolean described) {
    try {
      return holds(described ? RegionDirectory.ID_FILE : RegionMemory.generationFile(index));
    } catch (IOException e) {
      return true;
    }
  }

  /** A region that is mapped now, or null. */
  public RegionMemory region(int index) {
    RegionMemory[] mapped = regions;
    return index >= 0 && index < mapped.length ? mapped[index] : null;
  }

  /**
   * A region, which is mapped if it is not.
   *
   * @param index below {@link #MAX_REGIONS}
   */
  public RegionMemory map(int index) throws IOException {
    RegionMemory region = region(index);
    if (region == null) {
      region = RegionMemory.open(directory, index, hazards());
      RegionMemory[] grown = Arrays.copyOf(regions, Math.max(regions.length, index + 1));
      grown[index] = region;
      regions = grown;
    }
    return region;
  }

  /**
   * Makes this process known to the datanode as a writer.
   *
   * @param client identity of the client, as told to namenodes
   * @throws IOException when the datanode takes no more writers, or has ended
   */
  public LocalWriter newWriter(long client) throws IOException {
    return LocalWriter.open(directory, hazards(), client);
  }

  private HazardTable hazards() throws IOException {
    if (hazards == null) {
      hazards = HazardTable.open(directory);
    }
    return hazards;
  }

  /** Unmaps the regions. Their memory goes back once no thread uses them any more. */
  public void letGo() {
    for (RegionMemory region : regions) {
      if (region != null) {
        region.close();
      }
    }
    regions = NONE;
    hazards = null;
  }
}
