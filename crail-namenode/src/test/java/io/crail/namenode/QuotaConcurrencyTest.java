/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.DirectoryUsage;
import io.crail.compound.StepKind;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many clients that write, replace, rename and remove at the limits of nested and separate quotas:
 * none is ever above its limit, and afterwards a recount finds what was counted. {@code
 * -Dcrail.seed=} repeats the requests.
 */
@Tag("once")
class QuotaConcurrencyTest {
  private static final int CLIENTS = 4;
  private static final int ROUNDS = 15_000;
  private static final long BYTES = 1 << 20;
  private static final long NAMES = 30;

  /** The first is around the second; the third is beside them; the last has none. */
  private static final String[] DIRECTORIES = {"/q", "/q/in", "/r", "/free"};

  private static final List<String> LIMITED = List.of("/q", "/q/in", "/r");

  private final long seed = TestStore.seed();
  private final AtomicInteger refusals = new AtomicInteger();
  private TestStore store;

  private final class Client {
    private final Random random;
    private final Wire wire;
    private final long token;

    Client(int index) throws CrailException {
      random = new Random(seed + index);
      wire = Wire.connect(store.server, 100 + index);
      token = 1 + index;
    }

    private String directory() {
      return DIRECTORIES[random.nextInt(DIRECTORIES.length)];
    }

    private String file() {
      return directory() + "/f" + random.nextInt(12);
    }

    private String key() {
      return directory() + "/t/k" + random.nextInt(12);
    }

