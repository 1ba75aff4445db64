/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import io.crail.rpc.login.ServerLogin;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.mapped.MappedEndpoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writers of a datanode's host that stop in the middle of a write, or end there. */
class LocalWritersTest {
  private static final int LENGTH = 1 << 20;
  private static final long CLIENT = 42;
  private static final LocalClient ANYBODY = new LocalClient(CLIENT, Anybody.CREDENTIALS);
  private static final Function<String, StorageEndpoint> NO_DETOUR =
      reason -> {
        throw new AssertionError(reason);
      };

  @TempDir Path dataPath;
  private final UUID uuid = UUID.randomUUID();
  private RegionDirectory directory;
  private Process child;

  /** Announces a write of generation 1 and never continues. */
  static final class StoppedWriter {
    private StoppedWriter() {}

    public static void main(String[] args) throws Exception {
      Path path = Path.of(args[0]);
      LocalWriter writer = LocalWriter.open(path, HazardTable.open(path), ANYBODY);
      System.out.println(writer.announce(0, 0, LENGTH / 2, 1) != null ? "announced" : "closed");
      // Its parent kills it; ends by itself should that have gone.
      System.in.read();
    }
  }

  @BeforeEach
  void create() throws IOException {
    directory = RegionDirectory.create(dataPath, uuid, List.of(LENGTH), false);
  }

  @AfterEach
  void end() throws InterruptedException {
    if (child != null) {
      assertTrue(child.destroyForcibly().waitFor(20, TimeUnit.SECONDS));
    }
    directory.close();
  }

  @Test
  void spaceOfAStoppedWriterIsNotGivenOutUntilItHasEnded() throws Exception {
    startChild();
    RegionMemory region = directory.regions().get(0);
    directory.beat();
    assertEquals(ErrorCode.SPACE_PINNED, region.take(0, LENGTH, 2));
    assertEquals(ErrorCode.SPACE_PINNED, region.take(0, LENGTH, 2), "asked again");
    assertEquals(ErrorCode.OK, region.take(LENGTH / 2, LENGTH / 2, 2), "beside it");
    try (MappedEndpoint endpoint = endpoint(true)) {
      assertEquals(ErrorCode.SPACE_PINNED, write(endpoint, 3));
      child.destroyForcibly().waitFor();
      await(() -> region.take(0, LENGTH, 4) == ErrorCode.OK);
      assertEquals(ErrorCode.OK, write(endpoint, 5));
    }
  }

  @Test
  void aProcessThatLivesIsNotTakenForOneThatHasEnded() throws Exception {
    startChild();
    for (int i = 0; i < 10; i++) {
      // As no one hears of it, it cannot be distinguished from a stopped one.
      directory.beat();
      assertEquals(ErrorCode.SPACE_PINNED, directory.regions().get(0).take(0, 1, 2));
    }
  }

  @Test
  void anEndpointLeavesNothingWhenItIsClosed() throws IOException {
    HazardTable hazards = directory.hazards();
    try (MappedEndpoint reader = endpoint(true)) {
      assertEquals(0, hazards.slots(), "who has not written is not known");
      assertEquals(ErrorCode.OK, write(reader, 1));
      assertEquals(1, hazards.slots());
      assertTrue(hazards.owner(0) != 0);
      assertEquals(0, hazards.piece(0));
    }
    assertEquals(0, hazards.owner(0));
    // Bytes of others in the file of the socket do no harm.
    directory.beat();
    try (MappedEndpoint writer = endpoint(true)) {
      assertEquals(ErrorCode.OK, write(writer, 1));
      directory.beat();
      directory.beat();
      assertEquals(ErrorCode.OK, write(writer, 1));
    }
  }

  @Test
  void aRevokedWriterChecksItsLeaseAgain() throws Exception {
    try (MappedEndpoint endpoint = endpoint(false)) {
      assertEquals(ErrorCode.OK, write(endpoint, 1));
      long owner = directory.hazards().owner(0);
      assertEquals(List.of(), directory.revoke(Set.of(CLIENT + 1)));
      assertEquals(List.of(owner), directory.revoke(Set.of(CLIENT)));
      assertTrue(directory.areIdle(List.of(owner)));
      // It has time left, so it continues, under another identity.
      assertEquals(ErrorCode.OK, write(endpoint, 1));
      await(() -> directory.hazards().owner(0) != owner);
      assertEquals(ErrorCode.OK, write(endpoint, 1));
    }
  }

