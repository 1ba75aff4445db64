/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobExpander;
import org.apache.hadoop.fs.GlobFilter;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/**
 * Finds paths by a pattern, with the results of Hadoop's own search. That one fails for each name
 * with a colon, since it takes the beginning of the name for a scheme. Used by one thread.
 */
final class GlobSearch {
  private final FileSystem fileSystem;
  private final PathFilter filter;
  private boolean sawPattern;

  /**
   * Prepares a search.
   *
   * @param filter what a result has to pass too
   */
  GlobSearch(FileSystem fileSystem, PathFilter filter) {
    this.fileSystem = fileSystem;
    this.filter = filter;
  }

  /** The paths that match, sorted; null for one path without a pattern that is not there. */
  FileStatus[] find(Path pattern) throws IOException {
    // A pattern of another file system must not find anything in this one.
    fileSystem.makeQualified(pattern);
    List<FileStatus> found = new ArrayList<>();
    List<String> patterns = GlobExpander.expand(pattern.toUri().getPath());
    for (String each : patterns) {
      search(each, found);
    }
    if (found.isEmpty() && !sawPattern && patterns.size() <= 1) {
      return null;
    }
    FileStatus[] sorted = found.toArray(new FileStatus[0]);
    Arrays.sort(sorted);
    return sorted;
  }

  private void search(String pattern, List<FileStatus> found) throws IOException {
    List<Path> candidates = new ArrayList<>();
    candidates.add(
        fileSystem.makeQualified(
            pattern.startsWith("/") ? new Path("/") : fileSystem.getWorkingDirectory()));
    List<String> components =
        Arrays.stream(pattern.split("/")).filter(each -> !each.isEmpty()).toList();
    for (int i = 0; i < components.size() && !candidates.isEmpty(); i++) {
      String component = components.get(i);
      GlobFilter names = new GlobFilter(component);
      sawPattern |= names.hasPattern();
      List<Path> next = new ArrayList<>();
      for (Path candidate : candidates) {
        if (names.hasPattern()) {
          children(candidate, names, i < components.size() - 1, next);
        } else {
          next.add(PathStore.child(candidate, component.replaceAll("\\\\(.)", "$1")));
        }
      }
      candidates = next;
    }
    for (Path candidate : candidates) {
      try {
        FileStatus status = fileSystem.getFileStatus(candidate);
        if (filter.accept(status.getPath())) {
          found.add(status);
        }
      } catch (FileNotFoundException e) {
        // Not all that a pattern without wildcards names is there.
      }
    }
  }

  private void children(Path directory, GlobFilter names, boolean onlyDirectories, List<Path> into)
      throws IOException {
    try {
      for (FileStatus child : fileSystem.listStatus(directory)) {
        // A file lists as itself.
        boolean below = !child.getPath().equals(directory);
        if (below && (child.isDirectory() || !onlyDirectories) && names.accept(child.getPath())) {
          into.add(child.getPath());
        }
      }
    } catch (FileNotFoundException e) {
      // It has no children, or was removed meanwhile.
    }
  }
}
