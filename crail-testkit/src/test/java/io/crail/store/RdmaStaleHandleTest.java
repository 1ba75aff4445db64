/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.StaleNodeException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Stale handles over RDMA, where no datanode refuses anything. What was under way when a file went
 * is the worst of them: here a cable is cut meanwhile, and the devices would go on trying for
 * longer than the space rests.
 */
@Tag("rdma")
class RdmaStaleHandleTest {
  private static final int MIB = 1 << 20;

  /** A device tries again each 4.3 s, seven times in all, so for 30 s. */
  private static final int ACK_TIMEOUT = 20;

  private static TestCluster newCluster() throws Exception {
    return TestCluster.of(
        EmbeddedCrail.builder()
            .storage(32 * MIB)
            .mapped(false)
            .set("crail.storage.types", "rdma")
            .set("crail.storage.rdma.interface", RdmaHost.SERVER)
            .set("crail.rdma.acktimeout", String.valueOf(ACK_TIMEOUT))
            .set("crail.lease", "8s")
            .set("crail.namenode.freemargin", "1s")
            // The test machine may be emulated.
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.storage.rdma.connecttimeout", "20s")
            // The datanode must not end a connection because of the cable.
            .set("crail.storage.rdma.keepalive", "10m")
            .start());
  }

  @Test
  @TwoHosts
  void transfersInFlightNeverTouchAnotherFile() throws Exception {
    try (TestCluster cluster = newCluster()) {
      final int idle = RdmaHost.connections("rxe0");
      CrailStore reader = cluster.newStore();
      CrailStore writer = cluster.newStore();
      // Has no need of the cable.
      final CrailStore other = cluster.newStore("crail.storage.localmap=true");
      byte[] old = new byte[MIB];
      Arrays.fill(old, (byte) 1);
      Bytes.write(writer, "/read", old);
      CrailInputStream input = reader.lookup("/read").get().asFile().getDirectInputStream(0);
      input.read(Bytes.empty(10)).get();
      CrailOutputStream output = Bytes.createFile(writer, "/written").getDirectOutputStream(MIB);
      output.write(Bytes.buffer(new byte[10])).get();
      assertEquals(idle + 2, RdmaHost.connections("rxe0"));
      Future<CrailResult> read;
      Future<CrailResult> written;
      List<String> fillers;
      RdmaHost.hear(false);
      try {
        read = input.read(Bytes.empty(MIB / 2));
        written = output.write(Bytes.buffer(Arrays.copyOf(old, MIB / 2)));
        other.delete("/read", false).get();
        other.delete("/written", false).get();
        fillers = Fillers.fill(cluster, other, (byte) 2);
        assertFalse(read.isDone());
        // The reader's device still tries, so the writer's would, had its queue pair not been
        // ended.
        assertEquals(idle + 1, RdmaHost.connections("rxe0"));
      } finally {
        RdmaHost.hear(true);
      }
      assertStale(written);
      // It comes with the device's next try: that of the write would have come as well by then.
      assertStale(read);
      assertThrows(StaleNodeException.class, output::close);
      input.close();
      for (String path : fillers) {
        assertArrayEquals(
            Fillers.filler((byte) 2), Bytes.read(other.lookup(path).get().asFile()), path);
      }
      Fillers.remove(cluster, other, fillers);
    }
  }

  private static void assertStale(Future<?> access) {
    ExecutionException failed = assertThrows(ExecutionException.class, access::get);
    assertInstanceOf(StaleNodeException.class, failed.getCause());
  }
}
