/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Memory that a device may read and write. Thread-safe. Closed when no operation uses it. */
public final class RegisteredMemory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);

  private final String device;
  private final long handle;
  private final long address;
  private final long length;
  private final int lkey;
  private final int rkey;
  private final AtomicBoolean closed = new AtomicBoolean();

  RegisteredMemory(String device, long handle, long address, long length) {
    this.device = device;
    this.handle = handle;
    this.address = address;
    this.length = length;
    this.lkey = Verbs.lkey(handle);
    this.rkey = Verbs.rkey(handle);
  }

  /** The address of its first byte. */
  public long address() {
    return address;
  }

  /** The length in bytes. */
  public long length() {
    return length;
  }

  /** The key for elements of requests. Never given to a peer. */
  public int lkey() {
    return lkey;
  }

  /** The key that peers need. */
  public int rkey() {
    return rkey;
  }

  /** Ends the registration. Further calls do nothing. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        Verbs.deregMr(handle);
      } catch (VerbsException e) {
        LOG.warn(
            "cannot end the registration of {} bytes with {}: {}", length, device, e.getMessage());
      }
    }
  }
}
