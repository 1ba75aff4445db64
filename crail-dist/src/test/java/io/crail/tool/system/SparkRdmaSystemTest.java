/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Runs jobs of Spark over RDMA alone, in the test machine. */
@Tag("rdma")
@Tag("repeat")
@Timeout(value = 2400, unit = TimeUnit.SECONDS)
@EnabledIfSystemProperty(
    named = "crail.spark",
    matches = ".+",
    disabledReason = "Spark is fetched for the long tests alone")
@DisabledIfSystemProperty(
    named = RdmaCluster.OWN_DEVICE,
    matches = ".+",
    disabledReason = "needs the two hosts of bin/rdma-vm")
class SparkRdmaSystemTest {
  private static final int MEMORY_CLASS = 0;

  /** A packet has no more data. */
  private static final long PACKET_DATA_BYTES = 4096;

  @TempDir private Path local;

  @Test
  void jobsRunOverRdmaAlone() throws Exception {
    TierJobs jobs = new TierJobs(local);
    try (ProcessCluster cluster =
        RdmaCluster.start(
            1,
            "crail.storage.types",
            "rdma",
            "crail.storage.localmap",
            "false",
            "crail.namenode.darpc.connecttimeout",
            "20s",
            "crail.storage.rdma.connecttimeout",
            "20s")) {
      cluster.startDatanode("rdma", "128m", -1);
      Sent client = Sent.by(0);
      Sent server = Sent.by(1);
      long held = jobs.run(cluster, Map.of()).get(MEMORY_CLASS);
      client = Sent.by(0).since(client);
      server = Sent.by(1).since(server);
      String told = "held at most " + held + " bytes; clients: " + client + ", servers: " + server;
      System.out.println(told);
      assertTrue(held >= TierJobs.HELD_BYTES, told);
      // Nothing but RDMA uses that cable: the namenode is reached by it too.
      assertTrue(Math.min(client.bytes, server.bytes) >= TierJobs.MOVED_BYTES, told);
      assertTrue(
          Math.min(client.packets, server.packets) >= TierJobs.MOVED_BYTES / PACKET_DATA_BYTES,
          told);
    }
  }

  /**
   * What a host of the machine has sent.
   *
   * @param bytes through its interface
   * @param packets from its RDMA device
   */
  private record Sent(long bytes, long packets) {
    static Sent by(int host) throws IOException {
      return new Sent(
          number("/sys/class/net/rv" + host + "/statistics/tx_bytes"),
          number("/sys/class/infiniband/rxe" + host + "/ports/1/hw_counters/sent_pkts"));
    }

    private static long number(String file) throws IOException {
      return Long.parseLong(Files.readString(Path.of(file)).strip());
    }

    Sent since(Sent before) {
      return new Sent(bytes - before.bytes, packets - before.packets);
    }
  }
}
