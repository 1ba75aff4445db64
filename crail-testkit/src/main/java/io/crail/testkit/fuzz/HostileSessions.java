/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.Frame;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.StorageKeys;
import io.crail.storage.daemon.Datanode;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.storage.tcp.TcpStorageTier;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Attacks a live cluster with recorded sessions that contain faults. It records what a client and a
 * datanode send, replays it with faults while an honest client works, and then checks the accounts.
 * The cluster has one namenode and no other users. It may be in this process or not. Used by one
 * thread.
 */
public final class HostileSessions {
  private static final int ATTACKERS = 2;
  private static final int PATIENCE_SECONDS = 60;
  private static final int LENGTH = 150_000;

  private final Configuration configuration;
  private final InetSocketAddress namenode;
  private final List<List<byte[]>> metadata = new ArrayList<>();
  private final List<List<byte[]>> data = new ArrayList<>();
  private InetSocketAddress datanode;

  /**
   * The result of an attack.
   *
   * @param sessions sessions that were replayed
   * @param frames frames that were sent in them
   * @param honest rounds of honest work
   * @param slowestMillis the duration of the slowest round
   */
  public record Outcome(long sessions, long frames, int honest, long slowestMillis) {}

  /** Creates an attack. The configuration is that of a client, without mapped memory. */
  public HostileSessions(Configuration configuration) {
    this.configuration = configuration.toBuilder().set(StorageKeys.LOCAL_MAP, false).build();
    InetSocketAddress named = configuration.get(ClusterKeys.NAMENODE_ADDRESS).get(0);
    this.namenode = new InetSocketAddress(named.getHostString(), named.getPort());
  }

  // Recording.

  /**
   * Records a client that uses all kinds of operations, and a datanode that registers and leaves.
   */
  public void record() throws Exception {
    try (RecordingProxy datanodes = new RecordingProxy(null, null);
        RecordingProxy namenodes = new RecordingProxy(namenode, datanodes)) {
      Configuration recorded =
          configuration.toBuilder()
              .set(
                  ClusterKeys.NAMENODE_ADDRESS.name(),
                  "crail://127.0.0.1:" + namenodes.address().getPort(),
                  "a recorder")
              .build();
      CrailStore store = CrailStore.newInstance(CrailConfiguration.of(recorded));
      try {
        work(store, "/recorded", 3, false);
      } finally {
        store.close();
      }
      comeAndGo(recorded);
      datanode = datanodes.server();
      metadata.addAll(namenodes.sessions());
      data.addAll(datanodes.sessions());
    }
  }

  /** The datanode has another storage class than all files, so no client uses it. */
  private static void comeAndGo(Configuration recorded) throws Exception {
    Configuration memory =
        recorded.toBuilder()
            .set(TcpStorageKeys.MEMORY, TcpStorageKeys.Memory.ANONYMOUS)
            .set(TcpStorageKeys.STORAGE_LIMIT, "2m")
            .set(TcpStorageKeys.ALLOCATION_SIZE, "1m")
            .build();
    try (Transport transport = TransportProvider.open(memory);
        Datanode liar =
            Datanode.start(
                memory, new TcpStorageTier(), Attack.LIAR_CLASS, List.of("-p", "0"), transport)) {
      if (!liar.awaitRegistered(PATIENCE_SECONDS * 1_000_000_000L)) {
        throw ErrorCode.TIMED_OUT.exception("registration of a datanode");
      }
    }
  }

