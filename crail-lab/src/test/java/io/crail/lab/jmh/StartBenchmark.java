/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The start of a namenode that has kept its metadata: files with names of 16 bytes and one extent
 * of 4 KiB, in {@value #DIRECTORIES} directories. A start is done once in a JVM. {@code bin/jmh
 * StartBenchmark -p files=10000000 -jvmArgs -Xmx8g} is for ten million; the files of the log are in
 * the directory for temporary files.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Fork(
    value = 3,
    jvmArgsAppend = {"-Xms3g", "-Xmx3g"})
public class StartBenchmark {
  private static final int DIRECTORIES = 1_000;
  private static final int IN_FLIGHT = 256;
  private static final int PATIENCE_MILLIS = 10_000;
  private static final int EXTENT = Extent.MIN_LENGTH;
  private static final long REGION = 1L << 30;
  private static final long RETRY_NANOS = 1_000_000;
  private static final int PAGE = 4096;

  /** Makes different numbers of consecutive ones, so that names have nothing in common. */
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  /** Where the files are in. */
  public enum Source {
    /** The requests of a client that creates a file, gets space for it, and closes it. */
    LOG,
    /** A snapshot. */
    SNAPSHOT,
    /** A snapshot and as many records again: each third file has got other attributes since. */
    BOTH
  }

  /** Files. */
  @Param({"1000000"})
  public int files;

  /** Where the files are in. */
  @Param({"LOG", "SNAPSHOT", "BOTH"})
  public Source source;

  private Path directory;
  private DirectNamenode namenode;
  private Sizes sizes;
  private long heapBefore;

  /** What else is measured. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Sizes {
    /** Bytes of the log and of the snapshot for each file. */
    public double diskBytesOfFile;

