/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.StaleNodeException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients that write, delete and replace each other's files at random on a tier that can refuse
 * nobody, while messages are late or lost, writers hang and the namenode is restarted: whoever
 * reads a file finds what its writer wrote.
 */
@Tag("once")
@Timeout(300)
class SimulatedOneSidedModelTest {
  private static final int STEPS = 6_000;
  private static final int CLIENTS = 3;
  private static final int PATHS = 6;
  private static final int MAX_OPEN = 4;
  private static final int MAX_WRITE = 60_000;
  // Few lengths, so that a value gets the space that came with the one before.
  private static final int[] VALUES = {6_000, 50_000};
  private static final int MAX_PUTS = 4;
  // So few blocks of 64 KiB that what is freed is soon used again.
  private static final int SPACE = 3 << 20;

  private static final Duration LEASE = Duration.ofSeconds(3);
  // More than two latencies and what is later than that, and the looks at deadlines.
  private static final Duration MARGIN = Duration.ofMillis(1000);
  private static final Duration LATENCY = Duration.ofMillis(250);
  private static final Duration LATENESS = Duration.ofMillis(400);
  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final Duration LIFE = Duration.ofMillis(150);

  private final long seed = Bytes.seed("simulated one-sided model");
  private final Random random = new Random(seed);
  private final Client[] clients = new Client[CLIENTS];

  /** By node id, what was written. */
  private final Map<Long, Written> files = new HashMap<>();

  private SimulatedCluster cluster;
  private int checked;
  private int stopped;
  private int put;
  private int valuesChecked;

  /** A file as its writer knows it. */
  private static final class Written {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean closed;
  }

  /** A stream that is open. */
  private record Open(CrailOutputStream stream, Written file) {}

  private static final class Client {
    final String host;
    final CrailStore store;
    final List<Open> open = new ArrayList<>();
    final List<Upcoming<CrailKeyValue>> puts = new ArrayList<>();
    boolean hangs;

    Client(String host, CrailStore store) {
      this.host = host;
      this.store = store;
    }
  }

