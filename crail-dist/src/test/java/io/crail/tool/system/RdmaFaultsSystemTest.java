/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/**
 * Tests killed processes and broken links, with everything over RDMA. Nothing may hang, failures
 * must be typed, and later operations must work. So one cluster is enough for all tests; on this
 * machine a process takes many seconds to start.
 */
@Tag("rdma")
@Tag("repeat")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RdmaFaultsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(150);
  private static final int MIB = 1 << 20;
  private static final int TIMEOUT_SECONDS = 5;

  /** What may be added to a deadline where a machine is emulated. */
  private static final int SLACK_SECONDS = 10;

  /** What an operation may say of a peer that cannot be reached. */
  private static final Set<ErrorCode> UNREACHABLE =
      Set.of(
          ErrorCode.UNAVAILABLE,
          ErrorCode.TIMED_OUT,
          ErrorCode.WRITE_LEASE_LOST,
          ErrorCode.DATA_LOST);

  private ProcessCluster cluster;
  private CrailStore store;
  private int datanode;
  private final AtomicInteger paths = new AtomicInteger();

  @BeforeAll
  void start() throws Exception {
    cluster =
        RdmaCluster.start(
            1,
            "crail.storage.localmap",
            "false",
            "crail.lease",
            "3s",
            "crail.namenode.freemargin",
            "200ms",
            "crail.storage.keepalive",
            "300ms",
            "crail.rpctimeout",
            TIMEOUT_SECONDS + "s",
            "crail.datatimeout",
            TIMEOUT_SECONDS + "s");
    datanode = cluster.startDatanode("rdma", "64m", -1);
  }

  @AfterAll
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void open() throws Exception {
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterEach
  void close() throws Exception {
    RdmaCluster.hear(true);
    if (Boolean.parseBoolean(System.getProperty(RdmaCluster.SWITCHED, "true"))) {
      RdmaCluster.link(0, true);
      RdmaCluster.link(1, true);
    }
    store.close();
  }

  /** A path that was not used before: where one operation has failed, what it made may be there. */
  private String newPath() {
    return "/file-" + paths.getAndIncrement();
  }

  private void write(String path) throws Exception {
    CrailFile file = DataFiles.create(store, path);
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(MIB)) {
      out.write(bytes(path));
    }
  }

  private void read(String path) throws Exception {
    CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      assertArrayEquals(bytes(path), in.readAllBytes());
    }
  }

  private static byte[] bytes(String path) {
    byte[] bytes = new byte[MIB];
    Arrays.fill(bytes, (byte) path.hashCode());
    return bytes;
  }

  private interface Action {
    void run() throws Exception;
  }

  /** The typed error of an action that must fail, and must do so in time. */
  private static ErrorCode failure(Action action) {
    try {
      action.run();
    } catch (Exception e) {
      return codeOf(e);
    }
    throw new AssertionError("it has worked");
  }

  private static ErrorCode codeOf(Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CrailException crail) {
        return crail.code();
      }
    }
    throw new AssertionError("no typed error", failure);
  }

  private static void assertUnreachable(ErrorCode code) {
    assertTrue(UNREACHABLE.contains(code), "" + code);
  }

  /** Tries until it works; says why it did not when it never does. */
  private static void awaitSuccess(String what, Action action) throws Exception {
    Exception[] last = new Exception[1];
    try {
      Await.until(
          what,
          PATIENCE,
          () -> {
            try {
              action.run();
              return true;
            } catch (Exception e) {
              codeOf(e);
              last[0] = e;
              return false;
            }
          });
    } catch (AssertionError e) {
      if (last[0] != null) {
        e.addSuppressed(last[0]);
      }
      throw e;
    }
  }

  private void writeAndRead() throws Exception {
    String path = newPath();
    write(path);
    read(path);
  }

  @Test
  void aKilledDatanode() throws Exception {
    String path = newPath();
    write(path);
    read(path);
    cluster.datanode(datanode).kill();
    assertUnreachable(failure(() -> read(path)));
    datanode = cluster.startDatanode("rdma", "64m", -1);
    awaitSuccess("space is there again", this::writeAndRead);
  }

  @Test
  void aKilledNamenode() throws Exception {
    writeAndRead();
    cluster.namenode(0).kill();
    assertUnreachable(failure(() -> store.lookup("/").get(60, TimeUnit.SECONDS)));
    cluster.restartNamenode(0);
    awaitSuccess("it serves again, and the datanode is known to it", this::writeAndRead);
  }

  @Test
  void aKilledClient() throws Exception {
    writeAndRead();
    int pairs = RdmaCluster.queuePairs();
    CrailProcess writer =
        CrailProcess.program(
            WriterProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            "/victim",
            String.valueOf(MIB),
            String.valueOf(4 * MIB));
    writer.await("written", PATIENCE);
    // Two ends of its connections to the namenode and the datanode.
    assertTrue(RdmaCluster.queuePairs() >= pairs + 4);
    writer.kill();
    Await.until(
        "the servers have let its connections go",
        PATIENCE,
        () -> RdmaCluster.queuePairs() <= pairs);
    // Its write lease ends, and another writer goes on.
    CrailFile file = store.lookup("/victim").get(60, TimeUnit.SECONDS).asFile();
    assertEquals(MIB, file.getCapacity());
    awaitSuccess(
        "the file can be appended to",
        () -> {
          try (CrailBufferedOutputStream out = file.getBufferedOutputStream(10)) {
            out.write(new byte[10]);
          }
        });
    assertEquals(
        MIB + 10, store.lookup("/victim").get(60, TimeUnit.SECONDS).asFile().getCapacity());
    writeAndRead();
  }

  /** The link of the clients, then that of the servers; the host's device knows. */
  @Test
  @DisabledIfSystemProperty(
      named = RdmaCluster.SWITCHED,
      matches = "false",
      disabledReason = "needs the switch of bin/rdma-vm run --switched")
  void aLinkThatGoesDownAndUpWhileOperationsRun() throws Exception {
    interruptOperations(
        () -> RdmaCluster.link(0, false),
        () -> RdmaCluster.link(0, true),
        () -> RdmaCluster.link(1, false),
        () -> RdmaCluster.link(1, true));
  }

  /** What the clients send is lost; the devices only miss answers. */
  @Test
  @DisabledIfSystemProperty(
      named = RdmaCluster.OWN_DEVICE,
      matches = ".*",
      disabledReason = "needs the two hosts of bin/rdma-vm")
  void aNetworkThatLosesOneDirectionWhileOperationsRun() throws Exception {
    interruptOperations(() -> RdmaCluster.hear(false), () -> RdmaCluster.hear(true));
  }

  /** Breaks the network and mends it, in turns. */
  private void interruptOperations(Action... steps) throws Exception {
    String path = newPath();
    write(path);
    List<Load> loads = new ArrayList<>();
    try {
      loads.add(new Load("lookups", 1, () -> store.lookup(path).get(60, TimeUnit.SECONDS)));
      loads.add(new Load("creates", 1, () -> DataFiles.create(store, newPath())));
      loads.add(new Load("reads", 2, new Reads(path)));
      loads.add(new Load("writes", 3, new Writes()));
      for (int step = 0; step < steps.length; step += 2) {
        for (Load load : loads) {
          load.awaitSuccesses();
        }
        steps[step].run();
        for (Load load : loads) {
          load.awaitFailures();
        }
        steps[step + 1].run();
      }
      awaitSuccess("it works again", this::writeAndRead);
      for (Load load : loads) {
        load.awaitSuccesses();
      }
    } finally {
      loads.forEach(load -> load.closed = true);
    }
    for (Load load : loads) {
      load.awaitEnd();
    }
    read(path);
  }

  /** Reads one file without looking it up again, as long as that works. */
  private final class Reads implements Action {
    private final String path;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(MIB);
    private CrailInputStream input;

    Reads(String path) {
      this.path = path;
    }

    @Override
    public void run() throws Exception {
      if (input == null) {
        CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
        input = file.getDirectInputStream(MIB);
      }
      CrailBuffer buffer = OffHeapBuffer.wrap(bytes);
      buffer.clear();
      try {
        input.seek(0);
        while (buffer.hasRemaining()) {
          assertTrue(input.read(buffer).get(60, TimeUnit.SECONDS).getLen() > 0);
        }
      } catch (Exception e) {
        CrailInputStream lost = input;
        input = null;
        if (lost != null) {
          closeLost(lost::close);
        }
        throw e;
      }
      assertEquals(-1, bytes.clear().mismatch(ByteBuffer.wrap(bytes(path))));
    }
  }

  /** Writes into a file without closing it, as long as that works. */
  private final class Writes implements Action {
    private final CrailBuffer bytes = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(MIB / 4));
    private String path;
    private CrailOutputStream output;

    @Override
    public void run() throws Exception {
      if (output == null) {
        path = newPath();
        output = DataFiles.create(store, path).getDirectOutputStream(MIB);
      }
      try {
        bytes.clear();
        output.write(bytes).get(60, TimeUnit.SECONDS);
        if (output.position() < MIB) {
          return;
        }
        output.close();
        output = null;
        store.delete(path, false).get(60, TimeUnit.SECONDS);
      } catch (Exception e) {
        CrailOutputStream lost = output;
        output = null;
        if (lost != null) {
          closeLost(lost::close);
        }
        throw e;
      }
    }
  }

  private static void closeLost(Action close) {
    try {
      close.run();
    } catch (Exception e) {
      assertInterrupted(codeOf(e));
    }
  }

  /** The namenode may miss the datanode, too. */
  private static void assertInterrupted(ErrorCode code) {
    if (code != ErrorCode.NO_SPACE) {
      assertUnreachable(code);
    }
  }

  /** An operation that is repeated in a thread of its own. */
  private final class Load {
    private final String name;
    private final Action action;
    private final long limitNanos;
    private final Thread thread;
    private volatile boolean closed;
    private volatile int successes;
    private volatile int failures;
    private volatile Throwable wrong;

    /**
     * Begins.
     *
     * @param deadlines how many of them an operation may wait for, one after the other
     */
    Load(String name, int deadlines, Action action) {
      this.name = name;
      this.action = action;
      this.limitNanos = TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS * deadlines + SLACK_SECONDS);
      this.thread = new Thread(this::run, name);
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      int worked = 0;
      int failed = 0;
      try {
        while (!closed) {
          long begin = System.nanoTime();
          try {
            action.run();
            worked++;
          } catch (Exception e) {
            assertInterrupted(codeOf(e));
            failed++;
          }
          long nanos = System.nanoTime() - begin;
          assertTrue(nanos < limitNanos, () -> "took " + nanos + " ns");
          successes = worked;
          failures = failed;
        }
      } catch (AssertionError e) {
        wrong = e;
      }
    }

    private void await(String what, Callable<Boolean> condition) throws Exception {
      Await.until(name + ": " + what, PATIENCE, () -> wrong != null || condition.call());
      if (wrong != null) {
        throw new AssertionError(name, wrong);
      }
    }

    void awaitSuccesses() throws Exception {
      int before = successes;
      await("some work", () -> successes >= before + 2);
    }

    void awaitFailures() throws Exception {
      int before = failures;
      await("some fail", () -> failures > before);
    }

    void awaitEnd() throws Exception {
      thread.join(PATIENCE.toMillis());
      assertTrue(!thread.isAlive(), () -> "one of the " + name + " hangs");
      if (wrong != null) {
        throw new AssertionError(name, wrong);
      }
    }
  }
}
