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
  private final UserMemory.Access access;

  DeviceRegistrar(RdmaDevice device, UserMemory.Access access) {
    this.device = device;
    this.access = access;
  }

  @Override
  public long address(ByteBuffer memory) {
    return Verbs.addressOf(memory);
  }

  @Override
  public RegistrationCache.Registered register(long address, long lengthBytes, boolean writable)
      throws IOException {
    RegisteredMemory memory = device.register(address, lengthBytes, access.rights(writable));
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
