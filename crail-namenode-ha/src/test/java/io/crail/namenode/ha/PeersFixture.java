/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.conf.CrailConfiguration;
import io.crail.namenode.Leadership;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogReader;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.Lead;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Three peers of a namenode in one process, with their real protocol and real files. */
abstract class PeersFixture {
  static final int PEERS = 3;
  static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Longer than two elections take. */
  private static final long QUIET_MILLIS = 6_000;

  @TempDir Path directory;
  final ReplicatedNamenode[] peers = new ReplicatedNamenode[PEERS];
  PeerLimits limits = PeerLimits.USUAL;
  List<Integer> ports;
  Transport transport;
  CrailStore store;

  @BeforeEach
  void start() throws Exception {
    ports = freePorts();
    transport = TransportProvider.open(conf(0));
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
    store = CrailStore.newInstance(CrailConfiguration.of(conf(0)));
  }

  @AfterEach
  void stop() throws Exception {
    if (store != null) {
      store.close();
    }
    for (ReplicatedNamenode peer : peers) {
      if (peer != null) {
        peer.close();
      }
    }
    transport.close();
  }

  /** Ports of the peers, for clients and for each other. */
  static List<Integer> freePorts() throws IOException {
    List<Integer> free = new ArrayList<>();
    while (free.size() < PEERS) {
      try (ServerSocket one = new ServerSocket(0);
          ServerSocket other = new ServerSocket(one.getLocalPort() + 1_000)) {
        if (!free.contains(one.getLocalPort())) {
          free.add(one.getLocalPort());
        }
      } catch (IOException | IllegalArgumentException e) {
        // Others use it.
      }
    }
    return free;
  }

  InetSocketAddress address(int peer) {
    return new InetSocketAddress("127.0.0.1", ports.get(peer));
  }

  Configuration conf(int peer) {
    List<InetSocketAddress> all = List.of(address(0), address(1), address(2));
    return Configuration.builder()
        .set(
            ClusterKeys.NAMENODE_ADDRESS.name(),
            new NamenodeAddresses(List.of(all)).toString(),
            "the test")
        .set(NameNodeKeys.DURABILITY, "sync")
        .set(NameNodeKeys.DATA_PATH, directory.resolve("peer-" + peer).toString())
        .set(ClusterKeys.RPC_TIMEOUT, "60s")
        // On a busy machine others would be elected in the middle of a test.
        .set(StandbyKeys.ELECTION, "1s")
        .build();
  }

  void startPeer(int i) throws IOException {
    peers[i] =
        ReplicatedNamenode.start(
            conf(i), 0, i, address(i), transport, Clock.SYSTEM, server -> {}, limits);
  }

  void makeDirectory(String path) throws Exception {
    store
        .create(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            false)
        .get();
  }

  int leader() throws InterruptedException {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < PATIENCE_NANOS) {
      for (int i = 0; i < PEERS; i++) {
        if (peers[i].leads()) {
          return i;
        }
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
    throw new AssertionError("no peer leads");
  }

  /** The namenode of the peer that leads. */
  NameNodeServer leading() throws InterruptedException {
    NameNodeServer server = peers[leader()].server();
    while (server == null) {
      server = peers[leader()].server();
    }
    return server;
  }

  /** Waits until all peers have the same number of records, and returns it. */
  long awaitAgreement() throws InterruptedException {
    long begun = System.nanoTime();
    long last = peers[0].last();
    while (last != peers[1].last() || last != peers[2].last()) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "they do not agree");
      TimeUnit.MILLISECONDS.sleep(10);
      last = peers[0].last();
    }
    return last;
  }

  /** The records of a peer that has ended. */
  List<ByteBuffer> records(int peer) throws Exception {
    List<ByteBuffer> records = new ArrayList<>();
    try (FileLogDirectory files =
        FileLogDirectory.open(directory.resolve("peer-" + peer).resolve("namenode-0"))) {
      LogReader.read(
          files,
          new LogReader.Visitor() {
            @Override
            public void written(long millis, long nanos) {}

            @Override
            public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
              ByteBuffer copy = ByteBuffer.allocate(1 + length).put(0, (byte) kind);
              records.add(copy.put(1, bytes, offset, length));
            }
          });
    }
    return records;
  }

  /** A peer that ends later may have some more. */
  static void requireSame(List<ByteBuffer> one, List<ByteBuffer> other, long least) {
    int common = Math.min(one.size(), other.size());
    assertTrue(common >= least, common + " of " + least);
    for (int i = 0; i < common; i++) {
      assertEquals(one.get(i), other.get(i), "record " + (i + 1));
    }
  }

  Path copyOf(int peer) {
    return directory.resolve("peer-" + peer).resolve("namenode-0");
  }

  Path entriesOf(int peer) {
    return directory.resolve("peer-" + peer).resolve("namenode-0-peers");
  }

  static void remove(Path lost) throws IOException {
    try (Stream<Path> files = Files.walk(lost)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  void lose(int peer) throws IOException {
    remove(copyOf(peer));
    remove(entriesOf(peer));
  }

  void awaitMember(int peer) throws InterruptedException {
    long begun = System.nanoTime();
    while (!peers[peer].isMember()) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "peer " + peer + " does not join");
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  void requireNoLeader() throws Exception {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(QUIET_MILLIS)) {
      for (ReplicatedNamenode peer : peers) {
        assertFalse(peer != null && peer.leads(), "it must not be elected");
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
    try (CrailStore hasty =
        CrailStore.newInstance(
            CrailConfiguration.of(
                conf(0).toBuilder().set(ClusterKeys.RPC_TIMEOUT, "2s").build()))) {
      assertThrows(ExecutionException.class, () -> hasty.lookup("/").get());
    }
  }

  void closeAll() {
    for (ReplicatedNamenode peer : peers) {
      peer.close();
    }
  }

  void moveLead(int to) throws Exception {
    long begun = System.nanoTime();
    while (!peers[to].leads()) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it does not take over");
      Leadership leadership = leading().leadership();
      try {
        leadership.lead(new Lead.Request(to));
      } catch (CrailException e) {
        // It is too far behind yet.
      }
      TimeUnit.MILLISECONDS.sleep(500);
    }
  }

  /** Ends all peers, whose copies have to be the same. */
  void requireSameRecords() throws Exception {
    long agreed = awaitAgreement();
    closeAll();
    requireSame(records(0), records(1), agreed);
    requireSame(records(0), records(2), agreed);
  }

  static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : files.toList()) {
        try {
          Files.copy(each, to.resolve(from.relativize(each).toString()));
        } catch (IOException e) {
          // It was removed meanwhile.
          assertFalse(Files.exists(each), each.toString());
        }
      }
    }
  }
}
