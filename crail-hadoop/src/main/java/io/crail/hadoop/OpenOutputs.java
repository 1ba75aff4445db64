/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams that write to the files of a store. They are closed before the store, as in HDFS.
 * Thread-safe.
 */
final class OpenOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(OpenOutputs.class);

  private final Set<Closeable> open = ConcurrentHashMap.newKeySet();

  void add(Closeable output) {
    open.add(output);
  }

  void remove(Closeable output) {
    open.remove(output);
  }

  /**
   * Completes the files that are being written, and then closes {@code later}. Does all of it, even
   * after a failure.
   *
   * @throws IOException the first failure, with the later ones suppressed in it
   */
  void closeBefore(List<Closeable> later) throws IOException {
    List<Closeable> ends = new ArrayList<>();
    open.forEach(output -> ends.add(() -> complete(output)));
    ends.addAll(later);
    closeAll(ends);
  }

  /** Closes a stream. A file that is gone has nothing to complete, so its error does not count. */
  private static void complete(Closeable output) throws IOException {
    try {
      output.close();
    } catch (FileNotFoundException e) {
      LOG.warn("a file was removed while it was written: {}", e.getMessage());
    }
  }

  private static void closeAll(List<Closeable> ends) throws IOException {
    Exception failure = null;
    for (Closeable end : ends) {
      try {
        end.close();
      } catch (IOException | RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    }
    if (failure != null) {
      throw (IOException) failure;
    }
  }
}
