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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Processes that are killed and a cable that is pulled, with everything over RDMA: nothing hangs,
 * what fails says what it is, and a later operation works.
 */
@Tag("rdma")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "many processes on an emulated machine: only among the long tests")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class RdmaFaultsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(300);
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

  @BeforeEach
  void start() throws Exception {
    cluster =
        RdmaCluster.start(
            1,
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
    cluster.startDatanode("rdma", "64m", -1);
    store =
        CrailStore.newInstance(
            CrailConfiguration.of(cluster.configuration("crail.storage.localmap", "false")));
  }

  @AfterEach
  void stop() throws Exception {
    link("up");
    try {
      store.close();
    } finally {
      cluster.close();
    }
  }

  private static void link(String state) throws Exception {
    int code = new ProcessBuilder("ip", "link", "set", "rv0", state).inheritIO().start().waitFor();
    assertEquals(0, code);
  }

  private void write(String path, int length) throws Exception {
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
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(length)) {
      out.write(bytes(path, length));
    }
  }

  private byte[] read(String path) throws Exception {
    CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      return in.readAllBytes();
    }
  }

  private static byte[] bytes(String path, int length) {
    byte[] bytes = new byte[length];
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
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CrailException crail) {
          return crail.code();
        }
      }
      throw new AssertionError("no typed error", e);
    }
    throw new AssertionError("it has worked");
  }

  private static boolean works(Action action) {
    try {
      action.run();
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  @Test
  void aKilledDatanode() throws Exception {
    write("/before", MIB);
    assertArrayEquals(bytes("/before", MIB), read("/before"));
    cluster.datanode(0).kill();
    ErrorCode code = failure(() -> read("/before"));
    assertTrue(UNREACHABLE.contains(code), "" + code);
    cluster.startDatanode("rdma", "64m", -1);
    Await.until("space is there again", PATIENCE, () -> works(() -> write("/after", MIB)));
    assertArrayEquals(bytes("/after", MIB), read("/after"));
  }

  @Test
  void aKilledNamenode() throws Exception {
    write("/before", MIB);
    cluster.namenode(0).kill();
    ErrorCode code = failure(() -> store.lookup("/before").get(60, TimeUnit.SECONDS));
    assertTrue(UNREACHABLE.contains(code), "" + code);
    cluster.restartNamenode(0);
    Await.until("it serves again", PATIENCE, () -> works(() -> write("/after", MIB)));
    assertArrayEquals(bytes("/after", MIB), read("/after"));
  }

  @Test
  void aKilledClient() throws Exception {
    CrailProcess writer =
        CrailProcess.program(
            WriterProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            "/victim",
            String.valueOf(MIB),
            String.valueOf(4 * MIB));
    writer.await("written", PATIENCE);
    writer.kill();
    // Its write lease ends, and somebody else goes on.
    Await.until(
        "the file can be appended to",
        PATIENCE,
        () -> {
          CrailFile file = store.lookup("/victim").get(60, TimeUnit.SECONDS).asFile();
          assertEquals(MIB, file.getCapacity());
          return works(
              () -> {
                try (CrailBufferedOutputStream out = file.getBufferedOutputStream(10)) {
                  out.write(new byte[10]);
                }
              });
        });
    assertEquals(MIB + 10, read("/victim").length);
  }

  @Test
  void aCableThatIsPulledAndPutBack() throws Exception {
    write("/before", MIB);
    link("down");
    ErrorCode data = failure(() -> read("/before"));
    assertTrue(UNREACHABLE.contains(data), "" + data);
    ErrorCode metadata = failure(() -> store.lookup("/before").get(60, TimeUnit.SECONDS));
    assertTrue(UNREACHABLE.contains(metadata), "" + metadata);
    link("up");
    Await.until("it works again", PATIENCE, () -> works(() -> write("/after", MIB)));
    assertArrayEquals(bytes("/after", MIB), read("/after"));
    assertArrayEquals(bytes("/before", MIB), read("/before"));
  }
}
