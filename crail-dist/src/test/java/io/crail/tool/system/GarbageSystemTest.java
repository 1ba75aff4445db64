/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.Printable;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.cluster.Hello;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Sends bytes that follow no protocol to every port, while a client is served. */
@Tag("once")
class GarbageSystemTest {
  private static final int LENGTH = 100_000;

  private static ProcessCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = ProcessCluster.startLogging(1, 1);
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  /** A case: the bytes to send. The server must close the connection and do nothing else. */
  private record Garbage(String name, byte[] bytes) {}

  private static List<Garbage> garbage() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    List<Garbage> cases = new ArrayList<>();
    byte[] noise = new byte[LENGTH];
    random.nextBytes(noise);
    // The length field of a good frame would be small; make sure that this one is not.
    noise[3] = (byte) 0x80;
    cases.add(new Garbage("random bytes", noise));
    cases.add(new Garbage("zeros", new byte[64]));
    cases.add(
        new Garbage(
            "HTTP", "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
    byte[] tls = new byte[517];
    random.nextBytes(tls);
    System.arraycopy(new byte[] {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3}, 0, tls, 0, 11);
    cases.add(new Garbage("TLS hello", tls));
    cases.add(new Garbage("unknown version", header(16, 1, 99, Frame.KIND_REQUEST)));
    cases.add(new Garbage("a response", header(16, 0, Frame.VERSION, Frame.KIND_RESPONSE)));
    cases.add(new Garbage("length 0", header(0, 1, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(new Garbage("length 15", header(15, 1, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(new Garbage("negative length", header(-1, 1, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(
        new Garbage("oversized", header(Integer.MAX_VALUE, 1, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(new Garbage("unknown operation", header(16, 250, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(
        new Garbage("operation before hello", header(16, 19, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(new Garbage("empty hello", header(16, 1, Frame.VERSION, Frame.KIND_REQUEST)));
    cases.add(new Garbage("lying hello", lyingHello()));
    return cases;
  }

  private static byte[] header(int length, int opcode, int version, int kind) {
    ByteBuffer buffer = ByteBuffer.allocate(Frame.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(buffer, 0, length, opcode, kind, 7);
    buffer.put(6, (byte) version);
    return buffer.array();
  }

  /** A hello whose text is longer than its frame. */
  private static byte[] lyingHello() {
    int fixed = Hello.Request.LAYOUT.fixedLength();
    ByteBuffer buffer =
        ByteBuffer.allocate(Frame.HEADER_LENGTH + fixed).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(buffer, 0, buffer.capacity(), 1, Frame.KIND_REQUEST, 7);
    buffer.putInt(Frame.HEADER_LENGTH, Hello.MAGIC);
    buffer.putShort(
        Frame.HEADER_LENGTH + Hello.Request.LAYOUT.offset("hostLength"), (short) 0xffff);
    return buffer.array();
  }

  private static List<InetSocketAddress> ports() {
    return List.of(cluster.namenodeAddress(0), cluster.datanodeAddress(0));
  }

  @TestFactory
  Stream<DynamicTest> endsItsOwnConnectionOnly() {
    List<DynamicTest> tests = new ArrayList<>();
    for (InetSocketAddress port : ports()) {
      String server = port.equals(cluster.namenodeAddress(0)) ? "namenode: " : "datanode: ";
      for (Garbage garbage : garbage()) {
        tests.add(
            DynamicTest.dynamicTest(
                server + garbage.name(),
                () -> withServedClient(() -> assertCloses(port, garbage.bytes()))));
      }
    }
    return tests.stream();
  }

  @Test
  void halfAMessageDelaysNoOther() throws Exception {
    withServedClient(
        () -> {
          List<Socket> open = new ArrayList<>();
          try {
            for (InetSocketAddress port : ports()) {
              byte[] hello = lyingHello();
              for (int prefix = 0; prefix < 40; prefix++) {
                Socket socket = new Socket(port.getAddress(), port.getPort());
                open.add(socket);
                socket.getOutputStream().write(hello, 0, Math.min(prefix, 20));
              }
            }
          } finally {
            for (Socket socket : open) {
              socket.close();
            }
          }
        });
  }

  @Test
  void manyHostileConnectionsAtOnce() throws Exception {
    withServedClient(
        () -> {
          Random random = new Random(7);
          List<Garbage> cases = garbage();
          for (int i = 0; i < 300; i++) {
            InetSocketAddress port = ports().get(i % 2);
            try (Socket socket = new Socket(port.getAddress(), port.getPort())) {
              socket.getOutputStream().write(cases.get(random.nextInt(cases.size())).bytes());
              // Half of them reset the connection while answers are on their way.
              socket.setSoLinger(random.nextBoolean(), 0);
            } catch (SocketException e) {
              // The server was quicker.
            }
          }
        });
  }

  @Test
  void falseRequestsLeaveNothingBehind() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Lies lies = new Lies(new Random(seed));
    int before = cluster.namenode(0).stderr().split("\n").length;
    withServedClient(
        () -> {
          for (int i = 0; i < 20; i++) {
            int role = i % 2 == 0 ? Hello.ROLE_CLIENT : Hello.ROLE_DATANODE;
            lies.tell(cluster.namenodeAddress(0), role, 200);
          }
        });
    String log = cluster.namenode(0).stderr();
    int lines = log.split("\n").length - before;
    assertTrue(lines < 50, () -> lines + " lines\n" + log);
    assertFalse(log.lines().anyMatch(line -> line.contains(" ERROR ")), log);
    for (String command : List.of("df", "datanodes", "dump")) {
      CrailProcess shown = cluster.run(command);
      assertEquals(0, shown.awaitExit(ProcessCluster.PATIENCE), shown.stderr());
      assertPrintable(shown.stdout() + shown.stderr());
      assertFalse(shown.stdout().lines().anyMatch(line -> line.startsWith("ERROR")));
    }
    assertPrintable(log);
    assertTrue(cluster.run("df").stdout().contains("1 of 1 datanodes online"));
    assertEquals(2, cluster.run("datanodes").stdout().lines().count());
  }

  private static void assertPrintable(String text) {
    for (String line : text.split("\n")) {
      assertTrue(Printable.isPrintable(line), () -> Printable.line(line));
    }
  }

  /** Sends bytes and waits until the server has closed the connection. */
  private static void assertCloses(InetSocketAddress port, byte[] bytes) throws IOException {
    try (Socket socket = new Socket(port.getAddress(), port.getPort())) {
      socket.setSoTimeout(60_000);
      try {
        socket.getOutputStream().write(bytes);
        InputStream in = socket.getInputStream();
        int answered = 0;
        while (in.read() >= 0) {
          answered++;
          assertTrue(answered < 10_000, "garbage is answered at length");
        }
      } catch (SocketTimeoutException e) {
        throw new AssertionError("the connection stays open", e);
      } catch (SocketException e) {
        // Reset: closed with our bytes unread.
      }
    }
  }

  private interface Attack {
    void run() throws Exception;
  }

  /** Runs an attack while a client writes and reads; the client must notice nothing. */
  private static void withServedClient(Attack attack) throws Exception {
    CrailStore store =
        CrailStore.newInstance(
            CrailConfiguration.of(cluster.configuration("crail.storage.localmap", "false")));
    ExecutorService executor = Executors.newSingleThreadExecutor();
    AtomicBoolean over = new AtomicBoolean();
    try {
      // Served before the attack begins, so that it has connections that could be hit.
      serve(store);
      Future<Integer> rounds =
          executor.submit(
              () -> {
                int count = 0;
                do {
                  serve(store);
                  count++;
                } while (!over.get());
                return count;
              });
      attack.run();
      over.set(true);
      assertTrue(rounds.get(60, TimeUnit.SECONDS) > 0);
      assertTrue(cluster.namenode(0).isAlive() && cluster.datanode(0).isAlive());
    } finally {
      over.set(true);
      executor.shutdown();
      assertTrue(executor.awaitTermination(60, TimeUnit.SECONDS));
      store.close();
    }
  }

  private static void serve(CrailStore store) throws Exception {
    byte[] bytes = new byte[LENGTH];
    new Random(3).nextBytes(bytes);
    CrailFile file = DataFiles.create(store, "/served");
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(LENGTH)) {
      out.write(bytes);
    }
    CrailFile found = store.lookup("/served").get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = found.getBufferedInputStream(LENGTH)) {
      assertArrayEquals(bytes, in.readAllBytes());
    }
    store.delete("/served", false).get(60, TimeUnit.SECONDS);
  }
}
