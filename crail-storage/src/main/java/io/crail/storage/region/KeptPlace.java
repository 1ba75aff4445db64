/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.OtherUserException;
import io.crail.storage.LastingBytes;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SocketChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory with the bytes that an earlier process has kept, locked for this one. Of several, a
 * process takes the one that was served on its port, or else any that no process has. One that
 * cannot be used, as its file is damaged, stops only a process that finds no other.
 */
public final class KeptPlace implements AutoCloseable {
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long PAUSE_MILLIS = 20;
  private static final Logger LOG = LoggerFactory.getLogger(KeptPlace.class);

  private final SafeDirectory files;

  /** Why it cannot be used; null if it can. */
  private final IOException damage;

  /** Null if it cannot be used. */
  private KeptFile file;

  private FileChannel lock;

  private KeptPlace(SafeDirectory files, KeptFile file, IOException damage) {
    this.files = files;
    this.file = file;
    this.damage = damage;
  }

  /**
   * Takes a directory.
   *
   * @param lengths bytes of each region that is wanted; of several places, one that has these
   * @return null when there is none for this owner that no process has
   * @throws IOException when the one that was served on the owner's port cannot be had, or the only
   *     one that no process has cannot be used
   */
  static KeptPlace take(Path parent, LastingBytes.Owner owner, List<Integer> lengths)
      throws IOException {
    long start = System.nanoTime();
    while (true) {
      List<KeptPlace> places = all(parent, owner, lengths);
      KeptPlace taken = null;
      boolean waits = false;
      try {
        // One lock at a time, or another process would find all places taken.
        for (int i = 0; i < places.size() && taken == null && !waits; i++) {
          taken = places.get(i).tryLock() ? places.get(i) : null;
          waits = taken == null && places.get(i).isOf(owner);
        }
        if (!waits) {
          warn(places);
        }
        if (taken != null && taken.damage != null) {
          throw new IOException(taken.damage.getMessage(), taken.damage);
        }
      } finally {
        for (KeptPlace place : places) {
          if (place != taken || place.damage != null) {
            place.close();
          }
        }
      }
      if (!waits) {
        return taken;
      }
      if (System.nanoTime() - start > WAIT_NANOS) {
        throw new IOException(
            "another process has the bytes that this datanode keeps in " + parent);
      }
      pause();
    }
  }

  /** The places of an owner, the best one first; others may take them. */
  private static List<KeptPlace> all(Path parent, LastingBytes.Owner owner, List<Integer> lengths)
      throws IOException {
    Map<KeptPlace, Integer> fits = new LinkedHashMap<>();
    for (String name : names(parent)) {
      KeptPlace place = look(parent.resolve(name), owner);
      if (place != null && place.damage != null) {
        fits.put(place, -1);
      } else if (place != null) {
        boolean isLong = place.file.lengths().equals(lengths);
        fits.put(place, (place.isOf(owner) ? 2 : 0) + (isLong ? 1 : 0));
      }
    }
    List<KeptPlace> places = new ArrayList<>(fits.keySet());
    places.sort(Comparator.comparing((KeptPlace place) -> -fits.get(place)));
    return places;
  }

  private boolean isOf(LastingBytes.Owner owner) {
    return damage == null && owner.port() != 0 && file.standing().port() == owner.port();
  }

  private static void warn(List<KeptPlace> places) {
    for (KeptPlace place : places) {
      if (place.damage != null) {
        LOG.warn("no datanode that starts serves {}: {}", place.path(), place.damage.getMessage());
      }
    }
  }

  private static List<String> names(Path parent) throws IOException {
    try (SafeDirectory entries = SafeDirectory.shared(parent)) {
      return entries.names().stream().filter(KeptPlace::isIdentity).sorted().toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  private static boolean isIdentity(String name) {
    try {
      return UUID.fromString(name).toString().equals(name);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while another process has the bytes that are kept", e);
    }
  }

  /** A place; null when it is not one of this owner. */
  private static KeptPlace look(Path path, LastingBytes.Owner owner) throws IOException {
    SafeDirectory files;
    try {
      files = SafeDirectory.ofUser(path);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return null;
    } catch (OtherUserException e) {
      LOG.warn("not looking for kept bytes in {}: {}", path, e.getMessage());
      return null;
    }
    KeptPlace place = null;
    try {
      if (files.contains(KeptFile.FILE)) {
        place = look(files, owner);
      }
      return place;
    } catch (NoSuchFileException e) {
      // Its process has removed it in between.
      return null;
    } finally {
      if (place == null) {
        files.close();
      }
    }
  }

  private static KeptPlace look(SafeDirectory files, LastingBytes.Owner owner) throws IOException {
    KeptFile file;
    try {
      file = KeptFile.open(files);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      // It is not even known whose bytes these are.
      return new KeptPlace(files, null, e);
    }
    if (file.identity().cluster().toString().equals(owner.cluster())
        && file.identity().tier().toString().equals(owner.tier())) {
      return new KeptPlace(files, file, null);
    }
    LOG.info("{} keeps bytes of {}", files.path(), file.identity());
    file.close();
    return null;
  }

  /** Locks the place, as far as no process has it. */
  private boolean tryLock() throws IOException {
    try {
      // Not even opened before it is clear that it is not one of this very process: that would lose
      // its lock.
      lock = hasProcess(files) ? null : tryLock(files);
      if (lock != null && damage == null) {
        // Another process may have had it since the look.
        file.close();
        file = KeptFile.open(files);
      }
      return lock != null;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static FileChannel tryLock(SafeDirectory files) throws IOException {
    FileChannel channel = files.open(RegionDirectory.LOCK_FILE, StandardOpenOption.WRITE);
    FileLock got = null;
    try {
      got = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // It is one of this very process.
    } finally {
      if (got == null) {
        channel.close();
      }
    }
    return got == null ? null : channel;
  }

  /** Whether a process answers on the directory's socket, be it only that it is stopped. */
  private static boolean hasProcess(SafeDirectory files) throws IOException {
    return files.contains(LocalWriters.FILE) && accepts(files.path().resolve(LocalWriters.FILE));
  }

  /** False when no process has a socket any more; true also when that is not known. */
  static boolean accepts(Path socket) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.configureBlocking(false);
      channel.connect(UnixDomainSocketAddress.of(socket));
      return true;
    } catch (ConnectException e) {
      return false;
    } catch (SocketException e) {
      return true;
    } catch (IOException e) {
      return true;
    }
  }

  private Path path() {
    return files.path();
  }

  SafeDirectory files() {
    return files;
  }

  FileChannel lock() {
    return lock;
  }

  KeptFile file() {
    return file;
  }

  /** Lets go of the directory, which stays. */
  @Override
  public void close() throws IOException {
    if (file != null) {
      file.close();
    }
    files.close();
    if (lock != null) {
      lock.close();
    }
  }
}
