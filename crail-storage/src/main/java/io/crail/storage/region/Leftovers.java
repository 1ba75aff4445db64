/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes directories of this user's datanodes, see {@link RegionDirectory}: those of dead ones,
 * and one that ends. Stateless.
 */
final class Leftovers {
  private static final long PROOF_MILLIS = 1500;
  private static final String REGION_FILES = "region-";
  private static final List<String> FILES =
      List.of(
          RegionDirectory.ID_FILE,
          RegionDirectory.LOCK_FILE,
          Heartbeat.FILE,
          HazardTable.FILE,
          LocalWriters.FILE,
          KeptFile.FILE,
          KeptFile.NEW_FILE,
          HugePages.FILE);
  private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);

  private Leftovers() {}

  /** Removes the directories of datanodes that are certainly dead. */
  static void removeDead(Path parent) throws IOException {
    Map<Path, Long> silent = new HashMap<>();
    try (SafeDirectory entries = SafeDirectory.shared(parent)) {
      for (String name : entries.names()) {
        Path entry = parent.resolve(name);
        Long beat = isIdentity(name) ? beat(entry) : null;
        if (beat != null) {
          silent.put(entry, beat);
        }
      }
    }
    if (silent.isEmpty()) {
      return;
    }
    long endNanos = System.nanoTime() + PROOF_MILLIS * 1_000_000;
    while (!silent.isEmpty() && System.nanoTime() - endNanos < 0) {
      pause();
      silent.entrySet().removeIf(entry -> !entry.getValue().equals(beat(entry.getKey())));
    }
    for (Path entry : silent.keySet()) {
      if (lockIsFree(entry)) {
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

  private static boolean isIdentity(String name) {
    try {
      return UUID.fromString(name).toString().equals(name);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * The heartbeat in a directory; null when it is none of a datanode of this user, or its datanode
   * keeps what is there.
   */
  private static Long beat(Path entry) {
    try (SafeDirectory files = SafeDirectory.ofUser(entry)) {
      return files.contains(RegionDirectory.LOCK_FILE) && !files.contains(KeptFile.FILE)
          ? Heartbeat.peek(files)
          : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static boolean lockIsFree(Path entry) {
    try (SafeDirectory files = SafeDirectory.ofUser(entry);
        FileChannel channel = files.open(RegionDirectory.LOCK_FILE, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (IOException | OverlappingFileLockException e) {
      return false;
    }
  }

  /** Removes a datanode's directory, and only its own files. */
  static void delete(Path directory) {
    try {
      try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
        deleteFiles(files);
      }
      Files.delete(directory);
    } catch (NoSuchFileException e) {
      // It was never made, or was removed already, as wanted.
    } catch (IOException e) {
      LOG.warn("cannot remove {}", directory, e);
    }
  }

  private static void deleteFiles(SafeDirectory files) throws IOException {
    // The identity goes first, so that no process begins to map files that are about to go.
    files.deleteIfExists(RegionDirectory.ID_FILE);
    List<String> names = files.names();
    deletePages(files, names);
    for (String name : names) {
      if (FILES.contains(name) || name.startsWith(REGION_FILES) || LocalWriters.isOfWriter(name)) {
        files.deleteIfExists(name);
      }
    }
  }

  private static void deletePages(SafeDirectory files, List<String> names) throws IOException {
    Path place = HugePages.placeOf(files);
    if (place == null) {
      return;
    }
    try (SafeDirectory pages = SafeDirectory.shared(place)) {
      for (int index = 0; names.contains(RegionFile.generationFile(index)); index++) {
        pages.deleteIfExists(HugePages.fileName(files.path(), index));
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      // The mount has gone, and its files with it.
    }
  }
}
