/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection by which a process that maps a datanode's regions knows whether the datanode lives.
 * The mapping outlives the datanode's process and shows nothing. The kernel ends the connection
 * with the last thread of that process, however it ends, and not while the process is only stopped.
 *
 * <p>Thread-safe.
 */
final class Lifeline implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Lifeline.class);

  private final SocketChannel connection;

  /** The datanode sends nothing. What comes all the same is ignored. */
  private final ByteBuffer ignored = ByteBuffer.allocateDirect(16);

  private Lifeline(SocketChannel connection) {
    this.connection = connection;
  }

  /**
   * Connects to the datanode of a directory.
   *
   * @param client identity of the client, as known to namenodes
   * @throws java.net.ConnectException when the datanode has ended
   * @throws IOException when it takes no more connections, or none of this process
   */
  static Lifeline open(Path directory, long client) throws IOException {
    return new Lifeline(LocalWriters.connect(directory, LocalWriters.NO_OWNER, client));
  }

  /** False once the datanode has ended, or this was closed. A system call that does not wait. */
  synchronized boolean holds() {
    try {
      return connection.read(ignored.clear()) >= 0;
    } catch (IOException e) {
      // It has ended without reading all that was sent.
      return false;
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (IOException e) {
      LOG.warn("cannot close the connection to a datanode of this host", e);
    }
  }
}
