/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.namenode.log.Snapshots;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
   * Puts links to all files that are written no more into a directory, and removes those of before.
   *
   * @param lastSegment the last file of the log that is written no more
   * @throws IOException if a snapshot took the place of some of them meanwhile
   */
  void linkTo(Path target, long lastSegment) throws IOException {
    List<String> closed = closed(lastSegment);
    for (String name : names(target)) {
      if (Snapshots.isFile(name) && !closed.contains(name)) {
        Files.delete(target.resolve(name));
      }
    }
    for (String name : closed) {
      if (!Files.exists(target.resolve(name))) {
        Files.createLink(target.resolve(name), directory.resolve(name));
      }
    }
    if (!names(directory).containsAll(closed)) {
      throw new IOException("files of " + directory + " were removed meanwhile");
    }
    force(target);
  }

  private List<String> closed(long lastSegment) throws IOException {
    return Snapshots.closed(names(directory), lastSegment);
  }

  /** Takes the files of another directory in place of those that are here. */
  void replace(Path source) throws IOException {
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
