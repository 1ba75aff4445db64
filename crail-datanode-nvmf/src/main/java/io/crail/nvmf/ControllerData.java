/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What a controller tells of itself.
 *
 * @param model its model
 * @param serial its serial number
 * @param maxTransfer the most bytes of a command's data; a power of two of at least 4096
 * @param inCapsule bytes of data that an I/O command may carry along
 * @param namespaces the highest number of a namespace
 * @param maxCommands the most I/O commands in flight on a queue; 0 when it does not tell
 * @param keepAliveUnitMillis the unit in which it counts keep-alive times; 0 when it has none
 */
public record ControllerData(
    String model,
    String serial,
    int maxTransfer,
    int inCapsule,
    int namespaces,
    int maxCommands,
    int keepAliveUnitMillis) {
  /** The most bytes that a host here puts into a command. */
  static final int MAX_TRANSFER = 1 << 20;

  private static final int LOWEST_PAGE_SHIFT = 12;

  /**
   * Reads the answer to an identify.
   *
   * @param pageShift the controller's smallest page, as a power of two
   */
  public static ControllerData of(ByteBuffer data, int pageShift) {
    int shift = data.get(77) & 0xff;
    int total = shift + Math.max(pageShift, LOWEST_PAGE_SHIFT);
    int maxTransfer = shift == 0 || total > 20 ? MAX_TRANSFER : 1 << total;
    long capsule = 16 * (data.getInt(1792) & 0xffffffffL) - NvmeCommand.LENGTH;
    // Where the data in a capsule begin; all known targets say 0.
    boolean offset = (data.getShort(1800) & 0xffff) != 0;
    return new ControllerData(
        text(data, 24, 40),
        text(data, 4, 20),
        maxTransfer,
        offset ? 0 : (int) Math.max(0, Math.min(capsule, MAX_TRANSFER)),
        data.getInt(516),
        data.getShort(514) & 0xffff,
        100 * (data.getShort(320) & 0xffff));
  }

  /** The same, of a host that puts no more bytes into a command. */
  public ControllerData within(int mostTransfer) {
    return new ControllerData(
        model,
        serial,
        Math.min(maxTransfer, mostTransfer),
        inCapsule,
        namespaces,
        maxCommands,
        keepAliveUnitMillis);
  }

  /** Why the keep-alive time of a host does not suit the controller, or null when it does. */
  public String keepAliveProblem(ControllerLimits limits) {
    long keepAlive = limits.keepAlive().toMillis();
    if (keepAliveUnitMillis == 0) {
      return "the target has no keep-alive";
    }
    if (keepAlive % keepAliveUnitMillis != 0) {
      // It would count a longer time than its host.
      return "the target counts keep-alive times in "
          + keepAliveUnitMillis
          + " ms, and "
          + keepAlive
          + " ms is no multiple of that; set crail.storage.nvmf.keepalive to one";
    }
    return null;
  }

  private static String text(ByteBuffer data, int at, int length) {
    byte[] bytes = new byte[length];
    data.get(at, bytes);
    return new String(bytes, StandardCharsets.US_ASCII).replace('\0', ' ').strip();
  }
}