  @Test
  void aRevocationWaitsForAWriteInProgress() throws Exception {
    startChild();
    List<Long> revoked = directory.revoke(Set.of(CLIENT, CLIENT + 1));
    assertEquals(1, revoked.size());
    assertFalse(directory.areIdle(revoked));
    // A later one has another identity.
    try (MappedEndpoint endpoint = endpoint(false)) {
      assertEquals(ErrorCode.OK, write(endpoint, 1));
      assertFalse(directory.areIdle(revoked));
      child.destroyForcibly().waitFor();
      await(() -> directory.areIdle(revoked));
      assertEquals(ErrorCode.OK, write(endpoint, 1));
    }
  }

  /** Slots that it claims afterwards are no way around. */
  @Test
  void aRevocationHoldsForAllSlots() throws Exception {
    try (LocalWriter writer = LocalWriter.open(directory.path(), directory.hazards(), ANYBODY)) {
      Hazard first = writer.announce(0, 0, LENGTH, 1);
      List<Long> revoked = directory.revoke(Set.of(CLIENT));
      Hazard second = writer.announce(0, 0, LENGTH, 1);
      assertEquals(2, directory.hazards().slots());
      assertTrue(writer.isRevoked());
      first.retract();
      assertFalse(directory.areIdle(revoked));
      second.retract();
      assertTrue(directory.areIdle(revoked));
    }
  }

  @Test
  void anExtentIsGivenUpBeforeAnythingIsInItWhenItsEndCannotBeWritten() throws Exception {
    startChild();
    try (MappedEndpoint endpoint = endpoint(true)) {
      Extent extent = new Extent(0, LENGTH / 2, new Place(1, 0, LENGTH / 4, 2));
      assertEquals(ErrorCode.SPACE_PINNED, write(endpoint, extent));
      child.destroyForcibly().waitFor();
      await(() -> write(endpoint, extent) == ErrorCode.OK);
    }
  }

  @Test
  void strangersAtTheSocketDoNoHarm() throws Exception {
    startChild();
    try (SocketChannel silent = connect();
        SocketChannel loud = connect()) {
      loud.write(ByteBuffer.allocate(10_000));
      directory.beat();
    }
    directory.beat();
    assertEquals(ErrorCode.SPACE_PINNED, directory.regions().get(0).take(0, 1, 2));
    try (MappedEndpoint endpoint = endpoint(true)) {
      assertEquals(ErrorCode.SPACE_PINNED, write(endpoint, 3));
    }
  }

  /** Accepts a client that sends so many bytes, as another one, and answers with as many. */
  private static Mechanism counting(int bytes) {
    return new Mechanism() {
      @Override
      public int number() {
        return 200;
      }

      @Override
      public String name() {
        return "counting";
      }

      @Override
      public Acceptor begin(Claim claim) {
        return message -> {
          if (message.length < bytes) {
            return Reply.challenge(message);
          } else if (message.length > bytes) {
            throw ErrorCode.INVALID_ARGUMENT.exception("it cannot count");
          }
          return Reply.accept(
              message, new Caller(Principal.ANYBODY, claim.client() + 1, Right.ALL));
        };
      }
    };
  }

  /** Sends so many bytes, and takes as many. */
  private static LocalClient counter(int bytes, int answer) {
    return new LocalClient(
        CLIENT,
        new Credentials() {
          @Override
          public int mechanism() {
            return 200;
          }

          @Override
          public Initiator begin(Claim claim) {
            return new Initiator() {
              @Override
              public byte[] first() {
                return new byte[bytes];
              }

              @Override
              public byte[] next(byte[] challenge) {
                throw new AssertionError("a second message");
              }

              @Override
              public void accepted(byte[] last) throws CrailException {
                if (last.length != answer) {
                  throw ErrorCode.INVALID_ARGUMENT.exception("the datanode cannot count");
                }
              }
            };
          }
        });
  }

  private void serve(Mechanism mechanism) throws IOException {
    directory.close();
    Mechanisms mechanisms = new Mechanisms(List.of(mechanism));
    directory =
        RegionDirectory.create(
            dataPath,
            uuid,
            List.of(LENGTH),
            new RegionDirectory.Manner(false, null, mechanisms, null));
  }

  @Test
  void aProcessOfTheHostIsWhomItsLoginSays() throws Exception {
    for (int bytes : new int[] {0, 1, ServerLogin.MAX_MESSAGE}) {
      serve(counting(bytes));
      try (MappedEndpoint endpoint = endpoint(false, counter(bytes, bytes), NO_DETOUR)) {
        // Long enough for both sides to have looked.
        int[] writes = {0};
        await(
            () -> {
              assertEquals(ErrorCode.OK, write(endpoint, 1));
              return ++writes[0] == 5;
            });
        assertEquals(List.of(), directory.revoke(Set.of(CLIENT)), "its claim");
        assertEquals(1, directory.revoke(Set.of(CLIENT + 1)).size());
      }
    }
  }

