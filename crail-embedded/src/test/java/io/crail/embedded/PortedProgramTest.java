/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.conf.CrailConfiguration;
import io.crail.conf.CrailConstants;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.ClusterKeys;
import io.crail.utils.CrailImmediateOperation;
import io.crail.utils.CrailUtils;
import io.crail.utils.RingBuffer;
import io.crail.utils.RpcErrors;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What programs for Apache Crail 1.2 use beside its API, as they use it. */
class PortedProgramTest {
  private static EmbeddedCrail crail;

  @TempDir Path directory;

  @BeforeAll
  static void start() throws Exception {
    crail = EmbeddedCrail.builder().storage(32 << 20).set("crail.blocksize", "256k").start();
  }

  @AfterAll
  static void stop() throws Exception {
    crail.close();
  }

  private static CrailStore open(String... settings) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.of(crail.configuration());
    for (String setting : settings) {
      configuration.set(setting.split("=")[0], setting.split("=")[1]);
    }
    return CrailStore.newInstance(configuration);
  }

  private static CrailFile create(CrailStore store, String path) throws Exception {
    return store
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile();
  }

  @Test
  void aStoreReturnsItsSizes() throws Exception {
    try (CrailStore store = open("crail.buffersize=64k", "crail.slicesize=16k")) {
      assertEquals(256 << 10, store.getBlockSize());
      assertEquals(64 << 10, store.getBufferSize());
      assertEquals(16 << 10, store.getSliceSize());
    }
    CrailStore closed = open();
    closed.close();
    assertThrows(ClosedException.class, closed::getBlockSize);
  }

  @Test
  void storesAreCountedIfTheKeySaysSo() throws Exception {
    CrailStore first = open("crail.singleton=true");
    CrailStore second = open("crail.singleton=true");
    assertTrue(share(first, second));
    try (CrailStore other = open("crail.singleton=true", "crail.buffersize=64k")) {
      assertFalse(share(first, other));
    }
    first.close();
    assertNull(second.lookup("/nothing").get());
    second.close();
    assertThrows(ClosedException.class, () -> second.lookup("/nothing"));
    try (CrailStore third = open("crail.singleton=true")) {
      assertThrows(ClosedException.class, () -> first.lookup("/nothing"));
      assertNull(third.lookup("/nothing").get());
    }
  }

  /** Whether buffers come from the same pool. */
  private static boolean share(CrailStore one, CrailStore other) throws Exception {
    long mark = System.nanoTime();
    CrailBuffer buffer = one.allocateBuffer();
    buffer.getByteBuffer().putLong(0, mark);
    one.freeBuffer(buffer);
    CrailBuffer next = other.allocateBuffer();
    long found = next.getByteBuffer().getLong(0);
    other.freeBuffer(next);
    return found == mark;
  }

  @Test
  void aSecondCloseOfASharedStoreAffectsNoOther() throws Exception {
    CrailStore first = open("crail.singleton=true");
    try (CrailStore second = open("crail.singleton=true")) {
      first.close();
      first.close();
      assertNull(second.lookup("/nothing").get());
    }
    assertThrows(ClosedException.class, () -> first.lookup("/nothing"));
  }

  @Test
  void theSameSettingsMayBeWrittenInSeveralWays() throws Exception {
    try (CrailStore first = open("crail.singleton=true", "crail.slicesize=64k");
        CrailStore second = open("crail.singleton=TRUE", "crail.slicesize=65536")) {
      assertTrue(share(first, second));
    }
  }

  @Test
  void storesAreNotSharedOtherwise() throws Exception {
    try (CrailStore first = open();
        CrailStore second = open()) {
      assertNotSame(first, second);
      first.close();
      assertNull(second.lookup("/nothing").get());
    }
  }

  /** As Apache Crail's benchmark takes a buffer that is smaller than those of the store. */
  @Test
  void slicesTakeThePlaceOfTheirBuffers() throws Exception {
    try (CrailStore store = open("crail.buffersize=64k", "crail.cachelimit=64k")) {
      CrailFile file = create(store, "/slices");
      CrailOutputStream stream = file.getDirectOutputStream(0);
      for (int i = 0; i < 4; i++) {
        CrailBuffer buffer = store.allocateBuffer();
        buffer.clear().limit(4096);
        CrailBuffer slice = buffer.slice();
        slice.clear();
        assertEquals(4096, stream.write(slice).get().getLen());
        store.freeBuffer(slice);
      }
      stream.close();
      CrailBuffer own = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(4096));
      store.freeBuffer(own);
      store.freeBuffer(null);
      assertEquals(4 * 4096, store.lookup("/slices").get().getCapacity());
    }
  }

  /** As Apache Crail's adapter for Hadoop decides. */
  @Test
  void errorsAreFoundByTheirTexts() throws Exception {
    try (CrailStore store = open()) {
      create(store, "/taken");
      assertMessage(RpcErrors.ERR_FILE_EXISTS, () -> create(store, "/taken"));
      assertMessage(RpcErrors.ERR_PARENT_MISSING, () -> create(store, "/no/parent"));
      assertMessage(RpcErrors.ERR_PARENT_NOT_DIR, () -> create(store, "/taken/child"));
      assertMessage(RpcErrors.ERR_GET_FILE_FAILED, () -> store.delete("/no", true).get());
      assertMessage(RpcErrors.ERR_SRC_FILE_NOT_FOUND, () -> store.rename("/no", "/new").get());
      assertMessage(
          RpcErrors.ERR_DST_PARENT_NOT_FOUND, () -> store.rename("/taken", "/no/parent").get());
    }
  }

  private interface Step {
    Object run() throws Exception;
  }

  private static void assertMessage(short error, Step step) {
    ExecutionException failure = assertThrows(ExecutionException.class, step::run);
    assertTrue(failure.getMessage().contains(RpcErrors.messages[error]), failure.getMessage());
  }

  @Test
  void helpersDoWhatTheyDid() throws Exception {
    CrailImmediateOperation none = new CrailImmediateOperation(7);
    assertTrue(none.isDone() && !none.isCancelled() && !none.cancel(true));
    assertEquals(7, none.get().getLen());
    assertEquals(7, none.get(1, TimeUnit.SECONDS).getLen());
    ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
    CrailUtils.parseMap("", map);
    assertEquals(Map.of(), map);
    CrailUtils.parseMap("a,b/c,d", map);
    assertEquals(Map.of("a", "b", "c", "d"), map);
    assertThrows(IllegalArgumentException.class, () -> CrailUtils.parseMap("a,b/c", map));
    assertEquals("io.crail", CrailUtils.getLogger().getName());
    RingBuffer<String> ring = new RingBuffer<>(2);
    assertTrue(ring.isEmpty() && ring.poll() == null && ring.peek() == null);
    assertTrue(ring.add("a") && ring.add("b") && !ring.add("c"));
    assertEquals("a", ring.peek());
    assertEquals("a", ring.poll());
    assertEquals(List.of(2, 1, 1), List.of(ring.capacity(), ring.size(), ring.remaining()));
    ring.clear();
    assertEquals(0, ring.size());
  }

  /** A site file of Apache Crail, in a process of its own, since a process has one environment. */
  @Test
  void aSiteFileOfApacheCrailIsEnough() throws Exception {
    String namenode = crail.configuration().texts().get(ClusterKeys.NAMENODE_ADDRESS.name());
    Files.writeString(
        directory.resolve("crail-site.conf"),
        """
        crail.namenode.address            %s
        crail.namenode.rpctype            org.apache.crail.namenode.rpc.tcp.TcpNameNode
        crail.storage.types               org.apache.crail.storage.tcp.TcpStorageTier
        crail.storage.tcp.interface       eth0
        crail.cachepath                   /dev/hugepages/cache
        crail.cachelimit                  1073741824
        crail.buffersize                  8192
        crail.blocksize                   262144
        crail.locationmap                 a,b
        crail.user                        porter
        crail.singleton                   true
        """
            .formatted(namenode));
    Path output = directory.resolve("output");
    ProcessBuilder program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dlog4j2.configurationFile=" + Path.of("../conf/log4j2.xml").toAbsolutePath(),
                "-cp",
                System.getProperty("java.class.path"),
                SiteFileProgram.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    program.environment().put("CRAIL_CONF_DIR", directory.toString());
    program.environment().put("CRAIL_HOME", "/nonexistent");
    Process process = program.start();
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> "the program hangs");
    } finally {
      process.destroyForcibly().waitFor();
    }
    List<String> lines = Files.readAllLines(output);
    assertEquals(0, process.exitValue(), lines::toString);
    assertTrue(
        lines.contains("262144 8192 8192 porter 1 a,b " + namenode + " 262144 8192 true"),
        lines::toString);
    assertEquals(
        1,
        lines.stream().filter(line -> line.contains("crail.cachepath")).count(),
        lines::toString);
    // The statistics are to be seen with the logging that Crail brings.
    assertTrue(lines.stream().anyMatch(line -> line.contains("tag=close")), lines::toString);
  }

  /** Has the names that Apache Crail gives. */
  static final class SiteFileProgram {
    private SiteFileProgram() {}

    public static void main(String[] arguments) throws Exception {
      CrailConfiguration conf = CrailConfiguration.createConfigurationFromFile();
      CrailStore store = CrailStore.newInstance(conf);
      CrailStore again = CrailStore.newInstance(conf);
      System.out.println(
          CrailConstants.BLOCK_SIZE
              + " "
              + CrailConstants.BUFFER_SIZE
              + " "
              + CrailConstants.SLICE_SIZE
              + " "
              + CrailConstants.USER
              + " "
              + CrailConstants.SHADOW_REPLICATION
              + " "
              + CrailConstants.LOCATION_MAP
              + " "
              + CrailConstants.NAMENODE_ADDRESS
              + " "
              + store.getBlockSize()
              + " "
              + store.allocateBuffer().capacity()
              + " "
              + share(store, again));
      again.close();
      store.getStatistics().print("close");
      store.close();
    }
  }
}
