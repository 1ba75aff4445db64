/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ClosedSegments;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.Snapshots;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The process of a {@link CheckpointProcess}, which alone starts it. */
public final class CheckpointMain {
  private static final String MADE = "crail-snapshot ";

  private CheckpointMain() {}

  /** What it is to do. It comes by standard input, which is open as long as the namenode lives. */
  record Order(
      String directory,
      ClosedSegments closed,
      String name,
      long fileBytes,
      int index,
      int count,
      Map<String, String> settings) {
    void write(DataOutputStream out) throws IOException {
      out.writeUTF(directory);
      out.writeLong(closed.segment());
      out.writeLong(closed.last());
      out.writeLong(closed.bytes());
      out.writeUTF(name);
      out.writeLong(fileBytes);
      out.writeInt(index);
      out.writeInt(count);
      out.writeInt(settings.size());
      for (Map.Entry<String, String> each : settings.entrySet()) {
        out.writeUTF(each.getKey());
        out.writeUTF(each.getValue());
      }
      out.flush();
    }

    static Order read(DataInputStream in) throws IOException {
      String directory = in.readUTF();
      ClosedSegments closed = new ClosedSegments(in.readLong(), in.readLong(), in.readLong());
      String name = in.readUTF();
      long fileBytes = in.readLong();
      int index = in.readInt();
      int count = in.readInt();
      Map<String, String> settings = new TreeMap<>();
      for (int left = in.readInt(); left > 0; left--) {
        settings.put(in.readUTF(), in.readUTF());
      }
      return new Order(directory, closed, name, fileBytes, index, count, settings);
    }

    Snapshots.Size make() throws IOException {
      Configuration.Builder conf = Configuration.builder();
      settings.forEach((key, text) -> conf.set(key, text, "the namenode"));
      return NameNodeLog.checkpoint(
          FileLogDirectory.beside(Path.of(directory)),
          closed,
          name,
          fileBytes,
          NameNodeOptions.of(conf.build(), index, count),
          Clock.SYSTEM,
          new SplittableRandom(),
          () -> false);
    }
  }

  /** The size that a line of output says; null for any other line. */
  static Snapshots.Size sizeIn(String line) {
    if (!line.startsWith(MADE)) {
      return null;
    }
    String[] numbers = line.substring(MADE.length()).split(" ");
    return new Snapshots.Size(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
  }

  /** Writes one snapshot. */
  public static void main(String[] args) throws IOException {
    endFirst();
    Order order = Order.read(new DataInputStream(System.in));
    Threads.daemon("crail-checkpoint-parent", () -> endWith(System.in)).start();
    Snapshots.Size size = order.make();
    // Read by the namenode, and by no person.
    try (FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
      String line = MADE + size.records() + " " + size.bytes() + "\n";
      out.write(line.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Asks Linux to end this process rather than the namenode, if the host has no memory left. */
  private static void endFirst() {
    try {
      Files.writeString(Path.of("/proc/self/oom_score_adj"), "1000");
    } catch (IOException | UnsupportedOperationException e) {
      // It is another system.
    }
  }

  /** A namenode that is gone has no use for it, and the next one begins anew. */
  private static void endWith(InputStream namenode) {
    try {
      while (namenode.read() >= 0) {
        // Nothing more is said.
      }
    } catch (IOException e) {
      // It is gone, too.
    }
    Runtime.getRuntime().halt(1);
  }
}
