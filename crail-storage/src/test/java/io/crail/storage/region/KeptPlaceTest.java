/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Mechanisms;
import io.crail.storage.LastingBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Regions that outlast their process. */
class KeptPlaceTest {
  private static final int LENGTH = 1 << 20;
  private static final List<Integer> LENGTHS = List.of(LENGTH, LENGTH);
  private static final LastingBytes.Lending LENDING = new LastingBytes.Lending(5, 6, 7);

  @TempDir Path dataPath;
  private RegionDirectory directory;
  private Process child;

  /** A datanode, or a process that maps its regions; never ends by itself. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws Exception {
      Path path = Path.of(args[1]);
      if (args[0].equals("datanode")) {
        RegionDirectory directory = KeptPlaceTest.open(path, 0, LENGTHS);
        fill(directory, 11, 3);
        directory.kept().lend(0, LENDING);
      } else {
        LocalClient client = new LocalClient(1, Anybody.CREDENTIALS);
        LocalWriter writer = LocalWriter.open(path, HazardTable.open(path), client);
        writer.announce(0, 0, LENGTH / 2, 3);
      }
      System.out.println("ready");
      System.in.read();
    }
  }

  private static RegionDirectory open(Path dataPath, int port, List<Integer> lengths)
      throws IOException {
    return RegionDirectory.create(
        dataPath,
        UUID.randomUUID(),
        lengths,
        new RegionDirectory.Manner(
            false, null, Mechanisms.ANYBODY, new LastingBytes.Owner("c", "tcp", port)));
  }

  private RegionDirectory open() throws IOException {
    directory = open(dataPath, 0, LENGTHS);
    return directory;
  }

  private static ByteBuffer bytes(int value) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(100);
    while (bytes.hasRemaining()) {
      bytes.put((byte) value);
    }
    return bytes.flip();
  }

  private static void fill(RegionDirectory directory, int value, long generation) {
    for (RegionMemory region : directory.regions()) {
      assertEquals(ErrorCode.OK, region.take(4096, 100, generation));
      assertEquals(ErrorCode.OK, region.place(4096, bytes(value), 0, 100));
    }
  }

  private static void assertFilled(RegionDirectory directory, int value, long generation) {
    for (RegionMemory region : directory.regions()) {
      ByteBuffer read = ByteBuffer.allocateDirect(100);
      assertEquals(ErrorCode.OK, region.read(4096, read, 0, 100, generation));
      assertEquals(bytes(value), read);
      assertEquals(ErrorCode.OUT_OF_RANGE, region.read(8192, read, 0, 1, generation));
    }
  }

  private void start(String role, Path path) throws IOException {
    child =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Child.class.getName(),
                role,
                path.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertEquals('r', child.getInputStream().read());
  }

  private void kill() throws InterruptedException {
    assertTrue(child.destroyForcibly().waitFor(20, TimeUnit.SECONDS));
  }

  @AfterEach
  void end() throws InterruptedException {
    if (child != null) {
      kill();
    }
    if (directory != null) {
      directory.close();
    }
  }

  private List<Path> places() throws IOException {
    try (Stream<Path> all = Files.list(dataPath)) {
      return all.toList();
    }
  }

  @Test
  void bytesAndLendingsOutlastAnOrderlyEnd() throws IOException {
    final UUID keeper = open().kept().keeper();
    assertEquals(1, directory.kept().start());
    assertNull(directory.kept().lending(0));
    fill(directory, 9, 4);
    directory.kept().lend(1, LENDING);
    for (int start = 2; start < 5; start++) {
      directory.close();
      assertFalse(Files.exists(directory.path().resolve("id")), "no process maps it now");
      open();
      assertEquals(keeper, directory.kept().keeper());
      assertEquals(start, directory.kept().start());
      assertNull(directory.kept().lending(0));
      assertEquals(LENDING, directory.kept().lending(1));
      assertFilled(directory, 9, 4);
    }
    assertEquals(1, places().size());
    directory.kept().discard();
    directory.close();
    assertEquals(List.of(), places());
  }

  @Test
  void theyOutlastAKill() throws Exception {
    start("datanode", dataPath);
    Path place = places().get(0);
    kill();
    open();
    assertEquals(place, directory.path());
    assertEquals(LENDING, directory.kept().lending(0));
    assertFilled(directory, 11, 3);
  }

  @Test
  void noTwoProcessesHaveThem() throws Exception {
    start("datanode", dataPath);
    open();
    assertEquals(2, places().size());
    assertNotEquals(directory.path(), open(dataPath, 0, LENGTHS).path(), "in one process");
  }

  @Test
  void aDatanodeTakesThoseOfItsPortAndLength() throws IOException {
    RegionDirectory one = open(dataPath, 1001, LENGTHS);
    RegionDirectory two = open(dataPath, 1002, LENGTHS);
    RegionDirectory longer = open(dataPath, 1003, List.of(2 * LENGTH));
    one.close();
    two.close();
    longer.close();
    directory = open(dataPath, 1002, LENGTHS);
    assertEquals(two.path(), directory.path());
    try (RegionDirectory other = open(dataPath, 0, List.of(2 * LENGTH))) {
      assertEquals(longer.path(), other.path());
    }
    try (RegionDirectory other = open(dataPath, 1009, LENGTHS)) {
      assertEquals(one.path(), other.path(), "its port has changed");
    }
    open(dataPath, 1003, List.of(2 * LENGTH)).close();
    IOException refusal =
        assertThrows(IOException.class, () -> open(dataPath, 1003, LENGTHS).close());
    assertTrue(refusal.getMessage().contains("other lengths"), refusal.getMessage());
  }

  @Test
  void thoseOfAnotherClusterAreLeftAlone() throws IOException {
    open().close();
    RegionDirectory other =
        RegionDirectory.create(
            dataPath,
            UUID.randomUUID(),
            LENGTHS,
            new RegionDirectory.Manner(
                false, null, Mechanisms.ANYBODY, new LastingBytes.Owner("other", "tcp", 0)));
    assertNotEquals(directory.path(), other.path());
    other.close();
    // Nor does a datanode that keeps nothing remove them.
    RegionDirectory.create(dataPath, UUID.randomUUID(), LENGTHS, false).close();
    assertEquals(2, places().size());
  }

  @Test
  void aFileThatIsMissingOrShorterMakesThemEmpty() throws IOException {
    for (String name : List.of("region-1", "region-0.gen", "region-0.grown", "hazards")) {
      fill(open(), 9, 4);
      final UUID keeper = directory.kept().keeper();
      directory.close();
      try (FileChannel file =
          FileChannel.open(directory.path().resolve(name), StandardOpenOption.WRITE)) {
        file.truncate(file.size() - 1);
      }
      open();
      assertNotEquals(keeper, directory.kept().keeper(), name);
      assertEquals(0, directory.regions().get(0).generations().generation(4096), name);
      directory.close();
      Files.delete(directory.path().resolve(name));
      final UUID next = directory.kept().keeper();
      open();
      assertNotEquals(next, directory.kept().keeper(), name);
      directory.close();
      assertEquals(1, places().size());
    }
  }

  /** What the kernel had not written by then is lost, and no one knows what that is. */
  @Test
  void aHostThatEndedBeforeItsDatanodeHasLostThem() throws Exception {
    start("datanode", dataPath);
    kill();
    Path place = places().get(0);
    anotherBoot(place, 4096);
    open();
    assertNotEquals(place, directory.path());
    assertFalse(Files.exists(place));
  }

