/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What a controller says about itself.
 *
 * @param model its model
 * @param serial its serial number
 * @param maxTransfer the most bytes of a command's data; a power of two of at least 4096
 * @param inCapsule bytes of data that an I/O command may carry along
 * @param namespaces the highest number of a namespace
 * @param maxCommands the most I/O commands in flight on a queue; 0 when it does not say
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

  // Where the fields are in the answer to an identify, by their names in the NVM Express standard.
  private static final int SERIAL_NUMBER = 4;
  private static final int SERIAL_NUMBER_LENGTH = 20;
  private static final int MODEL_NUMBER = 24;
  private static final int MODEL_NUMBER_LENGTH = 40;
  private static final int MDTS = 77;
  private static final int KAS = 320;
  private static final int MAXCMD = 514;
  private static final int NN = 516;
  private static final int IOCCSZ = 1792;
  private static final int ICDOFF = 1800;

  /** The unit of KAS. */
  private static final int KEEP_ALIVE_UNIT_MILLIS = 100;

  /** The unit of IOCCSZ. */
  private static final int CAPSULE_UNIT = 16;

  /**
   * Reads the answer to an identify.
   *
   * @param pageShift the controller's smallest page, as a power of two
   */
  public static ControllerData of(ByteBuffer data, int pageShift) {
    int shift = data.get(MDTS) & 0xff;
    int total = shift + Math.max(pageShift, LOWEST_PAGE_SHIFT);
    int maxTransfer = shift == 0 || total > 20 ? MAX_TRANSFER : 1 << total;
    long capsule = CAPSULE_UNIT * Integer.toUnsignedLong(data.getInt(IOCCSZ)) - NvmeCommand.LENGTH;
    // Where the data in a capsule begin; all known targets say 0.
    boolean offset = data.getShort(ICDOFF) != 0;
    return new ControllerData(
        text(data, MODEL_NUMBER, MODEL_NUMBER_LENGTH),
        text(data, SERIAL_NUMBER, SERIAL_NUMBER_LENGTH),
        maxTransfer,
        offset ? 0 : (int) Math.max(0, Math.min(capsule, MAX_TRANSFER)),
        data.getInt(NN),
        Short.toUnsignedInt(data.getShort(MAXCMD)),
        KEEP_ALIVE_UNIT_MILLIS * Short.toUnsignedInt(data.getShort(KAS)));
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
