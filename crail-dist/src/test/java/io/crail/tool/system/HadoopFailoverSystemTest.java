/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.net.URI;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of Hadoop are written and read on while the peer of the namenode that serves is killed. The
 * reader needs it again and again: each file has many blocks, and places are known for a part only.
 */
@Timeout(600)
@Tag("once")
class HadoopFailoverSystemTest {
  private static final int PEERS = 3;
  private static final byte[] BYTES = new byte[24 << 20];

  @TempDir private java.nio.file.Path logs;

  @Test
  void openStreamsGoOn() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    new Random(seed).nextBytes(BYTES);
    Map<String, String> settings =
        Map.of(
            "crail.namenode.durability", "sync",
            "crail.namenode.datapath", logs.toString(),
            "crail.blocksize", "64k");
    try (ProcessCluster cluster =
            ProcessCluster.start(ProcessCluster.Places.on("127.0.0.1"), 1, PEERS, 1, settings);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      Configuration hadoop = new Configuration();
      hadoop.set("fs.crail.site.file", cluster.directory().resolve("crail-site.conf").toString());
      try (FileSystem files = FileSystem.newInstance(URI.create("crail:///"), hadoop)) {
        Path part = new Path("/out/part");
        int half = BYTES.length / 2;
        int killed;
        try (FSDataOutputStream out = files.create(part)) {
          out.write(BYTES, 0, half);
          killed = killLeader(cluster, store);
          out.write(BYTES, half, BYTES.length - half);
          out.hsync();
        }
        requireOther(cluster, store, killed);
        Path whole = new Path("/out/whole");
        try (FSDataInputStream in = files.open(part)) {
          byte[] read = new byte[BYTES.length];
          in.readFully(0, read, 0, half);
          killed = killLeader(cluster, store);
          assertTrue(files.rename(part, whole));
          in.readFully(half, read, half, read.length - half);
          assertArrayEquals(BYTES, read);
        }
        assertNotEquals(killed, cluster.leader(store));
        FileStatus[] listed = files.listStatus(whole.getParent());
        assertEquals(1, listed.length);
        assertEquals(BYTES.length, listed[0].getLen());
        assertEquals(whole.getName(), listed[0].getPath().getName());
      }
    }
  }

  private static int killLeader(ProcessCluster cluster, CrailStore store) throws Exception {
    int leader = cluster.leader(store);
    cluster.namenode(leader).kill();
    return leader;
  }

  /** The next fail-over needs the peer that was killed, for a majority. */
  private static void requireOther(ProcessCluster cluster, CrailStore store, int killed)
      throws Exception {
    assertNotEquals(killed, cluster.leader(store));
    cluster.startNamenodeAgain(killed);
  }
}
