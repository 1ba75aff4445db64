/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.error.CrailException;
import io.crail.protocol.cluster.Examine;

/**
 * Puts the findings of a file together: a large one may have several, one after the other. Used by
 * one thread.
 */
final class FileFindings {
  /** Takes files. */
  interface Visitor {
    /**
     * Takes a file.
     *
     * @param finding the worst one of the file
     * @param bytes bytes of all its findings
     */
    void visit(Examine.Finding finding, long bytes) throws CrailException, InterruptedException;
  }

  private final Visitor visitor;
  private Examine.Finding last;
  private long bytes;

  FileFindings(Visitor visitor) {
    this.visitor = visitor;
  }

  /** Adds the next finding. */
  void add(Examine.Finding finding) throws CrailException, InterruptedException {
    if (last == null || last.id() != finding.id()) {
      end();
      last = finding;
    } else if (finding.kind() < last.kind()) {
      last = finding;
    }
    bytes += finding.bytes();
  }

  /** Hands on the last file. */
  void end() throws CrailException, InterruptedException {
    Examine.Finding ended = last;
    long all = bytes;
    last = null;
    bytes = 0;
    if (ended != null) {
      visitor.visit(ended, all);
    }
  }
}
