/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RegionMemoryTest {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final Path STAT = Path.of("/proc/thread-self/stat");
  private static final int PAGE = 4096;
  private static final int LENGTH = 1 << 20;
  private static final int PAGES = LENGTH / PAGE;

  /** From here on copies go page by page. */
  private static final int LARGE = RegionMemory.LARGE;

  private static final int[] LENGTHS = {1, PAGE, LARGE - 1, LARGE, LARGE + 1, LARGE + 63, LENGTH};

  /** Enough for the compiler, which leaves unused reads out. */
  private static final int CLIENTS = 200;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private Path dataPath;

  @BeforeEach
  void createDataPath() throws IOException {
    assumeTrue(Files.isWritable(MEMORY) && Files.isReadable(STAT), "needs Linux with /dev/shm");
    dataPath = Files.createTempDirectory(MEMORY, "crail-region");
  }

  @AfterEach
  void deleteDataPath() throws IOException {
    if (dataPath != null) {
      Files.deleteIfExists(dataPath);
    }
  }

  /** Small pieces and large ones, which are copied page by page, of any length and at any place. */
  @Test
  void placesJustTheBytesThatItIsGiven() throws IOException {
    System.out.println("-Dcrail.seed=" + seed);
    try (RegionDirectory directory =
            RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), true);
        RegionMemory region = RegionMemory.open(directory.path(), 0, directory.hazards())) {
      Random random = new Random(seed);
      byte[] expected = new byte[LENGTH];
      ByteBuffer direct = ByteBuffer.allocateDirect(LENGTH);
      ByteBuffer heap = ByteBuffer.allocate(LENGTH);
      for (int i = 0; i < 300; i++) {
        int length = i < LENGTHS.length ? LENGTHS[i] : 1 + random.nextInt(LENGTH / 2);
        int at = i % 3 == 0 ? LENGTH - length : random.nextInt(LENGTH - length + 1);
        int from = random.nextInt(LENGTH - length + 1);
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        ByteBuffer source = i % 2 == 0 ? direct : heap;
        source.put(from, bytes);
        System.arraycopy(bytes, 0, expected, at, length);
        assertEquals(ErrorCode.OK, region.place(at, source, from, length));
        assertEquals(ByteBuffer.wrap(expected), region.data().duplicate().clear());
      }
    }
  }

  @Test
  void transfersThatDoNotFitPlaceNothing() throws IOException {
    try (RegionDirectory directory =
            RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), true);
        RegionMemory region = RegionMemory.open(directory.path(), 0, directory.hazards())) {
      ByteBuffer source = ByteBuffer.allocateDirect(LARGE).put(0, (byte) 1);
      assertThrows(IndexOutOfBoundsException.class, () -> region.place(0, source, PAGE, LARGE));
      assertThrows(
          IndexOutOfBoundsException.class, () -> region.place(0, source.limit(PAGE), 0, LARGE));
      ByteBuffer whole = ByteBuffer.allocateDirect(LENGTH).put(0, (byte) 1);
      assertThrows(IndexOutOfBoundsException.class, () -> region.place(PAGE, whole, 0, LENGTH));
      assertEquals(0, region.data().get(0));
      assertEquals(0, region.data().get(PAGE));
    }
  }

  /** Page faults of this thread so far that needed no disk. */
  private static long faults() throws IOException {
    String stat = Files.readString(STAT);
    return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
  }

  @Test
  void theFirstWriteOfAClientFaultsNotForEachPage() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    try (RegionDirectory directory =
        RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), true)) {
      assumeTrue(faultsOfReads(directory) < PAGES / 2, "this kernel maps each page by itself");
      long[] faults = new long[CLIENTS];
      for (int client = 0; client < CLIENTS; client++) {
        bytes.put(client, (byte) client);
        try (RegionMemory region = RegionMemory.open(directory.path(), 0, directory.hazards())) {
          long before = faults();
          // Not by place(), whose copy would map what it fetches by itself.
          assertTrue(region.isReady(0, LENGTH));
          region.data().put(0, bytes, 0, LENGTH);
          faults[client] = faults() - before;
          assertEquals(bytes, region.data().duplicate().clear());
        }
      }
      long[] last = Arrays.copyOfRange(faults, CLIENTS / 2, CLIENTS);
      Arrays.sort(last);
      long typical = last[last.length / 2];
      assertTrue(typical < PAGES / 2, typical + " faults for " + PAGES + " pages");
    }
  }

  private static long faultsOfReads(RegionDirectory directory) throws IOException {
    try (RegionMemory region = RegionMemory.open(directory.path(), 0, directory.hazards())) {
      ByteBuffer read = ByteBuffer.allocateDirect(LENGTH);
      long before = faults();
      read.put(0, region.data(), 0, LENGTH);
      return faults() - before;
    }
  }

  @Test
  void allClientsWriteInPlaceOnceAPageHasGrown() throws IOException {
    ByteBuffer page = ByteBuffer.allocateDirect(PAGE);
    try (RegionDirectory directory =
            RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), false);
        RegionMemory first = RegionMemory.open(directory.path(), 0, directory.hazards());
        RegionMemory second = RegionMemory.open(directory.path(), 0, directory.hazards())) {
      RegionMemory server = directory.regions().get(0);
      assertEquals(ErrorCode.OK, first.place(3 * PAGE, page, 0, PAGE));
      for (RegionMemory region : List.of(first, second, server)) {
        assertTrue(region.isReady(3 * PAGE, PAGE));
        assertFalse(region.isReady(2 * PAGE, 2 * PAGE));
        assertFalse(region.isReady(3 * PAGE, 2 * PAGE));
      }
      page.put(0, (byte) 7);
      // Without the file.
      second.close();
      assertEquals(ErrorCode.OK, second.place(3 * PAGE, page, 0, PAGE));
      assertEquals(7, server.data().get(3 * PAGE));
      assertEquals(ErrorCode.OK, server.place(9 * PAGE, page, 0, PAGE));
      assertTrue(first.isReady(9 * PAGE, PAGE));
    }
  }

  @Test
  void mappingTakesNoMemoryOfHoles() throws Exception {
    ByteBuffer page = ByteBuffer.allocateDirect(PAGE);
    try (RegionDirectory directory =
        RegionDirectory.create(dataPath, UUID.randomUUID(), List.of(LENGTH), false)) {
      RegionMemory region = directory.regions().get(0);
      Path file = directory.path().resolve(RegionFile.dataFile(0));
      for (int i = 0; i < PAGES - 1; i += 3) {
        assertEquals(ErrorCode.OK, region.place(i * PAGE, page, 0, PAGE));
      }
      String taken = blocks(file);
      for (int i = 0; i < PAGES - 1; i += 3) {
        assertTrue(region.isReady(i * PAGE, PAGE));
        assertFalse(region.isReady(i * PAGE, 2 * PAGE));
        page.put(0, (byte) i);
        assertEquals(ErrorCode.OK, region.place(i * PAGE, page, 0, PAGE));
        assertEquals((byte) i, region.data().get(i * PAGE));
      }
      assertEquals(taken, blocks(file));
    }
  }

  private static String blocks(Path file) throws IOException, InterruptedException {
    Process stat =
        new ProcessBuilder("stat", "-c", "%b", file.toString()).redirectErrorStream(true).start();
    String said = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, stat.waitFor(), said);
    return said;
  }
}