  private int liar() {
    return metadata.stream()
        .flatMap(List::stream)
        .map(frame -> ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN))
        .filter(frame -> Frame.code(frame, 0) == NameNodeOperations.REGISTER_REGION.number())
        .mapToInt(
            frame ->
                frame.getInt(
                    Frame.HEADER_LENGTH + RegisterRegion.Request.LAYOUT.offset("datanode")))
        .findFirst()
        .orElseThrow();
  }

  // Attacking.

  /** Attacks for a while. Fails when an honest client sees an effect. */
  public Outcome attack(long seed, long nanos) throws Exception {
    long end = System.nanoTime() + nanos;
    ExecutorService executor = Executors.newFixedThreadPool(ATTACKERS + 1);
    try {
      List<Future<long[]>> attackers = new ArrayList<>();
      for (int i = 0; i < ATTACKERS; i++) {
        Attack attack = new Attack(new Random(seed + i), metadata, data, liar());
        attackers.add(executor.submit(attacker(attack, end)));
      }
      Future<long[]> honest = executor.submit(honest(end));
      long[] served = honest.get(nanos / 1_000_000_000L + 10 * PATIENCE_SECONDS, TimeUnit.SECONDS);
      long sessions = 0;
      long frames = 0;
      for (Future<long[]> attacker : attackers) {
        long[] sent = attacker.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        sessions += sent[0];
        frames += sent[1];
      }
      return new Outcome(sessions, frames, (int) served[0], served[1]);
    } finally {
      executor.shutdownNow();
    }
  }

  private Callable<long[]> attacker(Attack attack, long end) {
    return () -> {
      long sessions = 0;
      long frames = 0;
      while (System.nanoTime() - end < 0) {
        frames += attack.round(namenode, datanode);
        sessions += 2;
      }
      return new long[] {sessions, frames};
    };
  }

  private Callable<long[]> honest(long end) {
    return () -> {
      CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration));
      try {
        long rounds = 0;
        long slowest = 0;
        do {
          long began = System.nanoTime();
          work(store, "/honest", rounds, true);
          slowest = Math.max(slowest, System.nanoTime() - began);
          rounds++;
        } while (System.nanoTime() - end < 0);
        return new long[] {rounds, slowest / 1_000_000};
      } finally {
        store.close();
      }
    };
  }

  /**
   * Uses all kinds of operations below a directory, and checks each byte. Removes everything if
   * asked to.
   */
  private static void work(CrailStore store, String top, long round, boolean cleans)
      throws Exception {
    create(store, top, CrailNodeType.DIRECTORY);
    create(store, top + "/t", CrailNodeType.TABLE);
    byte[] large = bytes(round, LENGTH);
    byte[] small = bytes(round + 1, 300);
    put(store, top + "/a", CrailNodeType.DATAFILE, large);
    put(store, top + "/t/k", CrailNodeType.KEYVALUE, small);
    put(store, top + "/t/l", CrailNodeType.KEYVALUE, large);
    take(store, top + "/a", large);
    take(store, top + "/t/k", small);
    take(store, top + "/t/l", large);
    wait(store.rename(top + "/a", top + "/b"));
    take(store, top + "/b", large);
    if (cleans) {
      wait(store.delete(top, true));
    }
  }

  private static void create(CrailStore store, String path, CrailNodeType type) throws Exception {
    wait(store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
  }

  private static void put(CrailStore store, String path, CrailNodeType type, byte[] bytes)
      throws Exception {
    var node =
        wait(store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
    try (CrailBufferedOutputStream out =
        type == CrailNodeType.KEYVALUE
            ? node.asKeyValue().getBufferedOutputStream(bytes.length)
            : node.asFile().getBufferedOutputStream(bytes.length)) {
      out.write(bytes);
    }
  }

  private static void take(CrailStore store, String path, byte[] expected) throws Exception {
    var node = wait(store.lookup(path));
    try (CrailBufferedInputStream in =
        node.getType() == CrailNodeType.KEYVALUE
            ? node.asKeyValue().getBufferedInputStream(expected.length)
            : node.asFile().getBufferedInputStream(expected.length)) {
      if (!Arrays.equals(expected, in.readAllBytes())) {
        throw new AssertionError(path + " has other bytes");
      }
    }
  }

  private static <T> T wait(Future<T> future) throws Exception {
    return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  // Checking the accounts.

  /**
   * Removes everything, and waits until all space is free again. Fails when space does not come
   * back, or when the accounts are wrong before.
   */
  public void requireNothingLeft() throws Exception {
    long end = System.nanoTime() + 2L * PATIENCE_SECONDS * 1_000_000_000L;
    try (Asking asking = new Asking(namenode)) {
      String left = left(asking);
      while (!left.isEmpty()) {
        if (System.nanoTime() - end > 0) {
          throw new AssertionError("left: " + left);
        }
        Thread.sleep(50);
        left = left(asking);
      }
    }
  }

  private static String left(Asking asking) throws Exception {
    long root =
        asking.ask(NameNodeOperations.LOOKUP, new Lookup.Request(NodePath.ROOT)).node().id();
    ListNodes.Response page =
        asking.ask(NameNodeOperations.LIST_NODES, new ListNodes.Request(root, 0, 100));
    for (ListNodes.Entry entry : page.entries()) {
      try {
        asking.ask(
            NameNodeOperations.REMOVE, new Remove.Request(true, Utf8.of("/" + entry.name())));
      } catch (CrailException e) {
        // The next round looks again.
      }
    }
    Usage.Response usage = asking.ask(NameNodeOperations.USAGE, new Usage.Request());
    StringBuilder left = new StringBuilder();
    for (ClassUsage each : usage.classes()) {
      long counted = each.freeBytes() + each.usedBytes() + each.waitingBytes();
      if (counted != each.capacityBytes()) {
        throw new AssertionError("space does not add up: " + each);
      }
      if (each.storageClass() != Attack.LIAR_CLASS && each.freeBytes() != each.capacityBytes()) {
        left.append(each).append(' ');
      }
    }
    if (usage.nodes() > 1 || usage.smallValueBytes() > 0) {
      left.append(usage.nodes()).append(" nodes, ").append(usage.smallValueBytes());
    }
    return left.toString();
  }
}
