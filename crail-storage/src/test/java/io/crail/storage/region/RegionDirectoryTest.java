/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.Clock;
import io.crail.common.ProcessUser;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.login.Mechanisms;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.mapped.MappedEndpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegionDirectoryTest {
  private static final long CLIENT = 1;
  private static final Function<String, StorageEndpoint> NO_DETOUR =
      reason -> {
        throw new AssertionError(reason);
      };

  private static final int LENGTH = 1 << 20;

  /** After this time the next access looks whether the datanode lives. */
  private static final long LOOK_NANOS = 2_000_000;

  @TempDir Path dataPath;

  private RegionDirectory create(UUID uuid) throws IOException {
    return RegionDirectory.create(dataPath, uuid, List.of(LENGTH, LENGTH), true);
  }

  private static DatanodeDescription describe(UUID uuid, Path directory) {
    return new DatanodeDescription(
        uuid,
        "tcp",
        InetSocketAddress.createUnresolved("localhost", 1),
        0,
        TierTraits.ofMemory(FenceKind.GENERATION, true, directory.toString()),
        Map.of());
  }

  @Test
  void laysOutTheFilesAndRemovesThemAtTheEnd() throws IOException {
    UUID uuid = UUID.randomUUID();
    RegionDirectory directory = create(uuid);
    assertEquals(dataPath.resolve(uuid.toString()), directory.path());
    assertTrue(Files.readString(directory.path().resolve("id")).startsWith(uuid + "\n"));
    for (int i = 0; i < 2; i++) {
      assertEquals(LENGTH, Files.size(directory.path().resolve("region-" + i)));
      assertEquals(LENGTH / 4096 * 8, Files.size(directory.path().resolve("region-" + i + ".gen")));
    }
    directory.close();
    directory.close();
    assertEquals(List.of(), listed());
  }

  @Test
  void removesWhatADeadDatanodeHasLeft() throws IOException {
    Path dead = leftover(UUID.randomUUID());
    try (RegionDirectory directory = create(UUID.randomUUID())) {
      assertFalse(Files.exists(dead));
      assertTrue(Files.exists(directory.path()));
    }
  }

  @Test
  void keepsTheBytesOfRegionsInHugePages(@TempDir Path huge) throws IOException {
    UUID uuid = UUID.randomUUID();
    HugePages pages = new HugePages(huge, LENGTH);
    RegionDirectory directory =
        RegionDirectory.create(
            dataPath,
            uuid,
            List.of(LENGTH),
            new RegionDirectory.Manner(true, pages, Mechanisms.ANYBODY, null));
    Path file = huge.resolve("crail-" + uuid + "-region-0");
    assertEquals(LENGTH, Files.size(file));
    // Such files cannot be written, so a client takes them for whole from the beginning.
    directory.regions().get(0).data().put(17, (byte) 5);
    try (RegionMemory seen = RegionMemory.open(directory.path(), 0, directory.hazards())) {
      assertEquals(5, seen.data().get(17));
      assertTrue(seen.isReady(0, LENGTH));
    }
    Path foreign = Files.writeString(huge.resolve("crail-notes"), "mine");
    directory.close();
    assertFalse(Files.exists(file));
    assertEquals("mine", Files.readString(foreign));
    assertEquals(List.of(), listed());
  }

  @Test
  void removesTheHugePagesOfADeadDatanode(@TempDir Path huge) throws IOException {
    UUID uuid = UUID.randomUUID();
    Path dead = leftover(uuid);
    Files.delete(dead.resolve("region-0"));
    Path file = Files.writeString(huge.resolve("crail-" + uuid + "-region-0"), "left");
    Path foreign = Files.writeString(huge.resolve("thesis.tex"), "mine");
    Files.writeString(dead.resolve("pages"), huge.toString());
    Files.createSymbolicLink(dead.resolve("region-7"), foreign);
    create(UUID.randomUUID()).close();
    assertFalse(Files.exists(dead));
    assertFalse(Files.exists(file));
    assertEquals("mine", Files.readString(foreign));
  }

  @Test
  void regionsThatAreNotTakenAtOnceGrowLater() throws IOException {
    try (RegionDirectory sparse =
            RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), false);
        RegionMemory seen = RegionMemory.open(sparse.path(), 0, sparse.hazards())) {
      assertFalse(seen.isReady(0, 1));
    }
    try (RegionDirectory whole = create(UUID.randomUUID());
        RegionMemory seen = RegionMemory.open(whole.path(), 1, whole.hazards())) {
      assertTrue(seen.isReady(0, LENGTH));
    }
  }

  @Test
  void leavesALivingDatanodeAlone() throws Exception {
    RegionDirectory living = create(UUID.randomUUID());
    AtomicLong beats = new AtomicLong();
    Thread heart =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                beats.incrementAndGet();
                living.beat();
                try {
                  Thread.sleep(100);
                } catch (InterruptedException e) {
                  return;
                }
              }
            });
    heart.start();
    long began = System.nanoTime();
    try (RegionDirectory other = create(UUID.randomUUID())) {
      long took = System.nanoTime() - began;
      assertTrue(Files.exists(living.path().resolve("region-1")));
      // Not given up, as after a second and a half on a machine where the heart stoppedill.
      assertTrue(beats.get() > 0 || took > 1_000_000_000, "no one waited for a beat");
    } finally {
      heart.interrupt();
      heart.join(60_000);
      living.close();
    }
  }

  @Test
  void leavesAStoppedDatanodeAlone() throws IOException {
    // Its heart has stopped, but its process holds the lock.
    Path stopped = leftover(UUID.randomUUID());
    try (FileChannel channel = FileChannel.open(stopped.resolve("lock"), StandardOpenOption.WRITE);
        FileLock lock = channel.lock();
        RegionDirectory other = create(UUID.randomUUID())) {
      assertTrue(lock.isValid());
      assertTrue(Files.exists(stopped.resolve("region-0")));
    }
  }

  @Test
  void leavesWhatIsNotOursAlone() throws IOException {
    List<Path> foreign =
        List.of(
            dataPath.resolve("notes"),
            dataPath.resolve("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
            dataPath.resolve("F47AC10B-58CC-4372-A567-0E02B2C3D470"));
    for (Path path : foreign) {
      Files.createDirectory(path);
      Files.writeString(path.resolve("region-0"), "mine");
    }
    Files.writeString(dataPath.resolve("region-0"), "mine");
    Path mixed = leftover(UUID.randomUUID());
    Files.writeString(mixed.resolve("thesis.tex"), "mine");
    create(UUID.randomUUID()).close();
    for (Path path : foreign) {
      assertTrue(Files.exists(path.resolve("region-0")), path.toString());
    }
    assertTrue(Files.exists(dataPath.resolve("region-0")));
    assertTrue(Files.exists(mixed.resolve("thesis.tex")));
  }

  /** Like datanodes that start while the last one in the default directory ends. */
  @Test
  void aParentThatOthersRemoveIsMadeAgain() throws Exception {
    Path parent = dataPath.resolve("shared");
    AtomicBoolean over = new AtomicBoolean();
    Thread remover =
        new Thread(
            () -> {
              while (!over.get()) {
                parent.toFile().delete();
              }
            });
    remover.start();
    try {
      for (int i = 0; i < 100; i++) {
        RegionDirectory.create(parent, UUID.randomUUID(), List.of(4096), false).close();
      }
    } finally {
      over.set(true);
      remover.join();
    }
  }

  @Test
  void refusesWhatDoesNotFit() throws IOException {
    List<Integer> lengths = Stream.generate(() -> 1 << 30).limit(1 << 16).toList();
    IOException refusal =
        assertThrows(
            IOException.class,
            () -> RegionDirectory.create(dataPath, UUID.randomUUID(), lengths, false));
    assertTrue(refusal.getMessage().contains(dataPath.toString()), refusal.getMessage());
    assertTrue(refusal.getMessage().contains(" free, needed are 64."), refusal.getMessage());
    assertEquals(List.of(), listed());
  }

  /** Perhaps a disk is not mounted: then the data would go to another one. */
  @Test
  void makesNoDirectoryAboveTheDataPath() {
    Path missing = dataPath.resolve("missing");
    IOException refusal =
        assertThrows(
            IOException.class,
            () ->
                RegionDirectory.create(
                    missing.resolve("data"), UUID.randomUUID(), List.of(LENGTH), false));
    assertTrue(
        refusal.getMessage().contains("there is no directory " + missing + ";"),
        refusal.getMessage());
    assertFalse(Files.exists(missing));
  }

  @Test
  void namesADataPathThatCannotBe() throws IOException {
    Path file = Files.writeString(dataPath.resolve("file"), "no directory");
    IOException refusal =
        assertThrows(
            IOException.class,
            () -> RegionDirectory.create(file, UUID.randomUUID(), List.of(LENGTH), false));
    assertTrue(refusal.getMessage().contains(file.toString()), refusal.getMessage());
  }

  private static String refusal(Path dataPath) {
    return assertThrows(
            IOException.class,
            () ->
                RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), false).close())
        .getMessage();
  }

  /** A user who may rename the datanode's directory could put another one there. */
  @Test
  void refusesADataPathThatOthersMayEmpty() throws IOException {
    Path open = Files.createDirectory(dataPath.resolve("open"));
    Files.setAttribute(open, "unix:mode", 0777);
    String refusal = refusal(open);
    assertTrue(refusal.startsWith("cannot use the data path " + open + ": other users may remove"));
    assertTrue(refusal.endsWith("chmod +t " + open + ", or name a directory in it"), refusal);
    // What the sentence says helps.
    RegionDirectory.create(open.resolve("in"), UUID.randomUUID(), List.of(LENGTH), false).close();
    Files.setAttribute(open, "unix:mode", 01777);
    RegionDirectory.create(open, UUID.randomUUID(), List.of(LENGTH), false).close();
  }

  @Test
  void refusesADataPathThatAnotherUserHasMade() throws IOException {
    assumeTrue(ProcessUser.id() == 0, "only root may give files to others");
    Path squatted = Files.createDirectory(dataPath.resolve("squatted"));
    Files.setAttribute(squatted, "unix:uid", 12345);
    String refusal = refusal(squatted);
    assertTrue(refusal.contains(squatted + " belongs to user 12345"), refusal);
    assertTrue(refusal.endsWith("name another data path (-d)"), refusal);
    try (Stream<Path> entries = Files.list(squatted)) {
      assertEquals(List.of(), entries.toList());
    }
  }

  @Test
  void leavesWhatAnotherUsersDatanodeHasLeft() throws IOException {
    assumeTrue(ProcessUser.id() == 0, "only root may give files to others");
    Path dead = leftover(UUID.randomUUID());
    Files.setAttribute(dead, "unix:uid", 12345);
    create(UUID.randomUUID()).close();
    assertTrue(Files.exists(dead.resolve("region-0")));
  }

  @Test
  void removesNothingThroughALink() throws IOException {
    Path dead = leftover(UUID.randomUUID());
    Path elsewhere = Files.move(dead, dataPath.resolve("elsewhere"));
    Files.createSymbolicLink(dead, elsewhere);
    create(UUID.randomUUID()).close();
    assertTrue(Files.exists(elsewhere.resolve("region-0")));
  }

  @Test
  void theDefaultDataPathIsOfTheNumberOfTheUser() {
    DataPath path = DataPath.of("");
    assertEquals("crail-" + ProcessUser.idText(), path.path().getFileName().toString());
  }

  @Test
  void onlyTheRightProcessIsMapped() throws IOException {
    UUID uuid = UUID.randomUUID();
    try (RegionDirectory directory = create(uuid)) {
      Clock clock = Clock.SYSTEM;
      assertTrue(
          MappedEndpoint.open(describe(uuid, directory.path()), CLIENT, clock, NO_DETOUR)
              .isPresent());
      assertTrue(
          MappedEndpoint.open(
                  describe(UUID.randomUUID(), directory.path()), CLIENT, clock, NO_DETOUR)
              .isEmpty());
      assertTrue(MappedEndpoint.open(describe(uuid, dataPath), CLIENT, clock, NO_DETOUR).isEmpty());
      assertTrue(
          MappedEndpoint.open(describe(uuid, Path.of("")), CLIENT, clock, NO_DETOUR).isEmpty());
      assertTrue(
          MappedEndpoint.open(describe(uuid, Path.of("relative")), CLIENT, clock, NO_DETOUR)
              .isEmpty());
    }
  }

  @Test
  void theEndOfADatanodeIsNoticedAndNoPauseCounts() throws IOException {
    UUID uuid = UUID.randomUUID();
    AtomicLong now = new AtomicLong();
    Clock clock = clockOf(now);
    try (RegionDirectory directory = create(uuid);
        MappedEndpoint endpoint =
            MappedEndpoint.open(describe(uuid, directory.path()), CLIENT, clock, NO_DETOUR)
                .orElseThrow()) {
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      // Stopped: neither a beat nor a look at the connections.
      now.addAndGet(3_600_000_000_000L);
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      assertFalse(endpoint.isLost());
      // An interrupt closes no connection.
      Thread.currentThread().interrupt();
      now.addAndGet(LOOK_NANOS);
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      assertTrue(Thread.interrupted());
      directory.close();
      now.addAndGet(LOOK_NANOS);
      assertEquals(ErrorCode.UNAVAILABLE, write(endpoint, now.get()));
      assertTrue(endpoint.isLost());
    }
  }

  @Test
  void anAnswerThatWasNotReadDoesNotHideTheEndOfItsDatanode() throws IOException {
    UUID uuid = UUID.randomUUID();
    AtomicLong now = new AtomicLong();
    try (RegionDirectory directory = create(uuid);
        MappedEndpoint endpoint =
            MappedEndpoint.open(describe(uuid, directory.path()), CLIENT, clockOf(now), NO_DETOUR)
                .orElseThrow()) {
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      // Answers the logins.
      directory.beat();
      directory.close();
      now.addAndGet(LOOK_NANOS);
      assertEquals(ErrorCode.UNAVAILABLE, write(endpoint, now.get()));
    }
  }

  @Test
  void bytesInMemoryOfADeadDatanodeAreNotAcknowledged() throws IOException {
    UUID uuid = UUID.randomUUID();
    AtomicLong now = new AtomicLong();
    Clock clock = clockOf(now);
    try (RegionDirectory directory = create(uuid);
        MappedEndpoint endpoint =
            MappedEndpoint.open(describe(uuid, directory.path()), CLIENT, clock, NO_DETOUR)
                .orElseThrow()) {
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      Transfer dying =
          new Transfer() {
            @Override
            public long deadlineNanos() {
              // Asked for after the check before the copy.
              directory.close();
              now.addAndGet(LOOK_NANOS);
              return Long.MAX_VALUE;
            }
          };
      int length = 64 << 10;
      dying.prepare(
          ByteBuffer.allocateDirect(length),
          0,
          length,
          new Extent(0, length, new Place(1, 0, 0, 1)),
          0,
          0);
      endpoint.write(dying);
      assertEquals(ErrorCode.UNAVAILABLE, dying.failure().code());
    }
  }

  @Test
  void aDatanodeThatWasKilledIsNotMapped() throws Exception {
    UUID uuid = UUID.randomUUID();
    try (RegionDirectory directory = create(uuid)) {
      // As the kernel leaves it: the socket's file is there, and no process listens.
      Path writers = directory.path().resolve("writers");
      Files.delete(writers);
      try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        socket.bind(UnixDomainSocketAddress.of(writers));
      }
      CrailException refusal =
          assertThrows(
              CrailException.class,
              () ->
                  MappedEndpoint.open(
                      describe(uuid, directory.path()), CLIENT, Clock.SYSTEM, NO_DETOUR));
      assertEquals(ErrorCode.UNAVAILABLE, refusal.code());
    }
  }

  @Test
  void onlyMemoryThatCanBeReadIntoIsTaken() throws IOException {
    UUID uuid = UUID.randomUUID();
    try (RegionDirectory directory = create(uuid);
        MappedEndpoint endpoint =
            MappedEndpoint.open(describe(uuid, directory.path()), CLIENT, Clock.SYSTEM, NO_DETOUR)
                .orElseThrow()) {
      Transfer transfer = new Transfer();
      transfer.prepare(
          ByteBuffer.allocateDirect(8).asReadOnlyBuffer(),
          0,
          8,
          new Extent(0, 4096, new Place(1, 0, 0, 1)),
          0,
          System.nanoTime() + 60_000_000_000L);
      endpoint.read(transfer);
      assertEquals(ErrorCode.INVALID_ARGUMENT, transfer.failure().code());
    }
  }

  private static Clock clockOf(AtomicLong now) {
    return new Clock() {
      @Override
      public long nanoTime() {
        return now.get();
      }

      @Override
      public long currentTimeMillis() {
        return 0;
      }
    };
  }

  /** The network, over which each transfer succeeds. */
  private static StorageEndpoint network() {
    return new StorageEndpoint() {
      @Override
      public void read(Transfer transfer) {
        transfer.end();
      }

      @Override
      public void write(Transfer transfer) {
        transfer.end();
      }

      @Override
      public boolean isLocal() {
        return false;
      }

      @Override
      public void close() {}
    };
  }

  /** What was written before is in its memory, however later bytes get there. */
  @Test
  void theEndIsNoticedAlsoWhereTheNetworkIsUsedMeanwhile() throws IOException {
    UUID uuid = UUID.randomUUID();
    AtomicLong now = new AtomicLong();
    try (RegionDirectory directory = create(uuid);
        MappedEndpoint endpoint =
            MappedEndpoint.open(
                    describe(uuid, directory.path()), CLIENT, clockOf(now), reason -> network())
                .orElseThrow()) {
      assertEquals(ErrorCode.OK, write(endpoint, now.get()));
      Path second = directory.path().resolve("region-1");
      Files.delete(second);
      Files.createSymbolicLink(second, Path.of("/no-such-mount/region-1"));
      Transfer elsewhere = new Transfer();
      elsewhere.prepare(
          ByteBuffer.allocateDirect(8),
          0,
          8,
          new Extent(0, 4096, new Place(1, 1, 0, 1)),
          0,
          now.get() + 1);
      endpoint.write(elsewhere);
      assertFalse(elsewhere.isFailed(), () -> elsewhere.failure().toString());
      assertFalse(endpoint.isLocal());
      assertFalse(endpoint.hasEnded());
      directory.close();
      now.addAndGet(LOOK_NANOS);
      assertTrue(endpoint.hasEnded());
      assertTrue(endpoint.isLost());
    }
  }

  private static ErrorCode write(MappedEndpoint endpoint, long now) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        ByteBuffer.allocateDirect(8), 0, 8, new Extent(0, 4096, new Place(1, 0, 0, 1)), 0, now + 1);
    endpoint.write(transfer);
    assertTrue(transfer.isComplete());
    return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
  }

  /** What a datanode leaves behind that was killed. */
  private Path leftover(UUID uuid) throws IOException {
    Path path = Files.createDirectory(dataPath.resolve(uuid.toString()));
    Files.writeString(path.resolve("id"), uuid.toString());
    Files.write(path.resolve("heartbeat"), new byte[] {7, 0, 0, 0, 0, 0, 0, 0});
    Files.createFile(path.resolve("lock"));
    Files.write(path.resolve("region-0"), new byte[4096]);
    Files.write(path.resolve("region-0.gen"), new byte[8]);
    return path;
  }

  private List<Path> listed() throws IOException {
    try (Stream<Path> entries = Files.list(dataPath)) {
      return entries.toList();
    }
  }
}
