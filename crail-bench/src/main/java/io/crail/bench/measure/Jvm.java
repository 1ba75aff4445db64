/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Looks into the memory of another JVM of this host that was started for it. Used by one thread.
 */
final class Jvm implements AutoCloseable {
  private static final int COLLECTIONS = 10;

  private final JMXConnector connector;
  private final MemoryMXBean memory;
  private final ThreadMXBean threads;

  private Jvm(JMXConnector connector) throws IOException {
    this.connector = connector;
    MBeanServerConnection connection = connector.getMBeanServerConnection();
    this.memory =
        ManagementFactory.newPlatformMXBeanProxy(
            connection, ManagementFactory.MEMORY_MXBEAN_NAME, MemoryMXBean.class);
    this.threads =
        ManagementFactory.newPlatformMXBeanProxy(
            connection, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
  }

  /** What a JVM must be started with so that {@link #connect} finds it; loopback only. */
  static String options(int port) {
    String key = "-Dcom.sun.management.jmxremote.";
    return String.join(
        " ",
        key + "host=127.0.0.1",
        key + "port=" + port,
        key + "rmi.port=" + port,
        key + "authenticate=false",
        key + "ssl=false",
        "-Djava.rmi.server.hostname=127.0.0.1");
  }

  /** Connects to a JVM that runs. */
  static Jvm connect(int port) throws IOException {
    return new Jvm(
        JMXConnectorFactory.connect(
            new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi")));
  }

  /** Bytes of heap in use when another collection finds nothing more. */
  long usedHeapBytes() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      memory.gc();
      long now = memory.getHeapMemoryUsage().getUsed();
      if (now >= used - used / 1000) {
        return Math.min(now, used);
      }
      used = now;
    }
    return used;
  }

  /** Bytes of heap that its threads have allocated so far. */
  long allocatedBytes() {
    long sum = 0;
    for (long each : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
      sum += Math.max(0, each);
    }
    return sum;
  }

  @Override
  public void close() throws IOException {
    connector.close();
  }
}
