/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A namespace of a target, in a mapped file without a name. It takes memory as it is written.
 * Thread-safe: an access is atomic.
 */
public final class TargetNamespace {
  private final int number;
  private final int blockLength;
  private final ByteBuffer memory;
  private volatile boolean readOnly;
  private volatile long blocks;
  private volatile long identity;
  private long flushes;

  /** Creates a namespace of zeros. */
  public TargetNamespace(int number, int blocks, int blockLength) throws IOException {
    this.number = number;
    this.blockLength = blockLength;
    this.blocks = blocks;
    this.identity = number;
    Path file = Files.createTempFile("crail-nvme", ".namespace");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      this.memory =
          channel.map(
              FileChannel.MapMode.READ_WRITE, 0, Math.multiplyExact((long) blocks, blockLength));
    } finally {
      Files.delete(file);
    }
  }

  /** Its number. */
  public int number() {
    return number;
  }

  /** What distinguishes it from other devices; its number unless that was changed. */
  public long identity() {
    return identity;
  }

  /** Makes it another device. */
  public void identity(long newIdentity) {
    identity = newIdentity;
  }

  /** Bytes of a block. */
  public int blockLength() {
    return blockLength;
  }

  /** Its length in blocks. */
  public long blocks() {
    return blocks;
  }

  /** Makes it shorter, as an operator may. */
  public void shrink(long newBlocks) {
    blocks = newBlocks;
  }

  /** Whether it refuses writes. */
  public boolean isReadOnly() {
    return readOnly;
  }

  /** Sets whether it refuses writes. */
  public void readOnly(boolean refuses) {
    readOnly = refuses;
  }

  /** Reads bytes, for a test to compare. */
  public synchronized byte[] read(long offset, int length) {
    byte[] bytes = new byte[length];
    memory.get((int) offset, bytes);
    return bytes;
  }

  /** Writes bytes. */
  public synchronized void write(long offset, byte[] bytes) {
    memory.put((int) offset, bytes);
  }

  synchronized void flush() {
    flushes++;
  }

  /** How often a host has flushed it. */
  public synchronized long flushes() {
    return flushes;
  }

  boolean has(long block, long count) {
    return block >= 0 && count >= 1 && block <= blocks - count;
  }
}
