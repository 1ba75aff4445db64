/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.ProcessUser;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Principal.Role;
import io.crail.rpc.login.Right;
import io.crail.rpc.login.ServerLogin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Logins by keys and by tickets: who has them gets in, and all others do not. */
class SecretLoginTest {
  private static final String MASTER = SecretFile.newMaster("one", new SecureRandom());
  private static final String SECOND = SecretFile.newMaster("two", new SecureRandom());
  private static final Claim CLAIM =
      new Claim(new Principal(Role.CLIENT, Utf8.of("root")), 7, 8, 9, Utf8.of("host"));
  private static final long GOOD_NANOS = 60_000_000_000L;
  private static final UUID DATANODE = new UUID(3, 4);

  @TempDir private Path directory;
  private Path masters;
  private long nowNanos = 1;
  private long nowMillis = 1_000_000;
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nowNanos;
        }

        @Override
        public long currentTimeMillis() {
          return nowMillis;
        }
      };

  @BeforeEach
  void writeMasters() throws IOException {
    masters = write("masters", "# of the test\n" + MASTER + "\n" + SECOND + "\n");
  }

  private Path write(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private Secrets open(Path file) {
    return Secrets.open(file, clock);
  }

  /** Lets it see a change, and read it. */
  private void look(Secrets secrets) {
    for (int i = 0; i < 2; i++) {
      nowNanos += 1_000_000_000L;
      secrets.current();
    }
  }

  private Secrets keyOf(String role, String name, int version) throws IOException {
    LoginKey key = SecretFile.read(masters).newKey(role, name, version);
    return open(write(role + "-" + name + "-" + version, SecretFile.line(key) + "\n"));
  }

  private static void refused(ErrorCode code, String text, Executable executable) {
    CrailException e = assertThrows(CrailException.class, executable);
    assertEquals(code, e.code(), e.getMessage());
    assertTrue(e.getMessage().contains(text), e.getMessage());
  }

  private static Mechanisms at(Secrets secrets) {
    return new Mechanisms(List.of(new SecretLogin(secrets, who -> Right.of(who.role()))));
  }

  /** Logs in; keeps all messages. */
  private static Caller talk(
      Credentials credentials, Mechanisms mechanisms, Claim claim, List<byte[]> messages)
      throws CrailException {
    ClientLogin client = new ClientLogin(credentials, claim);
    ServerLogin server = new ServerLogin(mechanisms, client.mechanism(), claim);
    while (true) {
      messages.add(client.message());
      Mechanism.Reply reply = server.next(client.message());
      messages.add(reply.message());
      client.answered(reply.caller() == null, reply.message());
      if (reply.caller() != null) {
        return reply.caller();
      }
    }
  }

  private static Caller login(Secrets own, Secrets ofNamenode, Claim claim) throws CrailException {
    Credentials credentials =
        SecretCredentials.of(own, claim.principal().role(), claim.principal().name().toString());
    return talk(credentials, at(ofNamenode), claim, new ArrayList<>());
  }

  @Test
  void theHolderOfAKeyIsThePrincipalWhateverItClaims() throws Exception {
    Caller caller = login(keyOf("user", "alice", 1), open(masters), CLAIM);
    assertEquals(new Principal(Role.CLIENT, Utf8.of("alice")), caller.principal());
    assertEquals(7, caller.client());
    assertEquals("alice", caller.key().name().toString());
  }

  @Test
  void whoHasTheMasterSecretIsWhoItClaims() throws Exception {
    Caller caller = login(open(masters), open(masters), CLAIM);
    assertEquals(CLAIM.principal(), caller.principal());
  }

  @Test
  void keysOfOthersAreRefused() throws Exception {
    Secrets other = open(write("other", SecretFile.newMaster("one", new SecureRandom()) + "\n"));
    refused(
        ErrorCode.UNAUTHENTICATED,
        "user alice: the key is wrong",
        () -> login(keyOf("user", "alice", 1), other, CLAIM));
    refused(
        ErrorCode.UNAUTHENTICATED,
        "has no key for a user",
        () -> login(keyOf("datanode", "d", 1), open(masters), CLAIM));
    // The key of a datanode for the role of a user.
    Credentials datanode = SecretCredentials.of(keyOf("datanode", "d", 1), Role.DATANODE, "");
    refused(
        ErrorCode.UNAUTHENTICATED,
        "another role",
        () -> talk(datanode, at(open(masters)), CLAIM, new ArrayList<>()));
  }

  @Test
  void aNamenodeOfAnotherClusterIsNoticed() throws Exception {
    Credentials credentials = SecretCredentials.of(keyOf("user", "alice", 1), Role.CLIENT, "");
    Mechanism liar =
        new Mechanism() {
          @Override
          public int number() {
            return SecretLogin.NUMBER;
          }

          @Override
          public String name() {
            return "liar";
          }

          @Override
          public Acceptor begin(Claim claim) {
            return message ->
                message.length == LoginKey.LENGTH
                    ? Reply.accept(message, new Caller(claim.principal(), 7, Right.ALL))
                    : Reply.challenge(new byte[SecretMessage.NONCE]);
          }
        };
    refused(
        ErrorCode.UNAUTHENTICATED,
        "has not proved",
        () -> talk(credentials, new Mechanisms(List.of(liar)), CLAIM, new ArrayList<>()));
  }

  @Test
  void recordedMessagesAreNoProof() throws Exception {
    List<byte[]> messages = new ArrayList<>();
    Credentials credentials = SecretCredentials.of(keyOf("user", "alice", 1), Role.CLIENT, "");
    Secrets secrets = open(masters);
    talk(credentials, at(secrets), CLAIM, messages);
    assertEquals(4, messages.size());
    // The same messages again, those of the server instead, and with another claim.
    for (int second : new int[] {2, 3}) {
      ServerLogin server = new ServerLogin(at(secrets), SecretLogin.NUMBER, CLAIM);
      assertNull(server.next(messages.get(0)).caller());
      refused(ErrorCode.UNAUTHENTICATED, "wrong", () -> server.next(messages.get(second)));
    }
    Claim other = new Claim(CLAIM.principal(), 6, 8, 9, CLAIM.host());
    ClientLogin client = new ClientLogin(credentials, CLAIM);
    ServerLogin server = new ServerLogin(at(secrets), SecretLogin.NUMBER, other);
    client.answered(true, server.next(client.message()).message());
    refused(ErrorCode.UNAUTHENTICATED, "wrong", () -> server.next(client.message()));
  }

  @Test
  void oneChangedBitIsRefused() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    Secrets secrets = open(masters);
    Credentials credentials = SecretCredentials.of(keyOf("user", "alice", 1), Role.CLIENT, "");
    for (int i = 0; i < 200; i++) {
      int changed = random.nextInt(4);
      ClientLogin client = new ClientLogin(credentials, CLAIM);
      ServerLogin server = new ServerLogin(at(secrets), SecretLogin.NUMBER, CLAIM);
      assertThrows(
          CrailException.class,
          () -> {
            Mechanism.Reply reply = server.next(flipped(client.message(), changed == 0, random));
            client.answered(true, flipped(reply.message(), changed == 1, random));
            reply = server.next(flipped(client.message(), changed == 2, random));
            client.answered(false, flipped(reply.message(), changed == 3, random));
          },
          "message " + changed);
    }
  }

  private static byte[] flipped(byte[] message, boolean really, Random random) {
    byte[] copy = message.clone();
    if (really) {
      copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return copy;
  }

  @Test
  void aChangedFileIsReadAgain() throws Exception {
    Secrets secrets = open(masters);
    Secrets alice = keyOf("user", "alice", 1);
    Caller caller = login(alice, secrets, CLAIM);
    assertNull(secrets.refusal(caller.key()));
    write("masters", MASTER + "\n" + SECOND + "\nrevoke user alice 1\n");
    look(secrets);
    assertEquals("key 1 of user alice is revoked", secrets.refusal(caller.key()));
    refused(ErrorCode.UNAUTHENTICATED, "revoked", () -> login(alice, secrets, CLAIM));
    assertNotNull(login(keyOf("user", "alice", 2), secrets, CLAIM));
    assertNotNull(login(keyOf("user", "bob", 1), secrets, CLAIM));
    // The first master secret is dropped.
    write("masters", SECOND + "\n");
    look(secrets);
    refused(
        ErrorCode.UNAUTHENTICATED,
        "which this namenode does not have",
        () -> login(alice, secrets, CLAIM));
    // What cannot be read, or is not all there yet, takes nothing from what was there.
    for (String bad : new String[] {"master two nonsense\n", "", "revoke user alice 1\n"}) {
      write("masters", bad);
      look(secrets);
      assertNotNull(login(keyOfSecond(), secrets, CLAIM), bad);
    }
    write("masters", SecretFile.newMaster("half", new SecureRandom()) + "\n");
    nowNanos += 1_000_000_000L;
    assertNotNull(login(keyOfSecond(), secrets, CLAIM), "it has not rested yet");
    write("masters", SECOND + "\n\n");
    look(secrets);
    assertNotNull(login(keyOfSecond(), secrets, CLAIM));
  }

  private Secrets keyOfSecond() throws IOException {
    LoginKey key = SecretFile.parse(SECOND, "second").newKey("user", "alice", 1);
    return open(write("second", SecretFile.line(key)));
  }

  @Test
  void filesThatOthersMayReadAreRefused() throws Exception {
    for (String open : new String[] {"rw----r--", "rw--w----", "rw-----w-", "rwxrwxrwx"}) {
      Files.setPosixFilePermissions(masters, PosixFilePermissions.fromString(open));
      ConfigException e = assertThrows(ConfigException.class, () -> open(masters));
      assertTrue(e.getMessage().contains("chmod 600 " + masters), e.getMessage());
    }
    // As a secret that Kubernetes mounts, which belongs to root.
    Files.setPosixFilePermissions(masters, PosixFilePermissions.fromString("r--r-----"));
    if (ProcessUser.id() == 0) {
      assertTrue(open(masters).current().hasMasters());
    } else {
      assertThrows(ConfigException.class, () -> open(masters));
    }
    assertThrows(ConfigException.class, () -> open(directory.resolve("none")));
  }

  @Test
  void linesThatAreNotValidAreNamedWithoutTheirSecrets() {
    String secret = MASTER.substring(MASTER.lastIndexOf(' ') + 1);
    for (String line :
        List.of(
            "master one",
            MASTER.substring(0, MASTER.length() - 2),
            MASTER + " more",
            "user alice 0 one " + secret,
            "user alice x one " + secret,
            "user alice 1 " + "x".repeat(65) + " " + secret,
            "admin alice 1 one " + secret,
            "revoke user alice",
            MASTER + "\n" + MASTER)) {
      ConfigException e =
          assertThrows(ConfigException.class, () -> SecretFile.parse("\n" + line, "secrets"), line);
      assertTrue(e.getMessage().startsWith("secrets, line "), e.getMessage());
      assertFalse(e.getMessage().contains(secret.substring(0, 12)), e.getMessage());
    }
  }

  @Test
  void noTextHasASecret() throws Exception {
    SecretFile file = SecretFile.read(masters);
    LoginKey key = file.newKey("user", "alice", 1);
    Ticket ticket = Ticket.of(key, DATANODE, 7, 100);
    String secret = MASTER.substring(MASTER.lastIndexOf(' ') + 1);
    String bytes = SecretFile.line(key).substring(SecretFile.line(key).lastIndexOf(' ') + 1);
    Caller caller = new Caller(CLAIM.principal(), 7, Right.ALL, key);
    for (Object each : List.of(file, key, ticket, caller, new TicketCredentials(ticket, true))) {
      assertFalse(each.toString().contains(secret), each.toString());
      assertFalse(each.toString().contains(bytes), each.toString());
    }
    byte[] own = ticket.mac(new byte[0]);
    assertFalse(ticket.toString().contains(Arrays.toString(own)), ticket.toString());
    assertThrows(ConfigException.class, () -> file.newKey("user", "alice smith", 1));
    assertThrows(ConfigException.class, () -> file.newKey("user", "", 1));
    assertThrows(
        IllegalArgumentException.class, () -> SecretFile.newMaster("a b", new SecureRandom()));
  }

  // Tickets.

  private Caller loginByTicket(Secrets datanode, Ticket ticket, boolean once, long client)
      throws CrailException {
    TicketLogin login = new TicketLogin(datanode, "", DATANODE, once, GOOD_NANOS, clock);
    return talk(
        new TicketCredentials(ticket, once),
        new Mechanisms(List.of(login)),
        Claim.ofClient(client),
        new ArrayList<>());
  }

  private Ticket ticket(LoginKey ofDatanode, UUID datanode, long client, long end)
      throws Exception {
    LoginKey ofClient = SecretFile.read(masters).newKey("user", "alice", 1);
    SmallValue issued = Ticket.issue(ofDatanode, datanode, ofClient, client, end - 1, 1);
    Ticket read = Ticket.read(issued, datanode, ofClient, client);
    assertArrayEquals(
        Ticket.of(ofDatanode, datanode, client, (int) end).mac(new byte[1]), read.mac(new byte[1]));
    // Another user makes nothing of it.
    LoginKey ofOther = SecretFile.read(masters).newKey("user", "bob", 1);
    Ticket wrong = Ticket.read(issued, datanode, ofOther, client);
    assertFalse(LoginKey.same(read.mac(new byte[1]), wrong.mac(new byte[1])));
    return read;
  }

  @Test
  void aTicketIsForOneDatanodeOneClientAndATime() throws Exception {
    Secrets datanode = keyOf("datanode", "d", 1);
    LoginKey key = datanode.key(Role.DATANODE, Utf8.EMPTY);
    for (boolean once : new boolean[] {false, true}) {
      Ticket good = ticket(key, DATANODE, 7, nowMillis / 1000 + 10);
      Caller caller = loginByTicket(datanode, good, once, 7);
      assertEquals(7, caller.client());
      assertFalse(caller.may(Right.OPERATE));
      Secrets other = keyOf("datanode", "e", 1);
      Ticket ofOther = ticket(key, new UUID(1, 1), 7, nowMillis / 1000 + 10);
      refused(ErrorCode.UNAUTHENTICATED, "no ticket", () -> loginByTicket(other, good, once, 7));
      refused(ErrorCode.UNAUTHENTICATED, "no ticket", () -> loginByTicket(datanode, good, once, 8));
      refused(
          ErrorCode.UNAUTHENTICATED, "no ticket", () -> loginByTicket(datanode, ofOther, once, 7));
      nowMillis += 11_000;
      refused(ErrorCode.UNAUTHENTICATED, "expired", () -> loginByTicket(datanode, good, once, 7));
    }
  }

  @Test
  void ticketsOfTheLastKeyAreGoodAfterAChange() throws Exception {
    Secrets datanode = keyOf("datanode", "d", 1);
    Ticket old = ticket(datanode.key(Role.DATANODE, Utf8.EMPTY), DATANODE, 7, 2000);
    for (int version = 2; version <= 3; version++) {
      LoginKey next = SecretFile.read(masters).newKey("datanode", "d", version);
      write("datanode-d-1", "# " + "x".repeat(version) + "\n" + SecretFile.line(next) + "\n");
      look(datanode);
      Ticket now = ticket(next, DATANODE, 7, 2000);
      assertEquals(7, loginByTicket(datanode, now, false, 7).client());
      assertEquals(7, loginByTicket(datanode, old, false, 7).client());
    }
    nowNanos += GOOD_NANOS;
    refused(ErrorCode.UNAUTHENTICATED, "no ticket", () -> loginByTicket(datanode, old, false, 7));
  }

  @Test
  void aRecordedTicketIsNoProofWhereTheDatanodeAsks() throws Exception {
    Secrets datanode = keyOf("datanode", "d", 1);
    Ticket good = ticket(datanode.key(Role.DATANODE, Utf8.EMPTY), DATANODE, 7, 2000);
    TicketLogin login = new TicketLogin(datanode, "", DATANODE, false, GOOD_NANOS, clock);
    Mechanisms mechanisms = new Mechanisms(List.of(login));
    List<byte[]> messages = new ArrayList<>();
    talk(new TicketCredentials(good, false), mechanisms, Claim.ofClient(7), messages);
    ServerLogin server = new ServerLogin(mechanisms, TicketLogin.NUMBER, Claim.ofClient(7));
    assertNull(server.next(messages.get(0)).caller());
    refused(ErrorCode.UNAUTHENTICATED, "proof", () -> server.next(messages.get(2)));
    // Nor is what is proved in one message proved in several, and the other way round.
    refused(
        ErrorCode.UNSUPPORTED,
        "mechanism 3",
        () -> new ServerLogin(mechanisms, TicketLogin.NUMBER_ONCE, Claim.ofClient(7)));
    byte[] once = TicketLogin.first(good, true);
    refused(
        ErrorCode.UNAUTHENTICATED,
        "no ticket",
        () -> new ServerLogin(mechanisms, TicketLogin.NUMBER, Claim.ofClient(7)).next(once));
  }
}