    private long id(String path) throws CrailException {
      return wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(path))).node().id();
    }

    /** Writes to a file that was opened, and perhaps vanishes instead of closing it. */
    private void write(long id) throws CrailException {
      long wanted = random.nextInt(300_000);
      wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, token, 0, wanted, -1));
      if (random.nextInt(8) > 0) {
        int close = random.nextInt(8) == 0 ? SetSize.EXPIRE : SetSize.END;
        wire.call(
            NameNodeOperations.SET_SIZE,
            new SetSize.Request(id, token, random.nextInt(4_096), close));
      }
    }

    /** Directories that are often empty, so that they may move to another quota. */
    private void moveDirectories() throws CrailException {
      String path = directory() + "/d" + random.nextInt(2);
      switch (random.nextInt(8)) {
        case 0 ->
            wire.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DIRECTORY, path, 0));
        case 1, 2 ->
            wire.call(
                NameNodeOperations.CREATE,
                TestStore.creation(NodeType.DATAFILE, path + "/" + random.nextInt(3), 0));
        case 3 ->
            wire.call(
                NameNodeOperations.REMOVE,
                new Remove.Request(false, Utf8.of(path + "/" + random.nextInt(3))));
        case 4 -> wire.call(NameNodeOperations.REMOVE, new Remove.Request(true, Utf8.of(path)));
        default ->
            wire.call(
                NameNodeOperations.RENAME,
                new Rename.Request(
                    random.nextBoolean(),
                    Utf8.of(path),
                    Utf8.of(directory() + "/d" + random.nextInt(2))));
      }
    }

    /** Stages bytes, and links them, gives them back, or leaves them. */
    private void link() throws CrailException {
      String key = key();
      long length = 1 + random.nextInt(200_000);
      long id = wire.call(NameNodeOperations.STAGE, TestStore.put(key, token, length)).node().id();
      switch (random.nextInt(8)) {
        case 0 -> {}
        case 1 ->
            wire.call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, token, 0, SetSize.END));
        default ->
            wire.call(
                NameNodeOperations.OPERATE,
                new Operate.Request(
                    0644,
                    Utf8.of(key),
                    List.of(
                        Steps.create().going(),
                        Steps.link(id, token, length, random.nextBoolean()))));
      }
    }

    void round() throws CrailException {
      switch (random.nextInt(18)) {
        case 12, 13, 14, 15 -> moveDirectories();
        case 16, 17 -> link();
        case 0, 1 -> {
          Create.Request create =
              random.nextBoolean()
                  ? TestStore.creation(NodeType.DATAFILE, file(), token)
                  : TestStore.replacement(NodeType.DATAFILE, file(), token);
          write(wire.call(NameNodeOperations.CREATE, create).node().id());
        }
        case 2 -> {
          long id = id(file());
          wire.call(NameNodeOperations.ACQUIRE_LEASE, new AcquireLease.Request(id, token));
          write(id);
        }
        case 3, 4 ->
            wire.call(
                NameNodeOperations.PUT, TestStore.put(key(), 0, new byte[random.nextInt(60_000)]));
        case 5 -> {
          long length = 1 + random.nextInt(200_000);
          long id =
              wire.call(NameNodeOperations.PUT, TestStore.put(key(), token, length)).node().id();
          long size = random.nextInt(3) == 0 ? length / 2 : length;
          wire.call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, token, size, SetSize.END));
        }
        case 6 -> {
          long id =
              wire.call(
                      NameNodeOperations.CREATE,
                      TestStore.creation(NodeType.KEYVALUE, key(), token))
                  .node()
                  .id();
          int length = 1 + random.nextInt(30_000);
          SmallValue value = SmallValue.of(new byte[length]);
          wire.call(
              NameNodeOperations.SET_SIZE,
              new SetSize.Request(id, token, length, SetSize.END, value));
        }
        case 7, 8 ->
            wire.call(
                NameNodeOperations.OPERATE,
                new Operate.Request(
                    0644,
                    Utf8.of(key()),
                    List.of(
                        Steps.create().going(), Steps.append("x".repeat(random.nextInt(9_000))))));
        case 9, 10 -> {
          boolean isFile = random.nextBoolean();
          wire.call(
              NameNodeOperations.RENAME,
              new Rename.Request(
                  random.nextBoolean(),
                  Utf8.of(isFile ? file() : key()),
                  Utf8.of(isFile ? file() : key())));
        }
        default ->
            wire.call(
                NameNodeOperations.REMOVE,
                new Remove.Request(false, Utf8.of(random.nextBoolean() ? file() : key())));
      }
    }

    void run() {
      for (int round = 0; round < ROUNDS; round++) {
        try {
          round();
        } catch (CrailException e) {
          assertTrue(
              e.code() != ErrorCode.INTERNAL && e.code() != ErrorCode.PROTOCOL, e.toString());
          refusals.addAndGet(e.code() == ErrorCode.QUOTA_EXCEEDED ? 1 : 0);
        }
      }
    }
  }

  private DirectoryUsage usage(String path) throws CrailException {
    Operate.Response response =
        store.call(
            NameNodeOperations.OPERATE_READ,
            new Operate.Request(0, Utf8.of(path), List.of(Steps.of(StepKind.READ_USAGE))));
    return DirectoryUsage.of(response.results().get(0).data().bytes());
  }

  @Test
  void noneIsEverAboveItsLimit() throws Exception {
    store = new TestStore();
    int datanode = store.datanode(64 << 20);
    for (String directory : DIRECTORIES) {
      store.mkdir(directory);
      if (LIMITED.contains(directory)) {
        store.call(
            NameNodeOperations.OPERATE,
            new Operate.Request(0, Utf8.of(directory), List.of(Steps.limit(BYTES, NAMES))));
      }
    }
    for (String directory : DIRECTORIES) {
      store.create(NodeType.TABLE, directory + "/t", 0);
    }
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Client client = new Client(i);
      Thread thread = new Thread(client::run);
      thread.setUncaughtExceptionHandler(
          (failed, e) -> {
            synchronized (failures) {
              failures.add(e);
            }
          });
      threads.add(thread);
      thread.start();
    }
    long most = 0;
    while (threads.stream().anyMatch(Thread::isAlive)) {
      for (String directory : LIMITED) {
        DirectoryUsage usage = usage(directory);
        assertTrue(usage.bytes() >= 0 && usage.bytes() <= BYTES, usage::toString);
        assertTrue(usage.names() >= 0 && usage.names() <= NAMES, usage::toString);
        most = Math.max(most, usage.bytes());
      }
      // Leases of those that vanish end meanwhile.
      store.passAlive(100, datanode);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    // Otherwise it has not tried it.
    assertTrue(refusals.get() > 100, refusals + " refusals");
    assertTrue(most > BYTES / 10 * 9, most + " bytes");
    store.namenode.verify();
    store.passAlive(30_000, datanode);
    store.namenode.verify();
    for (String directory : DIRECTORIES) {
      for (String each : store.list(store.lookup(directory).node().id(), 64)) {
        if (!LIMITED.contains(directory + "/" + each)) {
          store.remove(directory + "/" + each, true);
        }
      }
    }
    store.namenode.tick();
    assertEquals(new DirectoryUsage("/q", 0, BYTES, 1, NAMES), usage("/q"));
    assertEquals(new DirectoryUsage("/r", 0, BYTES, 0, NAMES), usage("/r"));
  }
}
