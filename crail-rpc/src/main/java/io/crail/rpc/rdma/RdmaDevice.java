/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.nio.ByteBuffer;

/**
 * A device as one user has opened it: its protection domain, and what is registered there.
 * Thread-safe.
 */
public final class RdmaDevice {
  private static final int ENOMEM = 12;

  private final String name;
  private final long context;
  private final Device limits;
  private final long pd;

  RdmaDevice(String name, long context) throws VerbsException {
    this.name = name;
    this.context = context;
    this.limits = Verbs.device(name);
    this.pd = Verbs.allocPd(context);
  }

  /** Such as "mlx5_0". */
  public String name() {
    return name;
  }

  /** What the device can do. */
  public Device limits() {
    return limits;
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

  void close() throws VerbsException {
    Verbs.deallocPd(pd);
  }

  @Override
  public String toString() {
    return name;
  }
}
