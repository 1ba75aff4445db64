/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.nemesis.Role;
import io.crail.tool.Ran;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster with a secret: who has a key gets in, all others do not, and a key that is revoked ends
 * what its holder has open.
 */
@Tag("once")
class SecretSystemTest {
  private static final int LENGTH = 300_000;

  /** Short, so that some end in a test. */
  private static final int TICKET_SECONDS = 10;

  @TempDir private static Path secrets;
  private static Path masters;
  private static ProcessCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    masters = secrets.resolve("masters");
    made("master", "-o", masters.toString());
    key("datanode", "rack1");
    key("user", "alice");
    key("user", "bob");
    key("user", "carol");
    cluster =
        ProcessCluster.start(
            new ProcessCluster.Places(
                index -> "127.0.0.1",
                (role, index) -> List.of(),
                null,
                role ->
                    List.of(
                        "--set",
                        "crail.secret.file="
                            + (role == Role.NAMENODE ? masters : file("datanode", "rack1")))),
            2,
            1,
            Map.of("crail.secret.ticket", TICKET_SECONDS + "s"));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static void made(String... words) {
    String[] all = new String[words.length + 2];
    all[0] = "--set=crail.secret.file=" + masters;
    all[1] = "secret";
    System.arraycopy(words, 0, all, 2, words.length);
    Ran ran = Ran.run(secrets, all);
    assertEquals(0, ran.code(), ran.toString());
  }

  private static Path file(String role, String name) {
    return secrets.resolve(role + "-" + name);
  }

  private static Path key(String role, String name) {
    Path file = file(role, name);
    made(role, name, "-o", file.toString());
    return file;
  }

  /** Runs a command with the secrets of a file; none if it is empty. */
  private static Ran ran(Object file, String... words) {
    String[] all = new String[words.length + 1];
    all[0] = "--set=crail.secret.file=" + file;
    System.arraycopy(words, 0, all, 1, words.length);
    return Ran.run(cluster.directory(), all);
  }

  private static Ran good(Object file, String... words) {
    Ran ran = ran(file, words);
    assertEquals(0, ran.code(), ran.toString());
    return ran;
  }

  private static void refused(String why, Object file, String... words) {
    Ran ran = ran(file, words);
    assertEquals(1, ran.code(), ran.toString());
    assertTrue(ran.stderr().contains(why), ran.toString());
  }