  @BeforeEach
  void start() throws Exception {
    cluster =
        SimulatedCluster.oneSided(
            seed,
            SPACE,
            "crail.blocksize=64k",
            "crail.rpctimeout=2s",
            "crail.datatimeout=5s",
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.namenode.freemargin=" + MARGIN.toMillis() + "ms");
    cluster.tier().latency(FAST, LATENCY);
    for (int i = 0; i < CLIENTS; i++) {
      clients[i] = new Client("client" + i, cluster.newStore("client" + i));
      live(clients[i]);
    }
    makeContainers(clients[0]);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** Makes what is missing. */
  private void makeContainers(Client client) throws Exception {
    attempt(() -> create(client.store, "/d", CrailNodeType.DIRECTORY));
    attempt(() -> create(client.store, "/t", CrailNodeType.TABLE));
  }

  private static CrailNode create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store
        .create(path, type, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get();
  }

  /** Makes a client look at its connections now and then, as a real one does by itself. */
  private void live(Client client) {
    cluster
        .network()
        .schedule(
            LIFE,
            () -> {
              try {
                if (!client.hangs) {
                  client.store.lookup("/nothing");
                }
                live(client);
              } catch (Exception e) {
                // The store is closed, so the test is over.
                assertTrue(e instanceof CrailException, e::toString);
              }
            });
  }

  private interface Action<T> {
    T run() throws Exception;
  }

  /** Does something that may fail; gives null when it did. */
  private <T> T attempt(Action<T> action) throws Exception {
    Throwable failure;
    try {
      return action.run();
    } catch (CrailException e) {
      failure = e;
    } catch (ExecutionException e) {
      failure = e.getCause();
    }
    if (!(failure instanceof CrailException known)) {
      throw new AssertionError(failure);
    }
    assertNotEquals(ErrorCode.INTERNAL, known.code(), known::toString);
    assertNotEquals(ErrorCode.PROTOCOL, known.code(), known::toString);
    assertNotEquals(ErrorCode.OUT_OF_RANGE, known.code(), known::toString);
    stopped += known instanceof StaleNodeException ? 1 : 0;
    return null;
  }

  private Client client() {
    return clients[random.nextInt(CLIENTS)];
  }

  private String path(boolean key) {
    return (key ? "/t/" : "/d/") + random.nextInt(PATHS);
  }

  private void create(Client client) throws Exception {
    if (client.open.size() >= MAX_OPEN) {
      return;
    }
    boolean key = random.nextBoolean();
    CrailNodeType type = key ? CrailNodeType.KEYVALUE : CrailNodeType.DATAFILE;
    String path = path(key);
    long hint = random.nextInt(4) * MAX_WRITE;
    attempt(
        () -> {
          CrailNode node = create(client.store, path, type);
          CrailFile file = key ? node.asKeyValue() : node.asFile();
          Written written = new Written();
          files.put(file.getFd(), written);
          client.open.add(new Open(file.getDirectOutputStream(hint), written));
          return file;
        });
  }

  private void write(Client client) throws Exception {
    if (client.open.isEmpty()) {
      return;
    }
    Open open = client.open.get(random.nextInt(client.open.size()));
    // Mostly little, which needs no more space and so tells a writer nothing.
    int most = random.nextInt(6) == 0 ? MAX_WRITE : 300;
    byte[] bytes = Bytes.random(random, 1 + random.nextInt(most));
    Object begun = attempt(() -> open.stream.write(Bytes.buffer(bytes)));
    if (begun == null) {
      close(client, open);
      return;
    }
    open.file.bytes.writeBytes(bytes);
    if (random.nextInt(4) == 0) {
      attempt(() -> open.stream.sync().get());
    }
  }

  private void close(Client client, Open open) throws Exception {
    client.open.remove(open);
    attempt(
        () -> {
          open.stream.close();
          open.file.closed = true;
          return open;
        });
  }

  /** Bytes that tell what they are to be. */
  private static byte[] value(int seed, int length) {
    byte[] value = Bytes.random(new Random(seed), length);
    ByteBuffer.wrap(value).putInt(seed);
    return value;
  }

  private void put(Client client) throws Exception {
    int length = VALUES[random.nextInt(VALUES.length)];
    // One after the other, so that each but the first has the space that came with the last.
    for (int i = random.nextInt(4); i >= 0; i--) {
      byte[] value = value(random.nextInt(), length);
      Upcoming<CrailKeyValue> begun =
          attempt(() -> client.store.put(path(true), Bytes.buffer(value)));
      if (begun != null) {
        client.puts.add(begun);
        cluster.network().runFor(Duration.ofMillis(random.nextInt(300)));
      }
    }
    for (Upcoming<CrailKeyValue> each : List.copyOf(client.puts)) {
      if (each.isDone() || client.puts.size() > MAX_PUTS) {
        client.puts.remove(each);
        CrailKeyValue made = attempt(() -> each.get());
        if (made != null) {
          assertTrue(Arrays.stream(VALUES).anyMatch(any -> any == made.getCapacity()));
          put++;
        }
      }
    }
  }

  /** A value that was put, or is being put. */
  private void checkValue(CrailFile file) throws Exception {
    if (file.getCapacity() > 0) {
      byte[] read = Bytes.read(file);
      int length = (int) file.getCapacity();
      assertArrayEquals(value(ByteBuffer.wrap(read).getInt(), length), read, file.getPath());
      valuesChecked++;
    }
  }

  private void delete(Client client) throws Exception {
    if (random.nextInt(10) > 0) {
      attempt(() -> client.store.delete(path(random.nextBoolean()), false).get());
    } else {
      attempt(() -> client.store.delete("/d", true).get());
      makeContainers(client);
    }
  }

  private void check(Client client, String path) throws Exception {
    attempt(
        () -> {
          CrailNode node = client.store.lookup(path).get();
          if (node != null) {
            check(node.getType() == CrailNodeType.KEYVALUE ? node.asKeyValue() : node.asFile());
          }
          return node;
        });
  }

  private void check(CrailFile file) throws Exception {
    Written written = files.get(file.getFd());
    if (written == null && file instanceof CrailKeyValue) {
      checkValue(file);
      return;
    }
    if (written == null) {
      // Its writer has never learnt of its own create.
      assertEquals(0, file.getCapacity());
      return;
    }
    byte[] all = written.bytes.toByteArray();
    int length = (int) file.getCapacity();
    assertTrue(length <= all.length && (!written.closed || length == all.length), "its length");
    byte[] read = Bytes.read(file);
    assertArrayEquals(Arrays.copyOf(all, length), read, file.getPath());
    checked++;
  }

  /** Something goes wrong for a while. */
  private void disturb(Client client) throws Exception {
    Duration span = Duration.ofMillis(random.nextInt(2 * (int) LEASE.toMillis()));
    String namenode = SimulatedCluster.NAMENODE;
    switch (random.nextInt(7)) {
      case 0 -> cluster.network().silence(client.host, namenode);
      case 1 -> cluster.network().cut(client.host, namenode);
      case 2 -> {
        cluster.network().partition(client.host, namenode);
        cluster.network().schedule(span, () -> cluster.network().heal(client.host, namenode));
      }
      case 3 -> {
        client.hangs = true;
        cluster.network().schedule(span, () -> client.hangs = false);
      }
      case 4 -> {
        cluster.network().latency(FAST, Duration.ofMillis(1 + random.nextInt(600)));
        cluster.network().schedule(span, () -> cluster.network().latency(FAST, FAST));
      }
      case 5 -> {
        if (random.nextInt(4) == 0) {
          cluster.restartNamenode(Duration.ZERO);
          makeContainers(client);
        }
      }
      default -> {
        cluster.tier().loseAnswers(random.nextDouble() / 4, LATENESS);
        cluster.network().schedule(span, () -> cluster.tier().loseAnswers(0, Duration.ZERO));
      }
    }
  }

  private void step() throws Exception {
    Client client = client();
    switch (random.nextInt(24)) {
      case 0, 1 -> create(client);
      case 2, 3, 4, 5, 6, 7, 8, 9 -> write(client);
      case 10 -> {
        if (!client.open.isEmpty() && random.nextInt(2) == 0) {
          close(client, client.open.get(random.nextInt(client.open.size())));
        }
      }
      case 11 -> delete(client);
      case 12, 13, 14, 15 -> check(client, path(random.nextBoolean()));
      case 16 -> {
        if (random.nextInt(8) == 0) {
          disturb(client);
        }
      }
      case 17, 18, 19, 20 -> put(client);
      default -> cluster.network().runFor(Duration.ofMillis(random.nextInt(400)));
    }
  }

  @Test
  void readersFindWhatTheWriterWrote() throws Exception {
    for (int i = 0; i < STEPS; i++) {
      step();
    }
    for (int i = 0; i < PATHS; i++) {
      check(client(), "/d/" + i);
      check(client(), "/t/" + i);
    }
    System.out.printf(
        "%d files read, %d writers stopped, %d values put, %d read%n",
        checked, stopped, put, valuesChecked);
    assertTrue(put > STEPS / 20, put + " values put");
    assertTrue(valuesChecked > STEPS / 50, valuesChecked + " values read");
    assertTrue(checked > STEPS / 30, checked + " files read");
    assertTrue(stopped > STEPS / 100, stopped + " writers stopped");
  }
}
