/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.nvmf.NvmeTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A subsystem of the test machine's kernel with one namespace in memory, at the ports that
 * bin/rdma-vm has made. As root.
 */
public final class KernelSubsystem implements AutoCloseable {
  private static final Path DISKS = Path.of("/sys/kernel/config/nullb");
  private static final String TIMER = "2";
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final String name = "test" + ProcessHandle.current().pid() + "-" + NEXT.getAndIncrement();
  private final Path disk = DISKS.resolve(name);
  private final Path subsystem = KernelTarget.TARGETS.resolve("subsystems").resolve(nqn());
  private final Path namespace = subsystem.resolve("namespaces/1");

  /**
   * Creates a subsystem, which hosts can connect to at once.
   *
   * @param blockLength bytes of a block, 512 or 4096
   * @param bytes of the namespace, rounded up to whole MiB
   */
  public KernelSubsystem(int blockLength, long bytes) throws IOException {
    this(blockLength, bytes, 0);
  }

  /**
   * Creates one whose device is slow.
   *
   * @param millis how long each command takes
   */
  KernelSubsystem(int blockLength, long bytes, int millis) throws IOException {
    Files.createDirectory(disk);
    if (millis > 0) {
      write(disk, "irqmode", TIMER);
      write(disk, "completion_nsec", String.valueOf(millis * 1_000_000L));
    }
    write(disk, "memory_backed", "1");
    write(disk, "blocksize", String.valueOf(blockLength));
    write(disk, "size", String.valueOf((bytes + (1 << 20) - 1) >> 20));
    write(disk, "power", "1");
    Files.createDirectory(subsystem);
    write(subsystem, "attr_allow_any_host", "1");
    Files.createDirectory(namespace);
    write(namespace, "device_path", "/dev/" + name);
    write(namespace, "enable", "1");
    KernelTarget.listen();
    up();
  }

  private static void write(Path directory, String attribute, String value) throws IOException {
    Files.writeString(directory.resolve(attribute), value);
  }

  String nqn() {
    return "nqn.2026-11.io.crail:" + name;
  }

  /** Its namespace, as a datanode is told of it. */
  public String text(NvmeTransport transport) {
    return KernelTarget.text(transport, nqn(), 1);
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
    write(namespace, "enable", "0");
    Files.delete(namespace);
    Files.delete(subsystem);
    write(disk, "power", "0");
    Files.delete(disk);
  }
}
