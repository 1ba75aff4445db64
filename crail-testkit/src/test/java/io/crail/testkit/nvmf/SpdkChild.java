/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.common.config.Configuration;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.spdk.SpdkKeys;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A process that uses SPDK, for what concerns the whole of a process. */
final class SpdkChild {
  /** What {@link #readBadMapping} prints when it learns of the bad access. */
  static final String TOLD = "the JVM tells of the bad access";

  private static final int LENGTH = 1 << 20;
  private static final int CONNECTS = 8;

  /** For the thread that has connected to come to wait for an answer. */
  private static final long MOMENT_MILLIS = 50;

  private SpdkChild() {}

  /** The least memory that SPDK may be given, in MiB. */
  static final int MEMORY = 32;

  /** The deepest queue that SPDK has, less one entry. */
  static final int DEEPEST = 4095;

  /** Takes what to do, and the name of a file or the port of a target for it. */
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "mapping":
        readBadMapping(args[1]);
        break;
      case "memory":
        fillMemory(Integer.parseInt(args[1]));
        break;
      case "leave":
        leaveWhileConnecting();
        break;
      default:
        startTwice();
        break;
    }
  }

  /** Reads a mapped file that has become shorter. */
  private static void readBadMapping(String name) throws Exception {
    ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    closed.close();
    System.out.println(problem(closed, Configuration.builder().build()));
    try (RandomAccessFile file = new RandomAccessFile(name, "rw")) {
      file.setLength(LENGTH);
      MappedByteBuffer mapped = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, LENGTH);
      file.setLength(0);
      System.out.println(mapped.get(LENGTH / 2));
    } catch (InternalError e) {
      System.out.println(TOLD);
    }
  }

  /**
   * The process ends while threads of it wait in SPDK. There are many of them, and much memory, so
   * that one of them would notice that the memory is taken away.
   */
  private static void leaveWhileConnecting() throws Exception {
    ServerSocket silent = new ServerSocket(0, CONNECTS, InetAddress.getLoopbackAddress());
    Configuration configuration = Configuration.builder().set(SpdkKeys.MEMORY, 256).build();
    for (int i = 0; i < CONNECTS; i++) {
      new TestHost(start(silent), configuration);
    }
    for (int i = 0; i < CONNECTS; i++) {
      silent.accept();
    }
    Thread.sleep(MOMENT_MILLIS);
  }

  /** Connects until there is no memory, and prints why that failed and what is taken. */
  private static void fillMemory(int port) throws Exception {
    InetSocketAddress target = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    Configuration configuration = Configuration.builder().set(SpdkKeys.MEMORY, MEMORY).build();
    TestHost.Start start =
        start(target, new TargetOptions().nqn)
            .limits(TestHost.Start.limits(DEEPEST, 10_000, 10_000));
    try {
      while (true) {
        new TestHost(start, configuration).controller();
        System.out.println("connected");
      }
    } catch (TestHost.Lost e) {
      System.out.println(e.getMessage());
    }
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      lines.filter(line -> line.startsWith("RssShmem:")).forEach(System.out::println);
    }
    System.exit(0);
  }

  /** Prints why SPDK does not start with more memory than any machine has, and then with less. */
  private static void startTwice() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      for (int memory : new int[] {65_536, 64}) {
        System.out.println(
            problem(
                silent,
                Configuration.builder()
                    .set(SpdkKeys.MEMORY, memory)
                    .set(SpdkKeys.NO_HUGE, memory == 64)
                    .build()));
      }
    }
  }

  private static String problem(ServerSocket server, Configuration configuration) {
    try (TestHost host = new TestHost(start(server), configuration)) {
      host.controller();
      return "connected";
    } catch (Exception e) {
      return e.getMessage();
    }
  }

  private static TestHost.Start start(ServerSocket server) {
    return start((InetSocketAddress) server.getLocalSocketAddress(), "nqn.silent");
  }

  private static TestHost.Start start(InetSocketAddress address, String nqn) {
    return TestHost.Start.at(new Subsystem(NvmeTransport.TCP, address, nqn, TestHost.Start.HOST))
        .initiator(TestInitiators.SPDK);
  }
}
