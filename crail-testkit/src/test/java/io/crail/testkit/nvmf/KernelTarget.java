/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.testkit.rdma.RdmaHost;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The target of the test machine's kernel, as bin/rdma-vm makes it. */
public final class KernelTarget {
  /** The name of its subsystem. */
  public static final String NQN = "nqn.2026-11.io.crail:memory";

  /** An emulated machine may pause for seconds. */
  public static final String KEEP_ALIVE = "30s";

  static final Path TARGETS = Path.of("/sys/kernel/config/nvmet");

  private static final int RDMA_PORT = 4420;
  private static final int TCP_PORT = 4421;

  private KernelTarget() {}

  static int port(NvmeTransport transport) {
    return transport == NvmeTransport.RDMA ? RDMA_PORT : TCP_PORT;
  }

  static Path subsystems(NvmeTransport transport) {
    return TARGETS.resolve("ports/" + port(transport) + "/subsystems");
  }

  /**
   * Sees that it listens. The kernel's target ends that for good when its device is removed, as
   * other tests do, until its port has no subsystem any more and gets one.
   */
  public static void listen() throws IOException {
    Path port = subsystems(NvmeTransport.RDMA);
    try (Stream<Path> present = Files.list(port)) {
      if (present.count() > 1) {
        // A test that is running has made it listen.
        return;
      }
    }
    Files.deleteIfExists(port.resolve(NQN));
    Files.createSymbolicLink(port.resolve(NQN), TARGETS.resolve("subsystems").resolve(NQN));
  }

  /** One of its namespaces, as a datanode's configuration names it. */
  public static String text(NvmeTransport transport, int namespace) {
    return text(transport, NQN) + "#" + namespace;
  }

  static String text(NvmeTransport transport, String nqn) {
    return transport + "://" + RdmaHost.SERVER + ":" + port(transport) + "/" + nqn;
  }

  static Subsystem subsystem(NvmeTransport transport, String nqn) {
    return new Subsystem(
        transport,
        new InetSocketAddress(RdmaHost.SERVER, port(transport)),
        nqn,
        TestHost.Start.HOST);
  }
}
