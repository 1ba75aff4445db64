/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.OtherUserException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The regions of a datanode as another process of its host maps them, one by one when they are
 * needed. They can be unmapped at any time, so that their memory goes back to the host, and mapped
 * again. Threads {@link #enter} before they use any memory, so it is unmapped at once when they
 * have left, and never earlier.
 *
 * <p>A datanode that has ended is noticed by its {@link Heartbeat}: at once when it ended in order,
 * after {@value Heartbeat#PATIENCE_MILLIS} ms when it was killed.
 *
 * <p>{@link #enter} may be called by any thread, and by one that has entered {@link #lives}, {@link
 * #isGone} and {@link #mayHold}; the caller makes sure that all other methods are called one at a
 * time.
 */
public final class RegionMapping implements AutoCloseable {
  /** The most regions of a datanode that are mapped, far more than a datanode has. */
  public static final int MAX_REGIONS = 1 << 16;

  private static final long PATIENCE_NANOS = Heartbeat.PATIENCE_MILLIS * 1_000_000;

  private final Path directory;
  private final UUID uuid;
  private final Heartbeat heartbeat;

  /** Sets of regions that are not unmapped yet: the present one, and earlier ones in use. */
  private final AtomicInteger sets = new AtomicInteger();

  private volatile MappedRegions present;
  private volatile long lastBeat;
  private volatile long lastBeatNanos;

  private RegionMapping(Path directory, UUID uuid, Heartbeat heartbeat, long nowNanos) {
    this.directory = directory;
    this.uuid = uuid;
    this.heartbeat = heartbeat;
    this.lastBeatNanos = nowNanos;
    this.lastBeat = heartbeat.value();
    this.present = newRegions();
  }

  private MappedRegions newRegions() {
    sets.getAndIncrement();
    return new MappedRegions(directory, this::unmapped);
  }

  /** Without a set of regions no thread can look at the heartbeat, and none is made any more. */
  private void unmapped() {
    if (sets.decrementAndGet() == 0) {
      heartbeat.unmap();
    }
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
      if (Heartbeat.isEnd(heartbeat.value())) {
        heartbeat.unmap();
        return Optional.empty();
      }
      return Optional.of(new RegionMapping(path, uuid, heartbeat, nowNanos));
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

  /**
   * Lets the calling thread use the regions that are mapped now, and all other methods of this.
   *
   * @return the regions, which the thread has to {@linkplain MappedRegions#exit leave}; null after
   *     {@link #close}
   */
  public MappedRegions enter() {
    while (true) {
      MappedRegions regions = present;
      if (regions.enter()) {
        return regions;
      }
      if (regions == present) {
        return null;
      }
    }
  }

  /** True while regions are those that threads enter. */
  public boolean isPresent(MappedRegions regions) {
    return present == regions;
  }

  /** Unmaps the present regions, as soon as no thread uses them; others may be mapped at once. */
  public void letGo() {
    MappedRegions before = present;
    if (!before.isEmpty()) {
      present = newRegions();
      before.close();
    }
  }

  /** As {@link #letGo}, and no more regions are mapped. */
  @Override
  public void close() {
    present.close();
  }
}
