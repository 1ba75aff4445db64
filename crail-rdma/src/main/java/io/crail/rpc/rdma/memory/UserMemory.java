/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma.memory;

import io.crail.rpc.loop.Sweepable;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.verbs.Layouts;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The users' memory that is registered with each device of a loop. Closed by its owner after all
 * connections that use it. Used only in the loop.
 */
public final class UserMemory implements Sweepable, RdmaLoop.DeviceUser {
  /** Who reads and writes the memory. */
  public enum Access {
    /** The device, for requests of this process. */
    OWN(0, Layouts.ACCESS_LOCAL_WRITE),
    /** Peers as well, who get the key. */
    PEERS(
        Layouts.ACCESS_REMOTE_READ,
        Layouts.ACCESS_REMOTE_READ | Layouts.ACCESS_REMOTE_WRITE | Layouts.ACCESS_LOCAL_WRITE);

    private final int readOnly;
    private final int writable;

    Access(int readOnly, int writable) {
      this.readOnly = readOnly;
      this.writable = writable;
    }
  }

  private final RdmaLoop rdma;
  private final Access access;
  private final long limitBytes;
  private final String limitName;
  private final Map<RdmaDevice, RegistrationCache> caches = new IdentityHashMap<>();
  private boolean closed;

  /**
   * Creates an empty set.
   *
   * @param limitBytes most bytes that are registered with each device
   * @param limitName the key of that limit, for messages
   */
  public UserMemory(RdmaLoop rdma, Access access, long limitBytes, String limitName) {
    this.rdma = rdma;
    this.access = access;
    this.limitBytes = limitBytes;
    this.limitName = limitName;
    rdma.loop().register(this);
    rdma.register(this);
  }

  /** What is registered with a device. */
  public RegistrationCache of(RdmaDevice device) {
    if (closed) {
      throw new IllegalStateException("closed");
    }
    return caches.computeIfAbsent(
        device,
        key ->
            new RegistrationCache(
                new DeviceRegistrar(key, access.readOnly, access.writable), limitBytes, limitName));
  }

  @Override
  public void sweep(long nowNanos) {
    for (RegistrationCache each : caches.values()) {
      each.releaseCollected();
    }
  }

  @Override
  public void deviceRemoved(RdmaDevice device) {
    RegistrationCache known = caches.remove(device);
    if (known != null) {
      known.close();
    }
  }

  @Override
  public void loopClosing() {
    // The owner's connections may still use it.
  }

  /** Ends all registrations. None may be in use any more. Further calls do nothing. */
  public void close() {
    closed = true;
    caches.values().forEach(RegistrationCache::close);
    caches.clear();
    rdma.loop().unregister(this);
    rdma.unregister(this);
  }
}
