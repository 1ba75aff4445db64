/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.namenode.log.Snapshots;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of the copy that a peer keeps, as those that it can give other peers, and get from
 * them. Files that are written no more are links, so they take no space of their own as long as
 * both are there.
 */
record PeerFiles(Path directory) {
  /** Is there while the files are replaced, which then are not whole. */
  private static final String REPLACING = "replacing";

  private static List<String> names(Path of) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  /**
   * Puts links to all files that are written no more into a directory. Those of before stay.
   *
   * @param lastSegment the last file of the log that is written no more
   * @return the links
   * @throws IOException if a snapshot took the place of some of them meanwhile
   */
  List<Path> linkTo(Path target, long lastSegment) throws IOException {
    List<Path> links = new ArrayList<>();
    List<String> closed = Snapshots.closed(names(directory), lastSegment);
    for (String name : closed) {
      Path link = target.resolve(name);
      Path file = directory.resolve(name);
      if (Files.exists(link) && !Files.isSameFile(link, file)) {
        Files.delete(link);
      }
      if (!Files.exists(link)) {
        Files.createLink(link, file);
      }
      links.add(link);
    }
    if (!names(directory).containsAll(closed)) {
      throw new IOException("files of " + directory + " were removed meanwhile");
    }
    force(target);
    return links;
  }

  /** Whether there are any. */
  boolean isAny() throws IOException {
    return names(directory).stream().anyMatch(Snapshots::isFile);
  }

  /** Removes all, since others have more. */
  void clear() throws IOException {
    removeAll();
    force(directory);
  }

  /** The links in a directory, at a start. */
  static List<Path> linked(Path target) throws IOException {
    return Snapshots.closed(names(target), Long.MAX_VALUE).stream().map(target::resolve).toList();
  }

  /** Removes the links that are of no use any more. */
  static void removeOthers(Path target, List<Path> kept) throws IOException {
    for (String name : names(target)) {
      if (Snapshots.isFile(name) && !kept.contains(target.resolve(name))) {
        Files.delete(target.resolve(name));
      }
    }
  }

  /** Writes a file, which is whole if it is there. */
  static void write(Path file, ByteBuffer bytes) throws IOException {
    Path part = file.resolveSibling("part");
    try (FileChannel channel =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    force(file.getParent());
  }

  /** Takes the files of another directory in place of those that are here. */
  void replace(Path source) throws IOException {
    for (String name : names(source)) {
      if (Snapshots.isFile(name)) {
        // Who has written it has not made it durable.
        try (FileChannel channel =
            FileChannel.open(source.resolve(name), StandardOpenOption.WRITE)) {
          channel.force(true);
        }
      }
    }
    Path mark = directory.resolve(REPLACING);
    if (!Files.exists(mark)) {
      Files.createFile(mark);
    }
    force(directory);
    removeAll();
    for (String name : names(source)) {
      if (Snapshots.isFile(name)) {
        Files.createLink(directory.resolve(name), source.resolve(name));
      }
    }
    force(directory);
    Files.delete(mark);
    force(directory);
  }

  /** Removes what was not replaced to the end. */
  void recover() throws IOException {
    Path mark = directory.resolve(REPLACING);
    if (Files.exists(mark)) {
      removeAll();
      force(directory);
      Files.delete(mark);
    }
  }

  private void removeAll() throws IOException {
    for (String name : names(directory)) {
      if (Snapshots.isFile(name)) {
        Files.delete(directory.resolve(name));
      }
    }
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
