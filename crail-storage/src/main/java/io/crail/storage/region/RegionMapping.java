/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.OtherUserException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
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
 * <p>The end of the datanode is noticed by a {@link Lifeline}, within {@value #LOOK_MILLIS} ms of
 * use. A datanode that is only stopped lives: its memory serves without it.
 *
 * <p>{@link #enter} may be called by any thread, and by one that has entered {@link #lives}, {@link
 * #look}, {@link #isOver}, {@link #refusal} and {@link #mayHold}; the caller makes sure that all
 * other methods are called one at a time.
 */
public final class RegionMapping implements AutoCloseable {
  /** The most regions of a datanode that are mapped, far more than a datanode has. */
  public static final int MAX_REGIONS = 1 << 16;

  /**
   * How long a look at the lifeline counts. A look is a system call of half a microsecond, too much
   * for each transfer.
   */
  private static final long LOOK_MILLIS = 2;

  private final Path directory;
  private final UUID uuid;
  private final Lifeline lifeline;

  /** Sets of regions that are not unmapped yet: the present one, and earlier ones in use. */
  private final AtomicInteger sets = new AtomicInteger();

  private volatile MappedRegions present;
  private volatile long lookedNanos;
  private volatile boolean over;

  private RegionMapping(Path directory, UUID uuid, Lifeline lifeline, long nowNanos) {
    this.directory = directory;
    this.uuid = uuid;
    this.lifeline = lifeline;
    this.lookedNanos = nowNanos;
    this.present = newRegions();
  }

  private MappedRegions newRegions() {
    sets.getAndIncrement();
    return new MappedRegions(directory, this::unmapped);
  }

  /** Without a set of regions no thread can look at the lifeline, and none is made any more. */
  private void unmapped() {
    if (sets.decrementAndGet() == 0) {
      lifeline.close();
    }
  }

  /**
   * Finds the region files of a datanode, when they are on this host and belong to exactly this
   * datanode process. A directory of the same name in another container's mount holds another
   * identity or nothing. One that two hosts share, over NFS for example, distinguishes them by the
   * kernel's boot id.
   *
   * @param directory the datanode's directory, as the datanode announces it; empty for none
   * @param client as whom this process logs in
   * @param nowNanos the time, for {@link #lives}
   * @return empty when the files are not here
   * @throws OtherUserException when they, or a directory above them, belong to another user
   * @throws CrailException with UNAVAILABLE when the files are here, but the datanode has ended
   * @throws IOException when the files are here, but may not be used; says why
   */
  public static Optional<RegionMapping> find(
      String directory, UUID uuid, LocalClient client, long nowNanos) throws IOException {
    Path path;
    try {
      path = Path.of(directory);
    } catch (InvalidPathException e) {
      // A path on the datanode's host may be no valid path here.
      return Optional.empty();
    }
    return path.isAbsolute()
        ? Uninterrupted.run(() -> find(path, uuid, client, nowNanos))
        : Optional.empty();
  }

  private static Optional<RegionMapping> find(
      Path path, UUID uuid, LocalClient client, long nowNanos) throws IOException {
    try (SafeDirectory directory = SafeDirectory.ofUser(path)) {
      return isOf(directory, uuid)
          ? Optional.of(new RegionMapping(path, uuid, Lifeline.open(path, client), nowNanos))
          : Optional.empty();
    } catch (NoSuchFileException | NotDirectoryException e) {
      // It is not here, or has just ended.
      return Optional.empty();
    } catch (ConnectException e) {
      // A killed datanode leaves its files behind.
      throw hasEnded(path);
    } catch (SocketException e) {
      if (Files.exists(path.resolve(RegionDirectory.ID_FILE), LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      // It has just ended.
      return Optional.empty();
    }
  }

  private static boolean isOf(SafeDirectory directory, UUID uuid) throws IOException {
    return directory.read(RegionDirectory.ID_FILE).equals(RegionDirectory.identity(uuid));
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

  /** False once the datanode has ended; may find that out as late as the class comment says. */
  public boolean lives(long nowNanos) {
    return !over && (nowNanos - lookedNanos < LOOK_MILLIS * 1_000_000 || look(nowNanos));
  }

  /**
   * As {@link #lives}, with a look of its own. The time of a look is noted after it, so a thread
   * that is stopped in between keeps no other thread from looking.
   */
  public boolean look(long nowNanos) {
    if (!over && !lifeline.holds()) {
      over = true;
      lifeline.close();
    }
    lookedNanos = nowNanos;
    return !over;
  }

  /**
   * Why the datanode has refused the login of this process, which is known a moment after the first
   * use; null when it has not. The mapping can be used all the same, but must not be.
   */
  public CrailException refusal() {
    return lifeline.refusal();
  }

  /** True once the datanode is known to have ended. */
  public boolean isOver() {
    return over;
  }

  /** The error of an access after the datanode has ended. */
  public CrailException hasEnded() {
    return hasEnded(directory);
  }

  private static CrailException hasEnded(Path directory) {
    return ErrorCode.UNAVAILABLE.exception("the datanode of " + directory + " has ended");
  }

  /** False when the datanode certainly has no such region, or is gone itself. */
  public boolean mayHold(int index, boolean described) {
    try {
      return holds(described ? RegionDirectory.ID_FILE : RegionFile.generationFile(index));
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
