/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.nvmf.NvmeTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A subsystem of the test machine's kernel with one namespace in memory, at the ports that
 * bin/rdma-vm has made. As root.
 */
public final class KernelSubsystem implements AutoCloseable {
  static final Path DISKS = Path.of("/sys/kernel/config/nullb");
  private static final String TIMER = "2";
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final String name = "test" + ProcessHandle.current().pid() + "-" + NEXT.getAndIncrement();
  private final Path subsystem = KernelTarget.TARGETS.resolve("subsystems").resolve(nqn());
  private final int count;

  /**
   * Creates a subsystem, which hosts can connect to at once.
   *
   * @param bytes of each namespace, rounded up to whole MiB
   * @param blockLengths bytes of a block of each namespace, 512 or 4096
   */
  public KernelSubsystem(long bytes, int... blockLengths) throws IOException {
    this(Duration.ZERO, bytes, blockLengths);
  }

  /**
   * Creates one whose devices are slow.
   *
   * @param latency how long each command takes
   */
  KernelSubsystem(Duration latency, long bytes, int... blockLengths) throws IOException {
    count = blockLengths.length;
    try {
      create(latency, bytes, blockLengths);
    } catch (IOException e) {
      try {
        close();
      } catch (IOException another) {
        e.addSuppressed(another);
      }
      throw e;
    }
  }

  private void create(Duration latency, long bytes, int... blockLengths) throws IOException {
    Files.createDirectory(subsystem);
    write(subsystem, "attr_allow_any_host", "1");
    for (int number = 1; number <= count; number++) {
      createDisk(disk(number), blockLengths[number - 1], bytes, latency);
      Path namespace = namespace(number);
      Files.createDirectory(namespace);
      write(namespace, "device_path", "/dev/" + disk(number).getFileName());
      write(namespace, "enable", "1");
    }
    KernelTarget.listen();
    up();
  }

  private static void createDisk(Path disk, int blockLength, long bytes, Duration latency)
      throws IOException {
    Files.createDirectory(disk);
    if (!latency.isZero()) {
      write(disk, "irqmode", TIMER);
      write(disk, "completion_nsec", String.valueOf(latency.toNanos()));
    }
    write(disk, "memory_backed", "1");
    write(disk, "blocksize", String.valueOf(blockLength));
    write(disk, "size", String.valueOf((bytes + (1 << 20) - 1) >> 20));
    write(disk, "power", "1");
  }

  private Path disk(int number) {
    return DISKS.resolve(name + "-" + number);
  }

  private Path namespace(int number) {
    return subsystem.resolve("namespaces/" + number);
  }

  private static void write(Path directory, String attribute, String value) throws IOException {
    Files.writeString(directory.resolve(attribute), value);
  }

  String nqn() {
    return "nqn.2026-11.io.crail:" + name;
  }

  /** All of it, as a datanode's configuration names it. */
  public String text(NvmeTransport transport) {
    return KernelTarget.text(transport, nqn());
  }

  private Path link(NvmeTransport transport) {
    return KernelTarget.subsystems(transport).resolve(nqn());
  }

  /** Lets hosts connect. */
  public void up() throws IOException {
    for (NvmeTransport transport : NvmeTransport.values()) {
      Files.createSymbolicLink(link(transport), subsystem);
    }
  }

  /** Ends all connections, and refuses others. */
  public void down() throws IOException {
    for (NvmeTransport transport : NvmeTransport.values()) {
      Files.deleteIfExists(link(transport));
    }
  }

  @Override
  public void close() throws IOException {
    down();
    // Some are missing after a start that failed, all of them after a close.
    for (int number = 1; number <= count; number++) {
      if (Files.exists(namespace(number))) {
        write(namespace(number), "enable", "0");
        Files.delete(namespace(number));
      }
    }
    Files.deleteIfExists(subsystem);
    for (int number = 1; number <= count; number++) {
      if (Files.exists(disk(number))) {
        write(disk(number), "power", "0");
        Files.delete(disk(number));
      }
    }
  }
}
