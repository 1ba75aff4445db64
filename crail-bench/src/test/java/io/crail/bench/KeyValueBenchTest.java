/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.bench.run.BenchRunner;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The types that put and get many values, on a cluster within this process. */
class KeyValueBenchTest {
  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final BenchOutput output = new BenchOutput();

  @BeforeAll
  static void start() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      store.close();
      cluster.close();
    }
  }

  private int run(String line) {
    return IoBench.run(line.split(" "), output.context(cluster::configuration, true));
  }

  @ParameterizedTest
  @CsvSource({
    "put, 1, 0",
    "put, 5, 3",
    "put, 7, 3",
    "get, 1, 0",
    "get, 5, 3",
    "get, 20, 3",
  })
  void everyValueIsThere(String what, int batch, int warmUp) throws Exception {
    String table = "/" + what + "-" + batch;
    // Values of the second size replace those of the first.
    for (int size : new int[] {100, 9000}) {
      String line =
          "-t " + what + "KeyValue -s " + size + " -n 7 -k 50 -b " + batch + " -w " + warmUp;
      output.forget();
      assertEquals(BenchRunner.OK, run(line + " -f " + table), output::errors);
      output.assertPlausible(50, 50L * size);
      assertEquals(CrailNodeType.TABLE, store.lookup(table).get().getType());
      for (int key = 0; key < 7; key++) {
        CrailNode value = store.lookup(table + "/f0000000" + key).get();
        assertNotNull(value, "key " + key);
        assertEquals(CrailNodeType.KEYVALUE, value.getType());
        assertEquals(size, value.getCapacity());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"appendKeyValue", "appendGuarded"})
  void appendsGoOnWhenTheKeyIsFull(String type) throws Exception {
    // Some settings let a namenode keep no bytes.
    try (EmbeddedCrail keeping =
        EmbeddedCrail.builder().set("crail.namenode.smallvalue", "64k").start()) {
      for (int batch : new int[] {1, 20}) {
        String line = "-t " + type + " -s 9000 -k 100 -w 10 -f /appends -b " + batch;
        output.forget();
        int code =
            IoBench.run(
                (line + " --threads 2").split(" "), output.context(keeping::configuration, true));
        assertEquals(BenchRunner.OK, code, output::errors);
        assertTrue(output.text().contains("throughput"), output::text);
      }
    }
  }

  @Test
  void putsInFlightNeedAsManyKeys() {
    assertEquals(BenchRunner.FAILED, run("-t putKeyValue -s 10 -n 7 -b 8 -f /few"));
    assertTrue(output.errors().contains("-n is 7"), output::errors);
  }

  @Test
  void valuesNeedATable() {
    assertEquals(BenchRunner.OK, run("-t write -s 10 -k 1 -f /no-table"), output::errors);
    for (String type : new String[] {"putKeyValue", "getKeyValue"}) {
      assertEquals(BenchRunner.FAILED, run("-t " + type + " -s 10 -n 7 -f /no-table"));
      assertTrue(output.errors().contains("needs a table"), output::errors);
    }
  }
}
