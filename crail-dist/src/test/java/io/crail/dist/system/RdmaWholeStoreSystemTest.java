/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The whole store over RDMA: metadata of two namenodes by messages, data in a datanode that is read
 * and written without its processor, and in one of the TCP tier beside it.
 */
@Tag("rdma")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "many processes on an emulated machine: only among the long tests")
class RdmaWholeStoreSystemTest extends WholeStoreContract {
  @Override
  ProcessCluster newCluster() throws Exception {
    ProcessCluster started = RdmaCluster.start(2);
    boolean complete = false;
    try {
      started.startDatanode("rdma", "64m", -1);
      started.startDatanode("tcp", "64m", -1);
      complete = true;
      return started;
    } finally {
      if (!complete) {
        started.close();
      }
    }
  }

  /** Every type of load, as a user would run it. */
  @TestFactory
  Stream<DynamicTest> iobench() {
    String small = " -s 65536 -k 64 -w 4 -f /bench.dat";
    return Stream.of(
            "write" + small,
            "writeAsync -b 8" + small,
            "readSequential" + small,
            "readSequentialAsync -b 8" + small,
            "readRandom -m false" + small,
            "createFile -k 200 -f /bench-created",
            "getKey -s 1000 -k 100 -w 4 -f /bench.dat",
            "getFile -k 500 -f /bench.dat",
            "getFileAsync -b 128 -k 2000 -f /bench.dat",
            "getMultiFileAsync -b 128 -n 500 -k 2000 -f /bench-names")
        .map(load -> DynamicTest.dynamicTest(load, () -> run(load)));
  }

  private void run(String load) throws Exception {
    String[] words = ("iobench --set crail.storage.localmap=false -t " + load).split(" ");
    CrailProcess bench = cluster().run(words);
    assertEquals(0, bench.awaitExit(ProcessCluster.PATIENCE), bench.stdout() + bench.stderr());
    assertTrue(bench.stdout().contains("throughput"), bench.stdout());
  }

  /** Programs that speak the connection manager's language and not ours do no harm. */
  @Test
  void foreignConnections() throws Exception {
    for (int port :
        List.of(cluster().namenodeAddress(0).getPort(), cluster().datanodeAddress(0).getPort())) {
      Process foreign =
          new ProcessBuilder(
                  "timeout",
                  "5",
                  "rping",
                  "-c",
                  "-a",
                  RdmaCluster.HOST,
                  "-p",
                  String.valueOf(port),
                  "-C",
                  "1")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      // Whatever it makes of it.
      foreign.waitFor();
    }
    CrailProcess ping = cluster().run("ping");
    assertEquals(0, ping.awaitExit(ProcessCluster.PATIENCE), ping.stderr());
    run("write -s 4096 -k 16 -w 0 -f /foreign.dat");
  }
}
