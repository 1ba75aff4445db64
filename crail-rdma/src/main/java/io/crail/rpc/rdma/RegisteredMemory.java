/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Memory that a device may read and write. Thread-safe; closed when nothing of it is in use. */
public final class RegisteredMemory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);

  private final RdmaDevice device;
  private final long handle;
  private final long address;
  private final long length;
  private final int lkey;
  private final int rkey;
  private final AtomicBoolean closed = new AtomicBoolean();

  RegisteredMemory(RdmaDevice device, long handle, long address, long length) {
    this.device = device;
    this.handle = handle;
    this.address = address;
    this.length = length;
    this.lkey = Verbs.lkey(handle);
    this.rkey = Verbs.rkey(handle);
  }

  /** The device that it is registered with. */
  public RdmaDevice device() {
    return device;
  }

  /** Where it begins. */
  public long address() {
    return address;
  }

  /** Its bytes. */
  public long length() {
    return length;
  }

  /** The key for elements of requests; never told to a peer. */
  public int lkey() {
    return lkey;
  }

  /** The key that peers need. */
  public int rkey() {
    return rkey;
  }

  /** Ends the registration; once is enough. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        Verbs.deregMr(handle);
      } catch (VerbsException e) {
        LOG.warn("a registration of {} bytes with {} stays: {}", length, device, e.getMessage());
      }
    }
  }
}
