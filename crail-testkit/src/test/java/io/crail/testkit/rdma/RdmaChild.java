/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.rdma.RdmaStorageTier;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A datanode or a client in a process of its own, so that it can be killed, or may lock little
 * memory. It says what it is in lines on its standard output, and ends when its input does.
 */
final class RdmaChild implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 400;

  private final Process process;
  private final BufferedReader output;

  private RdmaChild(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /**
   * Starts a datanode.
   *
   * @param lockableBytes how much memory it may lock; negative: all
   */
  static RdmaChild datanode(Path dataPath, long lendBytes, long lockableBytes) throws IOException {
    return start(lockableBytes, "datanode", dataPath.toString(), String.valueOf(lendBytes));
  }

  /** Starts a client that may lock little memory, for a datanode; it writes so many bytes. */
  static RdmaChild client(DatanodeDescription datanode, int length, long lockableBytes)
      throws IOException {
    Region region = datanode.regions().get(0);
    return start(
        lockableBytes,
        "client",
        describe(datanode.uuid(), datanode.address(), region),
        String.valueOf(length));
  }

  private static RdmaChild start(long lockableBytes, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    if (lockableBytes >= 0) {
      // Root may lock what it likes, unless that right is taken away.
      command.addAll(
          List.of(
              "setpriv", "--bounding-set", "-ipc_lock", "prlimit", "--memlock=" + lockableBytes));
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.library.path=" + System.getProperty("java.library.path"),
            "-Dcrail.test.rdma.server=" + RdmaHost.SERVER,
            "-cp",
            System.getProperty("java.class.path"),
            RdmaChild.class.getName()));
    command.addAll(List.of(arguments));
    return new RdmaChild(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** The next line that it says; when it says nothing in time it is ended. */
  String line() throws IOException {
    Executor later = CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    Future<?> limit = CompletableFuture.runAsync(process::destroyForcibly, later);
    try {
      String line = output.readLine();
      if (line == null) {
        throw new IOException("the process has ended");
      }
      return line;
    } finally {
      limit.cancel(false);
    }
  }

  /** What a datanode says of itself. */
  DatanodeDescription description() throws IOException {
    return parse(line());
  }

  /** Processor time that it has used. */
  long processorMillis() {
    return process.info().totalCpuDuration().orElseThrow().toMillis();
  }

  /** Ends it as SIGKILL does. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("the process survived");
    }
  }

  @Override
  public void close() throws Exception {
    process.getOutputStream().close();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      kill();
    }
  }

  private static String describe(UUID uuid, InetSocketAddress address, Region region) {
    return uuid
        + " "
        + address.getHostString()
        + " "
        + address.getPort()
        + " "
        + region.length()
        + " "
        + region.address()
        + " "
        + region.key();
  }

  private static DatanodeDescription parse(String line) throws IOException {
    String[] words = line.split(" ");
    if (words.length != 6) {
      throw new IOException(line);
    }
    Map<Integer, Region> regions = new HashMap<>();
    regions.put(
        0,
        new Region(
            0, Long.parseLong(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5])));
    return new DatanodeDescription(
        UUID.fromString(words[0]),
        RdmaStorageTier.NAME,
        InetSocketAddress.createUnresolved(words[1], Integer.parseInt(words[2])),
        0,
        TierTraits.ofMemory(FenceKind.CUT_OFF, false, ""),
        regions);
  }

  /** What runs in the child. */
  public static void main(String[] arguments) throws Exception {
    try {
      if (arguments[0].equals("datanode")) {
        serve(arguments[1], arguments[2]);
      } else {
        write(parse(arguments[1]), Integer.parseInt(arguments[2]));
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
  }

  private static void serve(String dataPath, String bytes) throws Exception {
    Configuration configuration =
        Configuration.builder()
            .set(RdmaStorageKeys.INTERFACE, RdmaHost.SERVER)
            .set(RdmaStorageKeys.PORT, 0)
            .build();
    try (StorageServer server =
        new RdmaStorageTier().createServer(configuration, List.of("-d", dataPath, "-s", bytes))) {
      UUID uuid = UUID.randomUUID();
      server.start(uuid);
      System.out.println(describe(uuid, server.address(), server.regions().get(0)));
      // Until the parent closes it or is gone.
      while (System.in.read() >= 0) {
        // No message is sent to it.
      }
    }
  }

  private static void write(DatanodeDescription datanode, int length) throws Exception {
    Configuration configuration =
        Configuration.builder().set(RdmaStorageKeys.CONNECT_TIMEOUT, "20s").build();
    try (NettyTransport transport = new NettyTransport(configuration);
        ClientLoop loop = transport.newClientLoop("child");
        StorageClient client =
            new RdmaStorageTier()
                .createClient(new StorageClient.Context(configuration, transport, loop, 1));
        StorageEndpoint endpoint = client.connect(datanode)) {
      for (int bytes : new int[] {length, 1000}) {
        Transfer transfer = new Transfer();
        long deadline = loop.clock().nanoTime() + TimeUnit.SECONDS.toNanos(30);
        transfer.prepare(
            ByteBuffer.allocateDirect(bytes),
            0,
            bytes,
            new Extent(0, length, new Place(0, 0, 0, 1)),
            0,
            deadline);
        endpoint.write(transfer);
        boolean ended = loop.await(transfer, deadline + TimeUnit.SECONDS.toNanos(10));
        CrailException failure = transfer.failure();
        System.out.println(
            !ended ? "never ended" : failure == null ? "written" : failure.code() + " " + failure);
      }
    }
  }
}