  private static CrailStore store(Path key, boolean mapped) throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration(
                "crail.secret.file", key.toString(), "crail.storage.localmap", "" + mapped)));
  }

  @Test
  void whoHasAKeyUsesTheStoreUnderItsName() throws Exception {
    byte[] bytes = new byte[LENGTH];
    new Random(1).nextBytes(bytes);
    Path local = Files.write(secrets.resolve("bytes"), bytes);
    for (String mapped : List.of("true", "false")) {
      String path = "/of-alice-" + mapped;
      String way = "crail.storage.localmap=" + mapped;
      good(file("user", "alice"), "put", "--set", way, local.toString(), path);
      Path back = secrets.resolve("back-" + mapped);
      good(file("user", "bob"), "get", "--set", way, path, back.toString());
      assertArrayEquals(bytes, Files.readAllBytes(back));
      assertTrue(good(file("user", "bob"), "ls", "-l", path).stdout().contains("alice"));
    }
  }

  @Test
  void onlyTheOperatorOperates() throws Exception {
    String datanode = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
    String[][] commands = {
      {"drain", datanode}, {"removeDatanode", datanode}, {"dump"}, {"top"}, {"fsck"}
    };
    for (String[] each : commands) {
      refused("access denied", file("user", "alice"), each);
    }
    for (String[] each : new String[][] {{"df"}, {"datanodes"}, {"ping"}}) {
      good(file("user", "alice"), each);
    }
    // The namenode's own user, who has its secret.
    assertTrue(good(masters, "dump").stdout().contains("# namenode 1"));
    good(masters, "status");
    good(masters, "fsck");
  }

  @Test
  void strangersAreRefusedAndLearnWhy() throws Exception {
    refused("requires a key", "", "ls", "/");
    Path others = secrets.resolve("others");
    made("master", "-o", others.toString(), "-i", "others");
    refused("of the master secret 'others'", others, "ls", "/");
    // A master secret of the same name.
    String id = Files.readString(masters).split(" ")[1];
    Path same = secrets.resolve("same");
    made("master", "-o", same.toString(), "-i", id);
    refused("the key is wrong", same, "ls", "/");
    refused("has no key for a user", file("datanode", "rack1"), "ls", "/");
    Path open = Files.writeString(secrets.resolve("open"), Files.readString(masters));
    Ran ran = ran(open, "ls", "/");
    assertEquals(2, ran.code(), ran.toString());
    assertTrue(ran.stderr().contains("chmod 600 " + open), ran.toString());
  }

  private static void create(CrailStore store, String path) throws Exception {
    store
        .create(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
  }

  private static ErrorCode attempt(CrailStore store, String path) throws Exception {
    try {
      create(store, path);
      return ErrorCode.OK;
    } catch (ExecutionException e) {
      return ((CrailException) e.getCause()).code();
    }
  }

  private static CrailInputStream openFile(CrailStore store) throws Exception {
    return store.lookup("/open").get().asFile().getDirectInputStream(LENGTH);
  }

  /** Reads all of a file over the network; gives the error, or null. */
  private static Throwable read(CrailInputStream stream) {
    CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(LENGTH));
    try {
      stream.seek(0);
      while (buffer.hasRemaining()) {
        assertTrue(stream.read(buffer).get().getLen() > 0, "an early end");
      }
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (Exception e) {
      return e;
    }
  }

  @Test
  void whatIsOpenOutlivesItsTicketsUnlessTheKeyIsRevoked() throws Exception {
    key("user", "dave");
    Path local = Files.write(secrets.resolve("open-bytes"), new byte[LENGTH]);
    good(file("user", "alice"), "put", local.toString(), "/open");
    try (CrailStore alice = store(file("user", "alice"), false);
        CrailStore dave = store(file("user", "dave"), false)) {
      CrailInputStream ofAlice = openFile(alice);
      CrailInputStream ofDave = openFile(dave);
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(2 * TICKET_SECONDS + 5)) {
        assertNull(read(ofAlice));
        assertNull(read(ofDave));
      }
      Files.writeString(masters, "revoke user dave 1\n", StandardOpenOption.APPEND);
      Throwable[] last = new Throwable[1];
      Await.until(
          "dave reads no more",
          ProcessCluster.PATIENCE,
          () -> {
            assertNull(read(ofAlice));
            return (last[0] = read(ofDave)) != null;
          });
      assertTrue(last[0] instanceof CrailException, last[0].toString());
      assertNull(read(ofAlice));
      ofAlice.close();
    }
  }

  @Test
  void aRevokedKeyEndsWhatItsHolderHasOpen() throws Exception {
    try (CrailStore alice = store(file("user", "alice"), true);
        CrailStore carol = store(file("user", "carol"), true)) {
      create(alice, "/a");
      create(carol, "/b");
      Files.writeString(masters, "revoke user carol 1\n", StandardOpenOption.APPEND);
      int[] count = {0};
      ErrorCode[] last = {ErrorCode.OK};
      Await.until(
          "carol is refused",
          ProcessCluster.PATIENCE,
          () -> (last[0] = attempt(carol, "/b" + count[0]++)) != ErrorCode.OK);
      assertEquals(ErrorCode.UNAUTHENTICATED, last[0]);
      assertEquals(ErrorCode.OK, attempt(alice, "/a1"));
      refused("key 1 of user carol is revoked", file("user", "carol"), "ls", "/");
      made("user", "carol", "-v", "2", "-o", secrets.resolve("second").toString());
      good(secrets.resolve("second"), "ls", "/");
    }
  }

  @Test
  void aDatanodeTakesItsNextKeyWhileItServes() throws Exception {
    Path local = Files.write(secrets.resolve("next-bytes"), new byte[LENGTH]);
    good(file("user", "alice"), "put", local.toString(), "/next");
    made("datanode", "rack1", "-v", "2", "-o", secrets.resolve("rack1-2").toString());
    Files.move(
        secrets.resolve("rack1-2"),
        file("datanode", "rack1"),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
    long begin = System.nanoTime();
    for (int i = 0; System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(12); i++) {
      Path back = secrets.resolve("next-back-" + i);
      good(
          file("user", "alice"),
          "get",
          "--set",
          "crail.storage.localmap=false",
          "/next",
          back.toString());
      if (i == 3) {
        Files.writeString(masters, "revoke datanode rack1 1\n", StandardOpenOption.APPEND);
      }
    }
    assertTrue(good(masters, "datanodes").stdout().contains("  online  "));
  }

  @Test
  void aNewMasterSecretTakesThePlaceOfAnOldOne() throws Exception {
    String old = Files.readString(masters);
    Path next = secrets.resolve("next");
    made("master", "-o", next.toString(), "-i", "next");
    // Both are good, and the new one makes the keys.
    Files.writeString(masters, Files.readString(next) + old);
    Path now = secrets.resolve("now");
    made("user", "alice", "-o", now.toString());
    assertTrue(Files.readString(now).contains(" next "));
    Await.until(
        "the new key is good", ProcessCluster.PATIENCE, () -> ran(now, "ls", "/").code() == 0);
    good(file("user", "alice"), "ls", "/");
    Files.writeString(masters, Files.readString(next));
    try {
      Await.until(
          "the old key is refused",
          ProcessCluster.PATIENCE,
          () -> ran(file("user", "alice"), "ls", "/").code() == 1);
      good(now, "ls", "/");
    } finally {
      Files.writeString(masters, old);
      Await.until(
          "the old key is good again",
          ProcessCluster.PATIENCE,
          () -> ran(file("user", "alice"), "ls", "/").code() == 0);
    }
  }
}
