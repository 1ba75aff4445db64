/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.namenode.Leadership;
import io.crail.namenode.LogStanding;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.StandbyNamenode;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.RecordBytes;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a namenode says of its log while its peers agree on nothing: that log, not the copy. */
@Timeout(120)
class LeaderStandingTest {
  private static final int MOST_UNDER_WAY = 3;

  @TempDir private Path directory;

  @Test
  void aLeaderShowsTheLogThatAnswersWaitFor() throws Exception {
    Configuration conf = Configuration.builder().build();
    Semaphore sent = new Semaphore(0);
    ExecutorService tasks = Executors.newSingleThreadExecutor();
    ExecutorService sending = Executors.newSingleThreadExecutor();
    try (Transport transport = TransportProvider.open(conf);
        FileLogDirectory files = FileLogDirectory.open(directory);
        StandbyNamenode node =
            new StandbyNamenode(
                conf,
                0,
                1,
                files,
                tasks,
                tasks,
                () -> {},
                tasks,
                null,
                64 << 20,
                Clock.SYSTEM,
                new Random(1))) {
      LeaderLog log =
          new LeaderLog(
              1,
              node.last(),
              Clock.SYSTEM,
              sending,
              (entry, done) -> sent.release(),
              1,
              node::refusal,
              () -> {},
              () -> {});
      InetSocketAddress any = new InetSocketAddress("127.0.0.1", 0);
      try (NameNodeServer server = node.serve(log, Leadership.ALONE, any, transport)) {
        for (int i = 1; i < MOST_UNDER_WAY; i++) {
          sent.acquire();
          append(log, 64 << 10);
        }
        sent.acquire();
        assertEquals(MOST_UNDER_WAY, log.underWay());
        LogStanding before = server.log().orElseThrow();
        assertTrue(before.records() >= MOST_UNDER_WAY, before::toString);
        assertEquals(0, before.finalRecords(), before::toString);
        assertEquals("", before.refusal());
        for (int i = 0; i < 20; i++) {
          append(log, 1 << 20);
        }
        LogStanding after = server.log().orElseThrow();
        assertTrue(after.waitingBytes() >= 20 << 20, after::toString);
        assertEquals("its standbys are too slow", after.refusal());
        assertEquals(0, node.standing().records(), "the copy has nothing");
        log.end("the test ends");
      }
    } finally {
      sending.shutdown();
      tasks.shutdown();
    }
  }

  private static void append(LeaderLog log, int bytes) {
    log.append(RecordBytes.NOTHING, RecordBytes.CODEC, ByteBuffer.allocate(bytes));
  }
}
