/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.namenode.LogHome;
import io.crail.namenode.LogStanding;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Looks at what dead namenodes have left. In a namenode that is made of it, all is counted right,
 * and no space has two owners; and so in one that is made of the snapshot that the first has
 * written. It works in a thread of its own, so that the namenode can start again at once.
 */
final class ModelLogs implements AutoCloseable {
  /** Bytes of a file of a log that is only looked at. */
  private static final long SMALL_LOG = 1 << 20;

  private final Path directory;
  private final ProcessCluster cluster;
  private final int namenodes;
  private final int peers;
  private final List<String> damages = new CopyOnWriteArrayList<>();
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private int copies;

  /** Of the namenodes of a cluster that keep their logs {@linkplain #of in} a directory. */
  ModelLogs(Path directory, ProcessCluster cluster, int namenodes, int peers) {
    this.directory = directory;
    this.cluster = cluster;
    this.namenodes = namenodes;
    this.peers = peers;
  }

  /** Where namenodes keep their logs in the directory of a run. */
  static Path of(Path directory) {
    return directory.resolve("logs");
  }

  /** What was wrong so far. */
  List<String> damages() {
    return damages;
  }

  /** Begins to look at what a namenode has left that is dead now. */
  void examine(int index) throws IOException {
    Path own = ProcessCluster.logOf(of(directory), peers, index);
    Path copy = directory.resolve("copy-" + copies++).resolve(own.getFileName());
    Files.createDirectories(copy);
    try (Stream<Path> files = Files.list(own)) {
      // Links, since a file that is there is only read.
      for (Path file : files.filter(each -> !each.endsWith("lock")).toList()) {
        Files.createLink(copy.resolve(file.getFileName()), file);
      }
    }
    thread.execute(() -> examine(index / peers, copy));
  }

  private void examine(int index, Path copy) {
    try {
      verify(index, copy);
      verify(index, copy);
      ProcessCluster.delete(copy.getParent());
    } catch (IOException | RuntimeException | AssertionError e) {
      damages.add("the log of namenode " + index + ", in " + copy + ": " + e);
    }
  }

  private void verify(int index, Path copy) throws IOException {
    Configuration conf = cluster.configuration();
    LogHome home =
        new LogHome(
            FileLogDirectory.open(copy),
            Runnable::run,
            Runnable::run,
            Runnable::run,
            () -> {},
            Clock.SYSTEM,
            SMALL_LOG,
            1);
    try (Transport transport = TransportProvider.open(conf);
        NameNodeServer server =
            NameNodeServer.open(
                conf,
                index,
                namenodes,
                new InetSocketAddress("127.0.0.1", 0),
                transport,
                Clock.SYSTEM,
                new Random(index),
                home)) {
      server.verify();
      // Makes a snapshot of all that was read.
      server.tick();
      LogStanding log = server.log().orElseThrow();
      if (log.failedSnapshots() > 0) {
        throw new IOException("no snapshot could be made: " + log);
      }
    }
  }

  /** Waits until all was looked at. Returns what was wrong. */
  List<String> end(Duration patience) throws InterruptedException {
    thread.shutdown();
    List<String> wrong = new ArrayList<>();
    if (!thread.awaitTermination(patience.toSeconds(), TimeUnit.SECONDS)) {
      wrong.add("what namenodes have left was not looked at in time");
    }
    wrong.addAll(damages);
    return wrong;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