    /** Bytes of heap for each file. */
    public double heapBytesOfFile;
  }

  /** Makes the files. */
  @Setup
  public void make() throws IOException {
    directory = Files.createTempDirectory("start-benchmark");
    try (DirectNamenode first = new DirectNamenode(configuration(Integer.MAX_VALUE))) {
      new Maker(first).make(files);
    }
    if (source == Source.LOG) {
      return;
    }
    // This start writes the snapshot, and the next one removes what it covers.
    new DirectNamenode(configuration(1)).close();
    try (DirectNamenode third = new DirectNamenode(configuration(Integer.MAX_VALUE))) {
      if (source == Source.BOTH) {
        new Maker(third).change(files / 3);
      }
    }
  }

  private Configuration configuration(int snapshotRecords) {
    return Configuration.builder()
        .set(NameNodeKeys.DURABILITY.name(), "sync", "benchmark")
        .set(NameNodeKeys.DATA_PATH.name(), directory.toString(), "benchmark")
        .set(NameNodeKeys.SNAPSHOT_RECORDS.name(), Integer.toString(snapshotRecords), "benchmark")
        // Nothing lets the namenode hear of the datanode again.
        .set(ClusterKeys.KEEP_ALIVE.name(), "3600", "benchmark")
        .build();
  }

  /** The heap of all that was made before is free. */
  @Setup(Level.Invocation)
  public void collect() {
    heapBefore = usedHeap();
  }

  private static long usedHeap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** A start, until requests could be served. */
  @Benchmark
  public Object start(Sizes measured) throws IOException {
    sizes = measured;
    namenode = new DirectNamenode(configuration(Integer.MAX_VALUE));
    return namenode;
  }

  /** Looks at the sizes. */
  @TearDown(Level.Invocation)
  public void measure() throws IOException {
    sizes.heapBytesOfFile = (double) (usedHeap() - heapBefore) / files;
    namenode.close();
    namenode = null;
    sizes.diskBytesOfFile = (double) usedBytes() / files;
  }

  /** Removes the files. */
  @TearDown
  public void remove() throws IOException {
    for (Path each : filesBelow()) {
      Files.delete(each);
    }
    Files.delete(directory.resolve("namenode-0"));
    Files.delete(directory);
  }

  private List<Path> filesBelow() throws IOException {
    try (Stream<Path> all = Files.list(directory.resolve("namenode-0"))) {
      return all.toList();
    }
  }

  /** Bytes of all pages that are in use; the files have zeros at their ends. */
  private long usedBytes() throws IOException {
    long bytes = 0;
    byte[] zeros = new byte[PAGE];
    for (Path each : filesBelow()) {
      try (InputStream in = Files.newInputStream(each)) {
        for (byte[] page = in.readNBytes(PAGE); page.length > 0; page = in.readNBytes(PAGE)) {
          bytes += Arrays.equals(page, zeros) ? 0 : page.length;
        }
      }
    }
    return bytes;
  }

  /** Makes files as a client does that has many requests in flight. */
  private record Maker(DirectNamenode namenode) {
    private static String directoryOf(int index) {
      return String.format(Locale.ROOT, "/directory-%06d", index % DIRECTORIES);
    }

    private static Utf8 pathOf(int index) {
      return Utf8.of(directoryOf(index) + String.format(Locale.ROOT, "/%016x", index * GOLDEN));
    }

    private static Create.Request creation(NodeType type, Utf8 path, long token) {
      return new Create.Request(
          type, true, false, false, 0644, Create.PARENT_CLASS, token, path, Utf8.EMPTY);
    }

    void make(int files) throws CrailException {
      lend(files);
      namenode.connect(Hello.ROLE_CLIENT, PATIENCE_MILLIS);
      List<Create.Request> directories = new ArrayList<>();
      for (int i = 0; i < DIRECTORIES; i++) {
        directories.add(creation(NodeType.DIRECTORY, Utf8.of(directoryOf(i)), 0));
      }
      callAll(NameNodeOperations.CREATE, directories);
      for (int first = 0; first < files; first += IN_FLIGHT) {
        int count = Math.min(IN_FLIGHT, files - first);
        List<Create.Request> creations = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
          creations.add(creation(NodeType.DATAFILE, pathOf(i), i + 1));
        }
        List<Create.Response> made = callAll(NameNodeOperations.CREATE, creations);
        List<Extend.Request> extensions = new ArrayList<>();
        List<SetSize.Request> closes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          long id = made.get(i).node().id();
          extensions.add(new Extend.Request(id, first + i + 1, 0, EXTENT, -1));
          closes.add(new SetSize.Request(id, first + i + 1, EXTENT, SetSize.END));
        }
        callAll(NameNodeOperations.EXTEND, extensions);
        callAll(NameNodeOperations.SET_SIZE, closes);
      }
    }

    /** Registers a datanode with room for all files. */
    private void lend(int files) throws CrailException {
      namenode.connect(Hello.ROLE_DATANODE, PATIENCE_MILLIS);
      TierTraits traits = TierTraits.ofMemory(FenceKind.GENERATION, true, "");
      int datanode =
          namenode
              .call(
                  NameNodeOperations.REGISTER_DATANODE,
                  new RegisterDatanode.Request(
                      1, 1, 0, 1, false, false, Utf8.of("tcp"), Utf8.of("host"), traits))
              .datanode();
      for (int i = 0; i <= (long) files * EXTENT / REGION; i++) {
        namenode.call(
            NameNodeOperations.REGISTER_REGION,
            new RegisterRegion.Request(datanode, i, REGION, 0, 0, 0));
      }
    }

    void change(int count) throws CrailException {
      namenode.connect(Hello.ROLE_CLIENT, PATIENCE_MILLIS);
      for (int first = 0; first < count; first += IN_FLIGHT) {
        List<SetAttributes.Request> changes = new ArrayList<>();
        for (int i = first; i < Math.min(count, first + IN_FLIGHT); i++) {
          changes.add(
              new SetAttributes.Request(
                  SetAttributes.PERMISSIONS, 0600, 0, 0, pathOf(3 * i), Utf8.EMPTY, Utf8.EMPTY));
        }
        callAll(NameNodeOperations.SET_ATTRIBUTES, changes);
      }
    }

    private <Q, R> List<R> callAll(Operation<Q, R> operation, List<Q> requests)
        throws CrailException {
      Codec<R> codec = operation.response();
      List<R> answers = new ArrayList<>(requests.size());
      while (answers.size() < requests.size()) {
        int end = Math.min(requests.size(), answers.size() + IN_FLIGHT);
        List<Q> part = requests.subList(answers.size(), end);
        ByteBuffer frames = serve(new DirectNamenode.Requests(operation, part));
        for (int at = 0; answers.size() < end; at += Frame.length(frames, at)) {
          int length = Frame.length(frames, at) - Frame.HEADER_LENGTH;
          answers.add(codec.decode(frames, at + Frame.HEADER_LENGTH, length));
        }
      }
      return answers;
    }

    /** Has requests served as soon as the disk of the log has caught up. */
    private ByteBuffer serve(DirectNamenode.Requests requests) throws CrailException {
      while (true) {
        try {
          return namenode.serve(requests);
        } catch (CrailException e) {
          if (e.code() != ErrorCode.UNAVAILABLE) {
            throw e;
          }
          LockSupport.parkNanos(RETRY_NANOS);
        }
      }
    }
  }
}
