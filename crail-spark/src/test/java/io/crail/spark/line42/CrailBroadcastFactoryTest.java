/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class CrailBroadcastFactoryTest {
  @Test
  void placesOfMapOutputsStaySparksWhenItsClassesDoNotSeeCrail() throws Exception {
    ClassLoader spark = getClass().getClassLoader();
    try (URLClassLoader jars = new URLClassLoader(new URL[0], spark)) {
      byte[][] places = {new byte[1]};
      assertTrue(CrailBroadcastFactory.canReachAll(places, spark, spark));
      assertFalse(CrailBroadcastFactory.canReachAll(places, jars, spark));
      assertTrue(CrailBroadcastFactory.canReachAll(new byte[1], jars, spark));
    }
  }
}
