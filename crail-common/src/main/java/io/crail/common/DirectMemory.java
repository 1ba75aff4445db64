/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** How much memory outside the heap this process may have. */
public final class DirectMemory {
  private static final long OTHERS_BYTES = 8L << 20;
  private static final int OTHERS_PART = 16;
  private static final int MOST_OTHERS_PART = 4;

  private DirectMemory() {}

  /**
   * {@return the bytes that Java allocates: as many as the heap has, unless an option says more}
   */
  public static long mostBytes() {
    long most = 0;
    try {
      most =
          Long.parseLong(
              ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                  .getVMOption("MaxDirectMemorySize")
                  .getValue());
    } catch (RuntimeException | LinkageError e) {
      // A JVM of another make, or without the module, does not say.
    }
    return most > 0 ? most : Runtime.getRuntime().maxMemory();
  }

  /** {@return the part of it that the buffers of a store may take: connections need some, too} */
  public static long ofBuffers() {
    long most = mostBytes();
    return most - Math.max(most / OTHERS_PART, Math.min(most / MOST_OTHERS_PART, OTHERS_BYTES));
  }
}
