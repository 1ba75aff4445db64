/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.Ran;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A datanode that is much slower than the others is named, though namenodes call it online. */
@Tag("once")
class SlowDatanodeSystemTest {
  private static final long RUNS_MILLIS = 5;
  private static final long STANDS_MILLIS = 60;

  private ProcessCluster cluster;

  private String row(Ran ran, int index) {
    String address = "127.0.0.1:" + cluster.datanodeAddress(index).getPort();
    return ran.stdout().lines().filter(line -> line.contains(address)).findFirst().orElse("");
  }

  private Ran datanodes() {
    Ran ran = Ran.run(cluster.directory(), "datanodes", "--latency");
    assertEquals(0, ran.code(), ran::toString);
    return ran;
  }

  /** It gets the processor for a small part of the time, as on a host that swaps. */
  private void slowDown(CrailProcess datanode, AtomicBoolean stop) throws Exception {
    try {
      while (!stop.get()) {
        datanode.signal("STOP");
        TimeUnit.MILLISECONDS.sleep(STANDS_MILLIS);
        datanode.signal("CONT");
        TimeUnit.MILLISECONDS.sleep(RUNS_MILLIS);
      }
    } finally {
      datanode.signal("CONT");
    }
  }

  @Test
  void theOneThatIsSlowIsNamed() throws Exception {
    // It is silent late enough.
    try (ProcessCluster started =
        ProcessCluster.start(1, 3, Map.of("crail.storage.keepalive", "10s"))) {
      cluster = started;
      Await.until(
          "no datanode is slow",
          ProcessCluster.PATIENCE,
          () -> {
            Ran ran = datanodes();
            boolean allAnswer = true;
            for (int i = 0; i < 3; i++) {
              allAnswer &= row(ran, i).matches(".*  online .* \\d+ us.*");
            }
            return allAnswer && !ran.stdout().contains("x median");
          });
      String plain = Ran.run(cluster.directory(), "datanodes").stdout();
      assertFalse(plain.contains("answers in"), plain);
      Await.until(
          "the doctor says so",
          ProcessCluster.PATIENCE,
          () ->
              Ran.run(cluster.directory(), "doctor")
                  .stdout()
                  .contains("  ok       no datanode is much"));

      AtomicBoolean stop = new AtomicBoolean();
      ExecutorService thread = Executors.newSingleThreadExecutor();
      try {
        Future<?> slowness =
            thread.submit(
                () -> {
                  slowDown(cluster.datanode(1), stop);
                  return null;
                });
        Await.until(
            "the datanode is slow",
            ProcessCluster.PATIENCE,
            () -> {
              Ran ran = datanodes();
              return row(ran, 1).matches(".*  online .* \\d+ us, \\d+ x median")
                  && !row(ran, 0).contains("median")
                  && !row(ran, 2).contains("median");
            });
        String slow =
            "warning  datanode tcp at 127.0.0.1:"
                + cluster.datanodeAddress(1).getPort()
                + " is slow: it answers this host in ";
        Await.until(
            "the doctor says so",
            ProcessCluster.PATIENCE,
            () -> Ran.run(cluster.directory(), "doctor").stdout().contains(slow));
        stop.set(true);
        slowness.get(60, TimeUnit.SECONDS);
      } finally {
        stop.set(true);
        thread.shutdown();
        assertTrue(thread.awaitTermination(60, TimeUnit.SECONDS));
      }

      // None answers, and each has the whole deadline of a read. The query has its own.
      String patient = "-Dcrail.datatimeout=120s";
      long began = System.nanoTime();
      for (int i = 0; i < 3; i++) {
        cluster.datanode(i).signal("STOP");
      }
      try {
        Ran ran = Ran.run(cluster.directory(), patient, "datanodes", "--latency");
        for (int i = 0; i < 3; i++) {
          assertTrue(row(ran, i).matches(".*  not: timed out.*"), ran::toString);
        }
      } finally {
        for (int i = 0; i < 3; i++) {
          cluster.datanode(i).signal("CONT");
        }
      }
      assertTrue(System.nanoTime() - began < 60_000_000_000L, "it waits for the bounds only");

      cluster.datanode(1).signal("STOP");
      try {
        Ran ran = datanodes();
        assertTrue(row(ran, 1).matches(".*  online .*  not: timed out.*"), ran::toString);
        assertTrue(row(ran, 0).matches(".*  online .* \\d+ us.*"), ran::toString);
      } finally {
        cluster.datanode(1).signal("CONT");
      }
    }
  }
}
