/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.config.ConfigException;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Deadlines of a store, and its end, with namenodes that say nothing. */
class StoreDeadlinesTest {
  /** A peer that takes connections and says nothing. */
  private static final class SilentServer implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> accepted = new ArrayList<>();
    private final Thread thread = new Thread(this::accept, "silent-server");

    SilentServer() throws Exception {
      thread.start();
    }

    private void accept() {
      try {
        while (true) {
          Socket socket = server.accept();
          synchronized (accepted) {
            accepted.add(socket);
          }
        }
      } catch (java.io.IOException e) {
        // Closed.
      }
    }

    CrailConfiguration configuration(String rpcTimeout) {
      CrailConfiguration configuration = new CrailConfiguration();
      configuration.set("crail.namenode.address", "crail://127.0.0.1:" + server.getLocalPort());
      configuration.set("crail.rpctimeout", rpcTimeout);
      return configuration;
    }

    @Override
    public void close() throws Exception {
      server.close();
      thread.join(60_000);
      synchronized (accepted) {
        for (Socket socket : accepted) {
          socket.close();
        }
      }
    }
  }

  private static long millisOf(ThrowingRunnable body) throws Exception {
    long start = System.nanoTime();
    body.run();
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  private interface ThrowingRunnable {
    void run() throws Exception;
  }

  @Test
  void badConfigurationsAreRefusedByName() {
    for (String[] setting :
        new String[][] {
          {"crail.slicesize", "3000"},
          {"crail.buffersize", "100"},
          {"crail.nosuchkey", "1"},
          {"crail.locationmap", "a,b,c"},
          {"crail.datatimeout", "0"}
        }) {
      CrailConfiguration configuration = new CrailConfiguration();
      configuration.set(setting[0], setting[1]);
      ConfigException refused =
          assertThrows(ConfigException.class, () -> CrailStore.newInstance(configuration));
      assertTrue(refused.getMessage().contains(setting[0]), refused.getMessage());
    }
  }

  @Test
  void aTimeoutIsHonouredAndTheOperationGoesOn() throws Exception {
    try (SilentServer server = new SilentServer()) {
      CrailStore store = CrailStore.newInstance(server.configuration("60s"));
      Upcoming<CrailNode> lookup = store.lookup("/x");
      long waited =
          millisOf(
              () ->
                  assertThrows(
                      TimeoutException.class, () -> lookup.get(50, TimeUnit.MILLISECONDS)));
      assertTrue(waited >= 45 && waited < 30_000, waited + " ms");
      assertThrows(TimeoutException.class, () -> lookup.get(0, TimeUnit.NANOSECONDS));
      assertFalse(lookup.isDone());
      store.close();
    }
  }

  @Test
  void anOperationEndsAtItsDeadline() throws Exception {
    try (SilentServer server = new SilentServer()) {
      CrailStore store = CrailStore.newInstance(server.configuration("500ms"));
      Upcoming<CrailNode> lookup = store.lookup("/x");
      ExecutionException failed = assertThrows(ExecutionException.class, lookup::get);
      assertEquals(
          ErrorCode.TIMED_OUT, assertInstanceOf(CrailException.class, failed.getCause()).code());
      assertTrue(lookup.isDone());
      long whole =
          millisOf(() -> assertThrows(CrailException.class, () -> store.lookup("/y").early()));
      assertTrue(whole >= 450 && whole < 30_000, whole + " ms");
      CrailNode early =
          store
              .create(
                  "/z",
                  CrailNodeType.DATAFILE,
                  io.crail.CrailStorageClass.DEFAULT,
                  io.crail.CrailLocationClass.DEFAULT,
                  true)
              .early();
      CrailException late = assertThrows(CrailException.class, early::syncDir);
      assertEquals(ErrorCode.TIMED_OUT, late.code());
      store.close();
    }
  }

  @Test
  void aMissingServerIsAnErrorWithinTheDeadline() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set("crail.namenode.address", "crail://127.0.0.1:" + port);
    configuration.set("crail.rpctimeout", "5s");
    CrailStore store = CrailStore.newInstance(configuration);
    long waited =
        millisOf(
            () -> {
              ExecutionException failed =
                  assertThrows(ExecutionException.class, () -> store.lookup("/x").get());
              ErrorCode code = ((CrailException) failed.getCause()).code();
              assertTrue(code == ErrorCode.UNAVAILABLE || code == ErrorCode.TIMED_OUT);
            });
    assertTrue(waited < 30_000, waited + " ms");
    store.close();
  }

  @Test
  void closingFailsWhatIsOutstanding() throws Exception {
    try (SilentServer server = new SilentServer()) {
      CrailStore store = CrailStore.newInstance(server.configuration("60s"));
      List<Upcoming<CrailNode>> lookups = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        lookups.add(store.lookup("/" + i));
      }
      AtomicReference<Throwable> seen = new AtomicReference<>();
      Thread waiter =
          new Thread(
              () -> {
                try {
                  lookups.get(0).get();
                } catch (Throwable e) {
                  seen.set(e);
                }
              });
      waiter.start();
      TestCluster.await(
          "the waiter waits", () -> waiter.getState() != Thread.State.NEW && waiter.isAlive());
      long waited = millisOf(store::close);
      assertTrue(waited < 30_000, waited + " ms");
      waiter.join(60_000);
      assertInstanceOf(ExecutionException.class, seen.get());
      for (Upcoming<CrailNode> lookup : lookups) {
        ExecutionException failed = assertThrows(ExecutionException.class, lookup::get);
        assertInstanceOf(ClosedException.class, failed.getCause());
      }
    }
  }

  @Test
  void aWaitCanBeInterrupted() throws Exception {
    try (SilentServer server = new SilentServer()) {
      CrailStore store = CrailStore.newInstance(server.configuration("60s"));
      Upcoming<CrailNode> lookup = store.lookup("/x");
      AtomicReference<Throwable> seen = new AtomicReference<>();
      Thread waiter =
          new Thread(
              () -> {
                try {
                  lookup.get();
                } catch (Throwable e) {
                  seen.set(e);
                }
              });
      waiter.start();
      waiter.interrupt();
      waiter.join(60_000);
      assertInstanceOf(InterruptedException.class, seen.get());
      assertFalse(lookup.isDone());
      store.close();
    }
  }

  @Test
  void tooManyOperationsWaitAndFailAtTheBound() throws Exception {
    try (SilentServer server = new SilentServer()) {
      CrailConfiguration configuration = server.configuration("300ms");
      configuration.set("crail.client.outstanding", "10");
      CrailStore store = CrailStore.newInstance(configuration);
      List<Upcoming<CrailNode>> lookups = new ArrayList<>();
      // The handshake counts too, and what another thread has just taken over may be missed. The
      // next one waits until others have ended, here at their deadline.
      long waited =
          millisOf(
              () -> {
                do {
                  lookups.add(store.lookup("/" + lookups.size()));
                } while (!lookups.get(0).isDone() && lookups.size() < 1_000);
              });
      assertTrue(waited >= 250, waited + " ms, " + lookups.size() + " lookups");
      assertTrue(lookups.get(0).isDone());
      assertTrue(lookups.size() >= 9 && lookups.size() <= 12, lookups.size() + " lookups");
      store.close();
    }
  }
}
