/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DatanodeState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Which datanodes count as slow, beside the others of their class. */
class DatanodeLatencyTest {
  private static DatanodeReport datanode(int number, int storageClass) {
    return DatanodeReport.of(
        0,
        new ReportDatanodes.Datanode(
            number,
            0,
            number,
            50020,
            storageClass,
            DatanodeState.ONLINE,
            false,
            false,
            0,
            1,
            1,
            0,
            0,
            -1,
            -1,
            Utf8.of("tcp"),
            Utf8.of("::1")));
  }

  /** The numbers of those that are slow, of datanodes of one class with these times. */
  private static List<Long> slow(int... micros) {
    List<DatanodeReport> datanodes = new ArrayList<>();
    Map<UUID, Long> times = new HashMap<>();
    for (int i = 0; i < micros.length; i++) {
      datanodes.add(datanode(i, 0));
      times.put(new UUID(0, i), (long) micros[i]);
    }
    return DatanodeLatency.compare(datanodes, times, Map.of()).stream()
        .filter(DatanodeLatency::slow)
        .map(each -> each.uuid().getLeastSignificantBits())
        .toList();
  }

  @Test
  void aDatanodeFarAboveTheMedianIsSlow() {
    assertEquals(List.of(1L), slow(100, 5000, 120));
    assertEquals(List.of(0L), slow(5000, 100));
    assertEquals(List.of(0L, 3L), slow(50_000, 100, 90, 4000, 110));
    assertEquals(List.of(), slow(5000, 5000, 100), "most of them are like that");
    assertEquals(List.of(), slow(5000));
    assertEquals(List.of(), slow(100, 900, 120), "too little to matter");
    assertEquals(List.of(), slow(3000, 3500, 9000), "less than four times");
  }

  @Test
  void aDatanodeIsComparedWithItsClass() {
    List<DatanodeReport> datanodes =
        List.of(datanode(1, 0), datanode(2, 0), datanode(3, 1), datanode(4, 1), datanode(5, 1));
    Map<UUID, Long> times =
        Map.of(
            new UUID(0, 1),
            100L,
            new UUID(0, 2),
            110L,
            new UUID(0, 3),
            9000L,
            new UUID(0, 4),
            9000L);
    List<DatanodeLatency> all =
        DatanodeLatency.compare(datanodes, times, Map.of(new UUID(0, 5), "timed out"));
    assertTrue(all.stream().noneMatch(DatanodeLatency::slow), all::toString);
    assertEquals(
        List.of(100L, 100L, 9000L, 9000L, 9000L),
        all.stream().map(DatanodeLatency::classMicros).toList());
    assertEquals("not: timed out", all.get(4).text());
    assertEquals("9000 us", all.get(3).text());
  }
}
