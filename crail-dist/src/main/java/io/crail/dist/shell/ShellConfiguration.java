/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.shell;

import io.crail.common.error.IncompleteException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * What a run of the shell is configured with, which also collects what was missing from it: the way
 * by which Hadoop hands things to a file system. Thread-safe.
 */
final class ShellConfiguration extends Configuration {
  private final Set<String> incomplete = new LinkedHashSet<>();

  /** Notes a listing that lacks a part. */
  void note(IncompleteException listing) {
    synchronized (incomplete) {
      incomplete.add(listing.getMessage());
    }
  }

  /** What was noted, each once. */
  List<String> incomplete() {
    synchronized (incomplete) {
      return List.copyOf(incomplete);
    }
  }
}
