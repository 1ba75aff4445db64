/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.namenode.log.LogDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A directory on a disk that keeps only its promises: what was not forced may be lost in a crash,
 * in part or whole, in any order of the writes. It can be full, and it can fail. Thread-safe.
 */
public final class SimulatedDisk implements LogDirectory {
  private static final int SECTOR = 512;

  /** Bytes that were written and not forced. */
  private record Write(long position, byte[] bytes) {
    long end() {
      return position + bytes.length;
    }
  }

  private static final class Content {
    private byte[] durable;
    private final List<Write> writes = new ArrayList<>();

    Content(byte[] durable) {
      this.durable = durable;
    }

    void apply(Write write) {
      durable = Arrays.copyOf(durable, (int) Math.max(durable.length, write.end()));
      System.arraycopy(write.bytes, 0, durable, (int) write.position, write.bytes.length);
    }

    long length() {
      return writes.stream().mapToLong(Write::end).reduce(durable.length, Math::max);
    }

    byte[] present() {
      Content copy = new Content(durable.clone());
      writes.forEach(copy::apply);
      return copy.durable;
    }
  }

  private final RandomGenerator random;
  private final Map<String, Content> files = new TreeMap<>();
  private long capacity = Long.MAX_VALUE;
  private int starts;
  private int callsLeft = Integer.MAX_VALUE;
  private boolean failsAll;
  private long forces;
  private Executor ends = Runnable::run;

  /** Creates an empty disk. */
  public SimulatedDisk(RandomGenerator random) {
    this.random = random;
  }

  /** Limits the bytes of all files. */
  public synchronized void capacity(long bytes) {
    capacity = bytes;
  }

  /** Lets all that changes the disk fail after so many more of them, for good. */
  public synchronized void failAfter(int calls) {
    callsLeft = calls;
  }

  /**
   * Lets what is committed be under way until a task has run, in any order of these tasks. Without
   * it, a commit ends at once.
   */
  public synchronized void endCommitsBy(Executor executor) {
    ends = executor;
  }

  /** How often something was forced. */
  public synchronized long forces() {
    return forces;
  }

  /** Loses all that is under way. */
  public synchronized void loseAll() {
    files.values().forEach(content -> content.writes.clear());
  }

  /**
   * The power is gone: of each write that was not forced, any sectors may be there or not. Whoever
   * has opened files before cannot use them any more.
   */
  public synchronized void crash() {
    starts++;
    callsLeft = Integer.MAX_VALUE;
    failsAll = false;
    for (Content content : files.values()) {
      for (Write write : content.writes) {
        switch (random.nextInt(4)) {
          case 0 -> content.apply(write);
          case 1 -> {
            int length = random.nextInt(write.bytes.length / SECTOR + 1) * SECTOR;
            content.apply(new Write(write.position, Arrays.copyOf(write.bytes, length)));
          }
          case 2 -> tear(content, write);
          default -> {
            // It is lost.
          }
        }
      }
      content.writes.clear();
    }
  }

  private void tear(Content content, Write write) {
    for (int at = 0; at < write.bytes.length; at += SECTOR) {
      if (random.nextBoolean()) {
        int end = Math.min(at + SECTOR, write.bytes.length);
        content.apply(new Write(write.position + at, Arrays.copyOfRange(write.bytes, at, end)));
      }
    }
  }

  /** Changes a bit of a file. */
  public synchronized void damage(String name, long position) {
    files.get(name).durable[(int) position] ^= (byte) (1 << random.nextInt(8));
  }

  /** The bytes of a file. */
  public synchronized byte[] bytes(String name) {
    return files.get(name).present();
  }

  /** Removes a file, as an operator might. */
  public synchronized void lose(String name) {
    files.remove(name);
  }

  private void step(int start) throws IOException {
    if (start != starts) {
      throw new IOException("of before the crash");
    }
    if (failsAll || callsLeft-- <= 0) {
      failsAll = true;
      throw new IOException("the disk has failed");
    }
  }

  @Override
  public synchronized List<String> names() {
    return List.copyOf(files.keySet());
  }

  @Override
  public synchronized LogFile create(String name, long bytes) throws IOException {
    try {
      step(starts);
    } catch (IOException e) {
      // Its name is there before its bytes.
      files.putIfAbsent(name, new Content(new byte[random.nextInt(2 * SECTOR * 8)]));
      throw e;
    }
    requireSpace(bytes);
    if (files.containsKey(name)) {
      throw new IOException(name + " is there");
    }
    files.put(name, new Content(new byte[(int) bytes]));
    return open(name);
  }

  private void requireSpace(long bytes) throws IOException {
    long used = files.values().stream().mapToLong(Content::length).sum();
    if (used + bytes > capacity) {
      throw new IOException("no space left on device");
    }
  }

  @Override
  public synchronized LogFile open(String name) throws IOException {
    Content content = files.get(name);
    if (content == null) {
      throw new IOException("no file " + name);
    }
    return new Opened(content, starts);
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    step(starts);
    files.remove(name);
  }

  @Override
  public synchronized void rename(String name, String newName) throws IOException {
    step(starts);
    files.put(newName, files.remove(name));
  }

  @Override
  public void close() {}

  private final class Opened implements LogFile {
    private final Content content;
    private final int start;

    private Opened(Content content, int start) {
      this.content = content;
      this.start = start;
    }

    @Override
    public long length() {
      synchronized (SimulatedDisk.this) {
        return content.length();
      }
    }

    @Override
    public void read(ByteBuffer into, long position) {
      synchronized (SimulatedDisk.this) {
        byte[] present = content.present();
        int length = (int) Math.min(into.remaining(), present.length - position);
        into.put(present, (int) position, length);
      }
    }

    @Override
    public void write(ByteBuffer from, long position) throws IOException {
      synchronized (SimulatedDisk.this) {
        step(start);
        requireSpace(Math.max(0, position + from.remaining() - content.length()));
        byte[] bytes = new byte[from.remaining()];
        from.get(bytes);
        content.writes.add(new Write(position, bytes));
      }
    }

    @Override
    public void commit(ByteBuffer from, long position, Consumer<IOException> done) {
      byte[] bytes = new byte[from.remaining()];
      from.get(bytes);
      Write write = new Write(position, bytes);
      Executor later;
      synchronized (SimulatedDisk.this) {
        content.writes.add(write);
        later = ends;
      }
      later.execute(() -> end(write, done));
    }

    private void end(Write write, Consumer<IOException> done) {
      IOException problem = null;
      synchronized (SimulatedDisk.this) {
        try {
          step(start);
          forces++;
          content.apply(write);
          content.writes.remove(write);
        } catch (IOException e) {
          problem = e;
        }
      }
      done.accept(problem);
    }

    @Override
    public void force() throws IOException {
      synchronized (SimulatedDisk.this) {
        step(start);
        forces++;
        content.writes.forEach(content::apply);
        content.writes.clear();
      }
    }

    @Override
    public void close() {}
  }
}
