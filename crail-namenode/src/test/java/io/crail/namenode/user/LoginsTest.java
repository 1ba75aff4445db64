/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.secret.SecretFile;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is logged in at a namenode, and whose login ends. */
class LoginsTest {
  private final String master = SecretFile.newMaster("one", new SecureRandom());
  private long nowNanos = 1;
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nowNanos;
        }

        @Override
        public long currentTimeMillis() {
          return 1_000_000;
        }
      };

  @TempDir private Path directory;
  private Path file;
  private Logins logins;

  @BeforeEach
  void start() throws IOException {
    file = directory.resolve("secret");
    write(master + "\n");
    logins = Logins.of(conf(), "operator", clock);
  }

  private Configuration conf() {
    return Configuration.builder().set("crail.secret.file", file.toString(), "the test").build();
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    nowNanos += TimeUnit.SECONDS.toNanos(2);
  }

  private Caller caller(String user, long client) {
    LoginKey key = Secrets.open(file, clock).current().newKey("user", user, 1);
    Principal principal = new Principal(Principal.Role.CLIENT, Utf8.of(user));
    return new Caller(principal, client, Right.ALL, key);
  }

  private static void refused(String text, Caller caller, Logins logins) {
    CrailException e = assertThrows(CrailException.class, () -> logins.begin(caller));
    assertEquals(ErrorCode.UNAUTHENTICATED, e.code());
    assertTrue(e.getMessage().contains(text), e.getMessage());
  }

  @Test
  void aRevokedKeyEndsItsLogins() throws Exception {
    Caller alice = caller("alice", 1);
    Caller again = caller("alice", 1);
    Caller bob = caller("bob", 2);
    Caller carol = caller("alice", 3);
    for (Caller each : List.of(alice, again, bob, carol)) {
      logins.begin(each);
    }
    logins.end(carol);
    logins.tick();
    assertNull(alice.end());
    write(master + "\nrevoke user alice 1\n");
    // It is read when it has rested.
    logins.tick();
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    logins.tick();
    assertEquals("key 1 of user alice is revoked", alice.end());
    assertNotNull(again.end());
    assertNull(bob.end());
    refused("is revoked", caller("alice", 4), logins);
  }

  @Test
  void theIdOfAClientBelongsToOneUserAtATime() throws Exception {
    Caller alice = caller("alice", 1);
    logins.begin(alice);
    refused("another user has this id", caller("bob", 1), logins);
    logins.begin(caller("alice", 1));
    logins.end(alice);
    refused("another user has this id", caller("bob", 1), logins);
    logins.begin(caller("bob", 2));
  }

  @Test
  void withoutASecretAllAreAnybody() throws Exception {
    Logins open = Logins.of(Configuration.defaults(), "operator", clock);
    assertSame(Mechanisms.ANYBODY, open.mechanisms());
    Principal principal = new Principal(Principal.Role.CLIENT, Utf8.of("alice"));
    for (String user : List.of("alice", "bob")) {
      open.begin(new Caller(new Principal(Principal.Role.CLIENT, Utf8.of(user)), 1, Right.ALL));
    }
    open.end(new Caller(principal, 1, Right.ALL));
    open.tick();
  }

  @Test
  void aNamenodeNeedsAMasterSecret() throws Exception {
    LoginKey key = Secrets.open(file, clock).current().newKey("user", "alice", 1);
    write(SecretFile.line(key) + "\n");
    ConfigException e =
        assertThrows(ConfigException.class, () -> Logins.of(conf(), "operator", clock));
    assertTrue(e.getMessage().contains("has no master secret"), e.getMessage());
  }
}
