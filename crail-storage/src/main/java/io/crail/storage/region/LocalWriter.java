/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a writer to the regions of a datanode on its host. It has slots in the {@link
 * HazardTable}, as many as threads write at a time, and a connection by which the datanode knows
 * whether this process lives. The connection is closed only when no write is under way any more,
 * since after that the datanode reuses the slots. Thread-safe. A write takes no lock and allocates
 * nothing once there are slots.
 */
public final class LocalWriter implements AutoCloseable {
  private static final Hazard[] NONE = {};
  private static final Logger LOG = LoggerFactory.getLogger(LocalWriter.class);

  private final HazardTable hazards;
  private final SocketChannel connection;
  private final ServerSocketChannel signOfLife;
  private final long owner;
  private volatile Hazard[] slots = NONE;
  private volatile boolean closed;
  private boolean released;

  private LocalWriter(
      HazardTable hazards, SocketChannel connection, ServerSocketChannel signOfLife, long owner) {
    this.hazards = hazards;
    this.connection = connection;
    this.signOfLife = signOfLife;
    this.owner = owner;
  }

  /**
   * Makes this process known to the datanode of a directory.
   *
   * @param client as whom this process logs in
   * @throws IOException when the datanode takes no more writers, or has ended
   */
  static LocalWriter open(Path directory, HazardTable hazards, LocalClient client)
      throws IOException {
    long owner;
    do {
      owner = ThreadLocalRandom.current().nextLong();
    } while (owner == 0);
    ClientLogin login = new ClientLogin(client.credentials(), Claim.ofClient(client.id()));
    // Before the datanode knows this writer, so that it is never without a sign of life.
    ServerSocketChannel signOfLife = signOfLife(directory, owner);
    SocketChannel connection = null;
    try {
      connection = LocalWriters.connect(directory, owner, client.id(), login);
    } finally {
      if (connection == null && signOfLife != null) {
        end(signOfLife);
      }
    }
    LocalWriter writer = new LocalWriter(hazards, connection, signOfLife, owner);
    if (writer.grow(NONE) == null) {
      writer.close();
      throw new IOException(HazardTable.SLOTS + " writes are under way in " + directory);
    }
    return writer;
  }

  /**
   * A socket by which the next process of a datanode that keeps its bytes sees whether this process
   * lives; null where it keeps none.
   */
  private static ServerSocketChannel signOfLife(Path directory, long owner) throws IOException {
    try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
      if (!files.contains(KeptFile.FILE)) {
        return null;
      }
    }
    ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    boolean listens = false;
    try {
      socket.bind(UnixDomainSocketAddress.of(LocalWriters.fileOf(directory, owner)));
      listens = true;
      return socket;
    } finally {
      if (!listens) {
        socket.close();
      }
    }
  }

  private static void end(ServerSocketChannel signOfLife) throws IOException {
    UnixDomainSocketAddress address = (UnixDomainSocketAddress) signOfLife.getLocalAddress();
    signOfLife.close();
    Files.deleteIfExists(address.getPath());
  }

  /**
   * Announces a write. Waits while all slots of the host are in use; other writers leave a slot
   * within the time of a copy.
   *
   * @return the slot to be retracted, with {@link #retract}; null when this was closed
   */
  public Hazard announce(int region, int offset, int length, long generation) {
    int at = (int) Thread.currentThread().getId();
    while (!closed) {
      Hazard[] present = slots;
      for (int i = 0; i < present.length; i++) {
        Hazard hazard = present[Math.floorMod(at + i, present.length)];
        if (hazard.announce(region, offset, length, generation)) {
          if (!closed) {
            return hazard;
          }
          hazard.retract();
          release();
          return null;
        }
      }
      if (grow(present) == null) {
        Thread.onSpinWait();
      }
    }
    return null;
  }

  /** True once the datanode forbids the writes that this announces. Called after announcing. */
  public boolean isRevoked() {
    return slots[0].isRevoked();
  }

  /** Ends this, once it was closed and the last write has ended. */
  public void ended() {
    if (closed) {
      release();
    }
  }

  /** Claims one slot more; null when none is free. */
  private synchronized Hazard[] grow(Hazard[] known) {
    if (closed || slots.length > known.length) {
      return slots;
    }
    Hazard hazard = hazards.claim(owner);
    if (hazard == null) {
      return null;
    }
    Hazard[] grown = Arrays.copyOf(slots, slots.length + 1);
    grown[known.length] = hazard;
    slots = grown;
    return grown;
  }

  /** Announces no more writes; ends when no write is announced. */
  @Override
  public void close() {
    closed = true;
    release();
  }

  private synchronized void release() {
    if (released) {
      return;
    }
    for (Hazard hazard : slots) {
      if (!hazard.retire()) {
        return;
      }
    }
    released = true;
    for (Hazard hazard : slots) {
      hazard.release();
    }
    try {
      connection.close();
      if (signOfLife != null) {
        end(signOfLife);
      }
    } catch (IOException e) {
      LOG.warn("cannot close the connection to a datanode of this host", e);
    }
  }
}
