/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Layouts;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;

/** What the connections of one thread share. Used by one thread at a time. */
final class Workspace {
  private final DarpcSettings settings;
  private final WorkRequests requests;
  private final Map<RdmaDevice, SendChunk.Pool> pools = new IdentityHashMap<>();
  private boolean closed;

  Workspace(DarpcSettings settings) {
    this.settings = settings;
    this.requests = new WorkRequests(settings.sends(), settings.receives());
  }

  DarpcSettings settings() {
    return settings;
  }

  /** Where chains of requests are laid out. */
  WorkRequests requests() {
    return requests;
  }

  /** The output memory of a device. */
  SendChunk.Pool pool(RdmaDevice device) {
    SendChunk.Pool pool = pools.get(device);
    if (pool == null) {
      pool = new SendChunk.Pool(() -> newChunk(device));
      if (closed) {
        pool.close();
      }
      pools.put(device, pool);
    }
    return pool;
  }

  private static SendChunk newChunk(RdmaDevice device) throws RdmaException {
    ByteBuffer memory = allocate(SendChunk.CAPACITY);
    // The device does not write into this memory, but regions without the right to write differ
    // between devices.
    RegisteredMemory region = device.register(memory, Layouts.ACCESS_LOCAL_WRITE);
    return new SendChunk(memory, region.address(), region.lkey(), region::close);
  }

  /** Direct memory. */
  static ByteBuffer allocate(int bytes) throws RdmaException {
    try {
      return ByteBuffer.allocateDirect(bytes);
    } catch (OutOfMemoryError e) {
      throw new RdmaException("no memory for its buffers: " + e.getMessage(), e);
    }
  }

  /** Releases the idle memory of a device now, and the rest when its connections end. */
  void release(RdmaDevice device) {
    SendChunk.Pool pool = pools.remove(device);
    if (pool != null) {
      pool.close();
    }
  }

  /** Releases the idle memory now, and the rest when its connections end. */
  void close() {
    closed = true;
    pools.values().forEach(SendChunk.Pool::close);
  }
}
