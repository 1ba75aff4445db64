/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Reads memory figures of another JVM of this host, which was started for this. Used by one thread.
 */
public final class Jvm implements AutoCloseable {
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

  /**
   * The options with which a JVM must be started so that {@link #connect} finds it. It listens on
   * loopback only.
   */
  public static String options(int port) {
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

  /** Connects to a running JVM. */
  public static Jvm connect(int port) throws IOException {
    return new Jvm(
        JMXConnectorFactory.connect(
            new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi")));
  }

  /** Bytes of heap in use. Collects garbage until the number stays the same. */
  public long usedHeapBytes() {
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

  /**
   * Bytes of heap that each living thread has allocated so far, by thread id. The threads that
   * answer this request are left out.
   */
  public Map<Long, Long> allocatedBytes() {
    long[] ids = threads.getAllThreadIds();
    ThreadInfo[] infos = threads.getThreadInfo(ids);
    long[] bytes = threads.getThreadAllocatedBytes(ids);
    Map<Long, Long> allocated = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      if (infos[i] != null && bytes[i] >= 0 && !isOurs(infos[i].getThreadName())) {
        allocated.put(ids[i], bytes[i]);
      }
    }
    return allocated;
  }

  private static boolean isOurs(String thread) {
    return thread.startsWith("RMI ") || thread.startsWith("JMX ") || thread.equals("GC Daemon");
  }

  /**
   * Bytes that threads have allocated between two readings.
   *
   * @throws IOException when a thread has ended, since its allocation is unknown then
   */
  public static long allocatedBetween(Map<Long, Long> before, Map<Long, Long> after)
      throws IOException {
    if (!after.keySet().containsAll(before.keySet())) {
      throw new IOException("a thread has ended, so its allocation is unknown");
    }
    long sum = 0;
    for (Map.Entry<Long, Long> thread : after.entrySet()) {
      sum += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
    }
    return sum;
  }

  @Override
  public void close() throws IOException {
    connector.close();
  }
}
