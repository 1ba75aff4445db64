/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.common.error.IncompleteException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * The configuration of a run of the shell. It also collects the missing parts of listings, since
 * Hadoop passes only a configuration to a file system. Thread-safe.
 */
final class ShellConfiguration extends Configuration {
  private final Set<String> incomplete = new LinkedHashSet<>();
  private final int namenodes;

  ShellConfiguration(int namenodes) {
    this.namenodes = namenodes;
  }

  /** The number of namenodes of the cluster. */
  int namenodes() {
    return namenodes;
  }

  /** Notes a listing that lacks a part. */
  void note(IncompleteException listing) {
    synchronized (incomplete) {
      incomplete.add(listing.getMessage());
    }
  }

  /** The noted listings, each once. */
  List<String> incomplete() {
    synchronized (incomplete) {
      return List.copyOf(incomplete);
    }
  }
}
