/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.TierTraits;
import io.crail.storage.DatanodeDescription;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.helpers.MessageFormatter;

class MappingWarningsTest {
  private String level = "warn";
  private final List<String> lines = new ArrayList<>();
  private final MappingWarnings warnings = new MappingWarnings(logger());

  private Logger logger() {
    return (Logger)
        Proxy.newProxyInstance(
            MappingWarningsTest.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              assertEquals(level, method.getName());
              Object[] values =
                  arguments.length == 2
                      ? (Object[]) arguments[1]
                      : Arrays.copyOfRange(arguments, 1, arguments.length);
              lines.add(MessageFormatter.arrayFormat((String) arguments[0], values).getMessage());
              return null;
            });
  }

  private static DatanodeDescription datanode(int number) {
    return new DatanodeDescription(
        new UUID(0, number),
        "tcp",
        InetSocketAddress.createUnresolved("host", number),
        0,
        TierTraits.ofMemory(FenceKind.GENERATION, true, "/dev/shm/crail/" + number),
        Map.of());
  }

  @Test
  void warnsOfEachDatanodeOnceWithTheReason() {
    for (int round = 0; round < 3; round++) {
      warnings.notMapped(datanode(1), "no such mount");
      warnings.notMapped(datanode(2), "may not be read");
    }
    assertEquals(2, lines.size(), lines::toString);
    assertTrue(
        lines.get(0).contains("host:1") && lines.get(0).contains("no such mount"), lines::toString);
    assertTrue(lines.get(1).contains("/dev/shm/crail/2"), lines::toString);
  }

  @Test
  void reportsMemoryOfAnotherUserOnceAndNotAsAWarning() {
    level = "info";
    warnings.ofOtherUser(datanode(1), "/dev/shm/x belongs to user 7");
    warnings.ofOtherUser(datanode(2), "/dev/shm/y belongs to user 7");
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).contains("/dev/shm/x belongs to user 7"), lines::toString);
  }

  @Test
  void memoryOfPastWarningsIsBounded() {
    for (int number = 0; number < MappingWarnings.MAX_WARNED + 10; number++) {
      warnings.notMapped(datanode(number), "no such mount");
    }
    assertEquals(MappingWarnings.MAX_WARNED, lines.size());
  }
}
