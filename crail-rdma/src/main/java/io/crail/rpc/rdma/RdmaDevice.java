/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A device that one user has opened: its protection domain and its registered memory. It has its
 * own id, since the connection manager closes the context of a removed device with the last id.
 * Thread-safe.
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

  /** The name, such as "mlx5_0". */
  public String name() {
    return name;
  }

  /** The properties of the device. */
  public Device limits() {
    return limits;
  }

  /** A warning about the size of its packets; empty when there is none. */
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
   * Registers memory. The memory must stay at its address until the registration is closed.
   *
   * @param access sum of {@code Layouts.ACCESS_...}
   * @throws RdmaException when the device refuses; it names the limit of locked memory if that is
   *     the reason
   */
  public RegisteredMemory register(long address, long lengthBytes, int access)
      throws RdmaException {
    try {
      return new RegisteredMemory(
          name, Verbs.regMr(pd, address, lengthBytes, access), address, lengthBytes);
    } catch (VerbsException e) {
      throw new RdmaException(refusal(lengthBytes, e), e);
    }
  }

  /** Registers all bytes of a direct buffer, whatever its position. */
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

  /** True when the device is gone. Then its remaining resources should be released. */
  public boolean isRemoved() {
    return removed || !Verbs.isPresent(context, entry);
  }

  /** Called when a removal of the device was reported. */
  void setRemoved() {
    removed = true;
  }

  static RdmaException removed(String name) {
    return new RdmaException("device " + name + " was removed");
  }

  /** Closes the device. The context stays while a resource of it is in use. */
  void close() throws VerbsException {
    boolean used = false;
    try {
      Verbs.deallocPd(pd);
    } catch (VerbsException e) {
      used = e.errno() == EBUSY;
      throw e;
    } finally {
      if (!used) {
        // The context is closed with the last id, and then its users would access freed memory.
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
