/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Processes that are killed and a cable that is pulled, with everything over RDMA: nothing hangs,
 * what fails says what it is, and a later operation works. So one cluster is enough for all of
 * them, where a process takes many seconds to start.
 */
@Tag("rdma")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "many processes on an emulated machine: only among the long tests")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RdmaFaultsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(150);
  private static final int MIB = 1 << 20;

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
  private int paths;

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
            "5000",
            "crail.datatimeout",
            "5000");
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
    RdmaCluster.cable(true);
    store.close();
  }

  /** A path that was not used before: where one operation has failed, what it made may be there. */
  private String newPath() {
    return "/file-" + paths++;
  }

  private void write(String path) throws Exception {
    CrailFile file =
        store
            .create(
                path,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get(60, TimeUnit.SECONDS)
            .asFile();
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
    // Its write lease ends, and somebody else goes on.
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

  @Test
  void aCableThatIsPulledAndPutBackWhileOperationsRun() throws Exception {
    String path = newPath();
    write(path);
    try (Reader reader = new Reader(path)) {
      reader.awaitSuccesses();
      RdmaCluster.cable(false);
      reader.awaitFailure();
      assertUnreachable(failure(() -> store.lookup(path).get(60, TimeUnit.SECONDS)));
      RdmaCluster.cable(true);
      awaitSuccess("it works again", this::writeAndRead);
      reader.awaitSuccesses();
    }
    read(path);
  }

  /** Reads a file again and again, in a thread of its own. */
  private final class Reader implements AutoCloseable {
    private final String path;
    private final Thread thread = new Thread(this::run, "reader");
    private volatile boolean closed;
    private volatile int successes;
    private volatile int failures;
    private volatile Throwable wrong;

    Reader(String path) {
      this.path = path;
      thread.start();
    }

    private void run() {
      int worked = 0;
      int failed = 0;
      while (!closed) {
        try {
          read(path);
          successes = ++worked;
        } catch (Exception e) {
          try {
            assertUnreachable(codeOf(e));
          } catch (AssertionError untyped) {
            wrong = untyped;
            return;
          }
          failures = ++failed;
        } catch (AssertionError e) {
          wrong = e;
          return;
        }
      }
    }

    private void await(String what, Callable<Boolean> condition) throws Exception {
      Await.until(what, PATIENCE, () -> wrong != null || condition.call());
      if (wrong != null) {
        throw new AssertionError(wrong);
      }
    }

    void awaitSuccesses() throws Exception {
      int before = successes;
      await("some reads", () -> successes >= before + 2);
    }

    void awaitFailure() throws Exception {
      int before = failures;
      await("a read that fails", () -> failures > before);
    }

    @Override
    public void close() throws Exception {
      closed = true;
      thread.join(PATIENCE.toMillis());
      assertTrue(!thread.isAlive(), "a read hangs");
      if (wrong != null) {
        throw new AssertionError(wrong);
      }
    }
  }
}
