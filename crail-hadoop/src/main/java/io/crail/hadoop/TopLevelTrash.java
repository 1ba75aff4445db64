/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The trash with several namenodes. A file goes to the trash by a rename, and a rename stays below
 * one top-level directory. So each top-level directory has a trash: {@code /top/.Trash/user}.
 * Thread-safe.
 */
final class TopLevelTrash {
  private static final Logger LOG = LoggerFactory.getLogger(TopLevelTrash.class);

  private final FileSystem fileSystem;

  TopLevelTrash(FileSystem fileSystem) {
    this.fileSystem = fileSystem;
  }

  /**
   * A user's trash for the node at a qualified path. A top-level directory would contain its own
   * trash.
   */
  Path rootOf(Path path, String user) {
    Path top = path;
    while (top.depth() > 1) {
      top = top.getParent();
    }
    return new Path(new Path(top, FileSystem.TRASH_PREFIX), user);
  }

  /**
   * The existing trash directories of a user, or of all users for null. None when they cannot be
   * listed.
   */
  List<FileStatus> roots(String user) {
    try {
      return list(user);
    } catch (IOException e) {
      LOG.warn("cannot list the trash of {}", fileSystem.getUri(), e);
      return List.of();
    }
  }

  private List<FileStatus> list(String user) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    for (FileStatus top : fileSystem.listStatus(new Path("/"))) {
      if (top.isDirectory()) {
        Path trash = new Path(top.getPath(), FileSystem.TRASH_PREFIX);
        found.addAll(directories(user == null ? trash : new Path(trash, user), user == null));
      }
    }
    return found;
  }

  /** A directory, or the directories below it; none when the path does not exist. */
  private List<FileStatus> directories(Path path, boolean below) throws IOException {
    try {
      FileStatus[] present =
          below ? fileSystem.listStatus(path) : new FileStatus[] {fileSystem.getFileStatus(path)};
      return Arrays.stream(present).filter(FileStatus::isDirectory).toList();
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }
}
