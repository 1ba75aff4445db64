/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A device as one user has opened it: its protection domain, and what is registered there. An id of
 * its own keeps the context, which the connection manager closes when the device was removed and no
 * id is left. Thread-safe.
 */
public final class RdmaDevice {
  private static final int ENOMEM = 12;
  private static final int EBUSY = 16;

  private final String name;
  private final long context;
  private final Device limits;
  private final String mtuWarning;
  private final long channel;
  private final long id;
  private final long pd;

  private final long entry;
  private volatile boolean removed;

  /**
   * Opens a device.
   *
   * @param entry from {@link Verbs#entryOf}
   * @param local an address of the device; the port does not matter
   */
  RdmaDevice(String name, long context, long entry, InetSocketAddress local) throws IOException {
    this.name = name;
    this.context = context;
    this.entry = entry;
    this.channel = Verbs.createEventChannel();
    long boundId = 0;
    long allocated = 0;
    Device read;
    PortCheck port;
    try {
      boundId = bind(channel, context, local);
      read = Verbs.device(name);
      port = new PortCheck(read, Verbs.devicePortOf(boundId), local.getAddress());
      port.checkGid();
      allocated = Verbs.allocPd(context);
    } finally {
      if (allocated == 0) {
        if (boundId != 0) {
          Verbs.destroyId(boundId);
        }
        Verbs.destroyEventChannel(channel);
      }
    }
    this.id = boundId;
    this.limits = read;
    this.mtuWarning = port.mtuWarning();
    this.pd = allocated;
  }

  private static long bind(long channel, long context, InetSocketAddress local) throws IOException {
    long id = Verbs.createId(channel);
    try {
      Verbs.bind(id, new InetSocketAddress(local.getAddress(), 0));
      if (Verbs.context(id) != context) {
        throw new RdmaException("another device has " + local.getAddress().getHostAddress());
      }
    } catch (IOException e) {
      Verbs.destroyId(id);
      throw e;
    }
    return id;
  }

  /** Such as "mlx5_0". */
  public String name() {
    return name;
  }

  /** What the device can do. */
  public Device limits() {
    return limits;
  }

  /** What is wrong with the size of its packets, or nothing. */
  public String mtuWarning() {
    return mtuWarning;
  }

  /** The handle of the device's context. */
  public long context() {
    return context;
  }

  /** The handle of the protection domain. */
  public long pd() {
    return pd;
  }

  /**
   * Registers memory, which must stay where it is until the registration is closed.
   *
   * @param access sum of {@code Layouts.ACCESS_...}
   * @throws RdmaException when the device refuses; names the limit of locked memory when that is
   *     the reason
   */
  public RegisteredMemory register(long address, long lengthBytes, int access)
      throws RdmaException {
    try {
      return new RegisteredMemory(
          this, Verbs.regMr(pd, address, lengthBytes, access), address, lengthBytes);
    } catch (VerbsException e) {
      throw new RdmaException(refusal(lengthBytes, e), e);
    }
  }

  /** Registers all of a direct buffer, whatever its position. */
  public RegisteredMemory register(ByteBuffer direct, int access) throws RdmaException {
    return register(Verbs.addressOf(direct), direct.capacity(), access);
  }

  private String refusal(long lengthBytes, VerbsException cause) {
    String what = "cannot register " + lengthBytes + " bytes with " + name + ": ";
    long limit = Verbs.memlockLimitBytes();
    return cause.errno() == ENOMEM && limit != Long.MAX_VALUE
        ? what
            + "this process may lock "
            + limit
            + " bytes of memory; raise its limit (ulimit -l, or LimitMEMLOCK of a service)"
        : what + cause.getMessage();
  }

  /** True when the device is there no more; what is left of it should be released then. */
  public boolean isRemoved() {
    return removed || !Verbs.isPresent(context, entry);
  }

  /** Somebody was told that it was removed. */
  void setRemoved() {
    removed = true;
  }

  static RdmaException removed(String name) {
    return new RdmaException("device " + name + " was removed");
  }

  /** Closes it; the context stays when something of it is still in use. */
  void close() throws VerbsException {
    boolean used = false;
    try {
      Verbs.deallocPd(pd);
    } catch (VerbsException e) {
      used = e.errno() == EBUSY;
      throw e;
    } finally {
      if (!used) {
        // With the last id goes the context, and with it the memory under whoever still uses it.
        destroyId();
      }
    }
  }

  private void destroyId() throws VerbsException {
    try {
      Verbs.destroyId(id);
    } finally {
      Verbs.destroyEventChannel(channel);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
