/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.error.CrailException;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
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
  private final ClientLogin login;

  /** The datanode sends nothing after its answer. What comes all the same is ignored. */
  private final ByteBuffer ignored = ByteBuffer.allocateDirect(16);

  /** The answer to the login; null once it has come. */
  private LocalHello.Arriving<LocalHello.Response> answer =
      new LocalHello.Arriving<>(LocalHello.Response.CODEC);

  private volatile CrailException refusal;

  private Lifeline(SocketChannel connection, ClientLogin login) {
    this.connection = connection;
    this.login = login;
  }

  /**
   * Connects to the datanode of a directory.
   *
   * @param client as whom this process logs in
   * @throws java.net.ConnectException when the datanode has ended
   * @throws IOException when it takes no more connections, or none of this process
   */
  static Lifeline open(Path directory, LocalClient client) throws IOException {
    ClientLogin login = new ClientLogin(client.credentials(), Claim.ofClient(client.id()));
    return new Lifeline(
        LocalWriters.connect(directory, LocalWriters.NO_OWNER, client.id(), login), login);
  }

  /** False once the datanode has ended, or this was closed. A system call that does not wait. */
  synchronized boolean holds() {
    try {
      // Behind the answer may be the end, which this look has to notice.
      return (answer == null || readAnswer() >= 0)
          && (answer != null || connection.read(ignored.clear()) >= 0);
    } catch (IOException e) {
      // It has ended without reading all that was sent.
      return false;
    }
  }

  private int readAnswer() throws IOException {
    int count;
    do {
      count = connection.read(answer.rest());
    } while (count > 0 && answer.rest().hasRemaining());
    if (!answer.rest().hasRemaining()) {
      try {
        answer.message().checkFor(login);
      } catch (CrailException e) {
        refusal = e;
      }
      answer = null;
    }
    return count;
  }

  /** Why the datanode has refused the login; null when it has not, or has not answered yet. */
  CrailException refusal() {
    return refusal;
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