  @Test
  void theyOutlastAHostThatEndedLater() throws IOException {
    fill(open(), 9, 4);
    // Of a process that has ended with its host.
    directory.hazards().claim(77);
    directory.close();
    anotherBoot(directory.path(), 4096);
    anotherBoot(directory.path(), 2 * 4096);
    open();
    assertEquals(2, directory.kept().start());
    assertFilled(directory, 9, 4);
    assertEquals(0, directory.hazards().owner(0));
  }

  /** Changes the boot that is noted; the checksum with it. */
  private static void anotherBoot(Path place, int at) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            place.resolve("kept"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer header = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
      file.read(header, at);
      int length = header.getInt(4);
      if (length == 0) {
        return;
      }
      ByteBuffer part = ByteBuffer.allocate(8 + length).order(ByteOrder.LITTLE_ENDIAN);
      file.read(part, at);
      part.put(8 + length - 2, (byte) '!');
      CRC32C checksum = new CRC32C();
      checksum.update(part.array(), 4, 4 + length);
      part.putInt(0, (int) checksum.getValue());
      file.write(part.rewind(), at);
    }
  }

  private static void damage(Path place) throws IOException {
    try (FileChannel file = FileChannel.open(place.resolve("kept"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {99}), 20);
    }
  }

  @Test
  void aDamagedFileIsRefused() throws IOException {
    open().close();
    damage(directory.path());
    for (int port : new int[] {0, 1001}) {
      IOException refusal = assertThrows(IOException.class, () -> open(dataPath, port, LENGTHS));
      assertTrue(refusal.getMessage().contains("is damaged"), refusal.getMessage());
      assertTrue(refusal.getMessage().contains(directory.path().toString()));
    }
    assertEquals(List.of(directory.path()), places(), "it may be restored");
  }

  @Test
  void aDamagedFileStopsNoDatanodeThatHasAnother() throws IOException {
    RegionDirectory one = open(dataPath, 1001, LENGTHS);
    directory = open(dataPath, 1002, LENGTHS);
    fill(directory, 9, 4);
    damage(one.path());
    // The process that has it goes on, and others are not stopped.
    open(dataPath, 1003, LENGTHS).close();
    one.close();
    directory.close();
    directory = open(dataPath, 1002, LENGTHS);
    assertFilled(directory, 9, 4);
    try (RegionDirectory other = open(dataPath, 1001, LENGTHS)) {
      assertNotEquals(one.path(), other.path());
      assertThrows(IOException.class, () -> open(dataPath, 1003, LENGTHS).close());
    }
    assertTrue(Files.exists(one.path().resolve("region-0")));
  }

  /** A torn part says that it is not known to whom the region was lent. */
  @Test
  void aTornLendingIsOneToAnUnknownNamenode() throws IOException {
    open().kept().lend(0, LENDING);
    directory.close();
    try (FileChannel file =
        FileChannel.open(directory.path().resolve("kept"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {99}), 3 * 4096 + 20);
    }
    open();
    assertNotEquals(LENDING, directory.kept().lending(0));
    assertEquals(-1, directory.kept().lending(0).datanode());
  }

  /** It may continue at any time, and its bytes go to the same memory. */
  @Test
  void aStoppedWriterPinsItsSpaceOverARestart() throws Exception {
    open();
    start("writer", directory.path());
    directory.beat();
    directory.close();
    open();
    RegionMemory region = directory.regions().get(0);
    for (int i = 0; i < 10; i++) {
      directory.beat();
      assertEquals(ErrorCode.SPACE_PINNED, region.take(0, LENGTH, 4));
    }
    assertEquals(ErrorCode.OK, region.take(LENGTH / 2, LENGTH / 2, 4), "beside it");
    assertEquals(1, directory.revoke(Set.of(99L)).size(), "it may be of any client");
    kill();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (region.take(0, LENGTH, 5) != ErrorCode.OK) {
      assertTrue(System.nanoTime() - deadline < 0);
      directory.beat();
    }
    try (Stream<Path> files = Files.list(directory.path())) {
      assertTrue(files.noneMatch(file -> file.getFileName().toString().startsWith("w-")));
    }
  }
}
