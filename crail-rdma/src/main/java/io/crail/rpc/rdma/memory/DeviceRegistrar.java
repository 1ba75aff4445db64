/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma.memory;

import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Registers users' memory with a device. */
final class DeviceRegistrar implements RegistrationCache.Registrar {
  private static final int ENOMEM = 12;

  private final RdmaDevice device;
  private final int readOnly;
  private final int writable;

  /**
   * Creates a registrar.
   *
   * @param readOnly the rights to memory that is only read, a sum of {@code Layouts.ACCESS_...}
   * @param writable the rights to other memory
   */
  DeviceRegistrar(RdmaDevice device, int readOnly, int writable) {
    this.device = device;
    this.readOnly = readOnly;
    this.writable = writable;
  }

  @Override
  public long address(ByteBuffer memory) {
    return Verbs.addressOf(memory);
  }

  @Override
  public RegistrationCache.Registered register(long address, long lengthBytes, boolean mayWrite)
      throws IOException {
    int rights = mayWrite ? writable : readOnly;
    RegisteredMemory memory = device.register(address, lengthBytes, rights);
    return new RegistrationCache.Registered() {
      @Override
      public int lkey() {
        return memory.lkey();
      }

      @Override
      public int rkey() {
        return memory.rkey();
      }

      @Override
      public void close() {
        memory.close();
      }
    };
  }

  @Override
  public boolean isShortage(IOException failure) {
    return failure.getCause() instanceof VerbsException cause && cause.errno() == ENOMEM;
  }
}