  @Test
  void whoIsRefusedGoesOverTheNetwork() throws Exception {
    serve(counting(2));
    Map<LocalClient, ErrorCode> refused =
        Map.of(
            ANYBODY,
            ErrorCode.UNAUTHENTICATED,
            counter(3, 3),
            ErrorCode.INVALID_ARGUMENT,
            counter(1, 1),
            ErrorCode.UNSUPPORTED,
            counter(2, 3),
            ErrorCode.INVALID_ARGUMENT);
    for (Map.Entry<LocalClient, ErrorCode> each : refused.entrySet()) {
      List<String> reasons = new ArrayList<>();
      try (MappedEndpoint endpoint = endpoint(true, each.getKey(), taken(reasons))) {
        assertEquals(ErrorCode.OK, write(endpoint, 1), "the datanode has not looked yet");
        await(() -> write(endpoint, 1) == ErrorCode.NO_SPACE);
        assertEquals(ErrorCode.NO_SPACE, write(endpoint, 1));
        assertEquals(1, reasons.size(), reasons::toString);
        assertTrue(reasons.get(0).contains(each.getValue().text()), reasons::toString);
        assertFalse(endpoint.isLocal());
        assertFalse(endpoint.hasEnded());
      }
    }
  }

  /** A datanode over a network; it ends all writes with an error of its own. */
  private static Function<String, StorageEndpoint> taken(List<String> reasons) {
    return reason -> {
      reasons.add(reason);
      return new StorageEndpoint() {
        @Override
        public void read(Transfer transfer) {
          throw new AssertionError("a read");
        }

        @Override
        public void write(Transfer transfer) {
          transfer.end(ErrorCode.NO_SPACE.exception("over the network"));
        }

        @Override
        public boolean isLocal() {
          return false;
        }

        @Override
        public void close() {}
      };
    };
  }

  @Test
  void whoIsRefusedInTheMiddleOfAWriteIsWaitedFor() throws Exception {
    serve(counting(2));
    RegionMemory region = directory.regions().get(0);
    LocalWriter writer = LocalWriter.open(directory.path(), directory.hazards(), ANYBODY);
    Hazard write = writer.announce(0, 0, LENGTH, 1);
    directory.beat();
    directory.beat();
    assertEquals(ErrorCode.SPACE_PINNED, region.take(0, LENGTH, 2));
    assertEquals(1, directory.revoke(Set.of(CLIENT)).size());
    write.retract();
    writer.close();
    await(() -> region.take(0, LENGTH, 2) == ErrorCode.OK);
  }

  @Test
  void aNameThatIsTooLongForASocketLeavesTheNetwork() throws IOException {
    Path deep = dataPath.resolve("d".repeat(100));
    try (RegionDirectory other =
        RegionDirectory.create(deep, UUID.randomUUID(), List.of(LENGTH), false)) {
      assertTrue(other.mappablePath().isEmpty());
      other.beat();
    }
    assertTrue(!directory.mappablePath().isEmpty());
  }

  private SocketChannel connect() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(directory.path().resolve("writers")));
    return channel;
  }

  private void startChild() throws IOException {
    child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                StoppedWriter.class.getName(),
                directory.path().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader told = new BufferedReader(new InputStreamReader(child.getInputStream()));
    String line = told.readLine();
    assertNotNull(line);
    assertEquals("announced", line);
    directory.beat();
  }

  private MappedEndpoint endpoint(boolean checksGeneration) throws IOException {
    return endpoint(checksGeneration, ANYBODY, NO_DETOUR);
  }

  private MappedEndpoint endpoint(
      boolean checksGeneration, LocalClient client, Function<String, StorageEndpoint> detour)
      throws IOException {
    DatanodeDescription datanode =
        new DatanodeDescription(
            uuid,
            "tcp",
            InetSocketAddress.createUnresolved("localhost", 1),
            0,
            TierTraits.ofMemory(
                checksGeneration ? FenceKind.GENERATION : FenceKind.CUT_OFF,
                true,
                directory.path().toString()),
            Map.of(0, new Region(0, LENGTH, 0, 0)));
    return MappedEndpoint.open(datanode, client.id(), client.credentials(), Clock.SYSTEM, detour)
        .orElseThrow();
  }

  private static ErrorCode write(MappedEndpoint endpoint, long generation) {
    return write(endpoint, new Extent(0, 4096, new Place(1, 0, 0, generation)));
  }

  private static ErrorCode write(MappedEndpoint endpoint, Extent extent) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        ByteBuffer.allocateDirect(8), 0, 8, extent, 0, System.nanoTime() + 60_000_000_000L);
    endpoint.write(transfer);
    assertTrue(transfer.isComplete());
    return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
  }

  /** Beats until something is so. */
  private void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + 20_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "not within 20 s");
      Thread.sleep(5);
      directory.beat();
    }
  }
}
