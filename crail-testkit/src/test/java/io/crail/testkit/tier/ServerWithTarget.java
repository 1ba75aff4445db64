/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.storage.StorageServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** A datanode on flash and its target, which ends after it. */
final class ServerWithTarget implements StorageServer {
  /** Ends a target. */
  interface Target {
    void close() throws IOException;
  }

  private final StorageServer server;
  private final Target target;

  ServerWithTarget(StorageServer server, Target target) {
    this.server = server;
    this.target = target;
  }

  @Override
  public void start(UUID uuid) throws IOException {
    server.start(uuid);
  }

  @Override
  public InetSocketAddress address() {
    return server.address();
  }

  @Override
  public List<Region> regions() {
    return server.regions();
  }

  @Override
  public TierTraits traits() {
    return server.traits();
  }

  @Override
  public Optional<String> failure() {
    return server.failure();
  }

  @Override
  public Map<String, Boolean> targets() {
    return server.targets();
  }

  @Override
  public boolean wasLent(int region) {
    return server.wasLent(region);
  }

  @Override
  public Fence fence(int region) throws IOException {
    return server.fence(region);
  }

  @Override
  public void close() {
    server.close();
    try {
      target.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
