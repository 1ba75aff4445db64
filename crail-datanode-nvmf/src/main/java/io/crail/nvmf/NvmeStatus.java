/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.util.Locale;

/**
 * How a command ended: the status field of a completion, without the phase bit. Bits 0 to 7 are the
 * code, bits 8 to 10 the type of code, bit 14 says that a repetition would end the same way.
 */
public final class NvmeStatus {
  /** Success. */
  public static final int OK = 0;

  /**
   * The data were damaged on their way, so a repetition may succeed. Also given by a host that
   * finds a wrong digest.
   */
  public static final int TRANSIENT_TRANSPORT_ERROR = 0x022;

  /** No such namespace, or wrong format. */
  public static final int INVALID_NAMESPACE = 0x00b;

  /** Beyond the namespace's end. */
  public static final int OUT_OF_RANGE = 0x080;

  /** The namespace is write protected. */
  public static final int WRITE_PROTECTED = 0x020;

  /** A field of the command is invalid. */
  public static final int INVALID_FIELD = 0x002;

  /** Given by a host that cannot send the command, for want of memory for it. */
  public static final int HOST_PATH_ERROR = 0x370;

  /** Connect: the controller is in use, or there is no free one. */
  public static final int CONTROLLER_BUSY = 0x181;

  /** Connect: an argument is invalid, such as an unknown subsystem. */
  public static final int CONNECT_INVALID = 0x182;

  /** Connect: the target does not let this host in. */
  public static final int CONNECT_HOST = 0x184;

  private static final int MEANING = 0x7ff;
  private static final int DO_NOT_RETRY = 0x4000;

  private NvmeStatus() {}

  /** Whether a status has a meaning, whatever its other bits say. */
  public static boolean is(int status, int meaning) {
    return (status & MEANING) == meaning;
  }

  /**
   * Whether a repetition would end the same way. Linux' target says so of a busy controller too,
   * and has one again when it has ended another.
   */
  public static boolean isFinal(int status) {
    return (status & DO_NOT_RETRY) != 0 && !is(status, CONTROLLER_BUSY);
  }

  /** The status in words, with its number. */
  public static String text(int status) {
    return words(status & MEANING)
        + String.format(Locale.ROOT, " (status 0x%03x)", status & MEANING);
  }

  private static String words(int meaning) {
    return switch (meaning) {
      case OK -> "success";
      case 0x001 -> "the command is not supported";
      case INVALID_FIELD -> "a field of the command is invalid";
      case 0x003 -> "the command's id is in use";
      case 0x004 -> "the data could not be transferred";
      case 0x005 -> "the target lost power";
      case 0x006 -> "the target has an internal error";
      case 0x007, 0x008 -> "the command was aborted";
      case INVALID_NAMESPACE -> "there is no such namespace, or its format is invalid";
      case 0x00c -> "the commands are out of order";
      case WRITE_PROTECTED -> "the namespace is write protected";
      case TRANSIENT_TRANSPORT_ERROR -> "the data were damaged on their way";
      case OUT_OF_RANGE -> "the blocks are beyond the end of the namespace";
      case 0x081 -> "the namespace has no room left";
      case 0x082 -> "the namespace is not ready";
      case 0x083 -> "the namespace is reserved by another host";
      case 0x180 -> "the target does not know this format of a connect";
      case CONTROLLER_BUSY -> "the controller is in use, or there is no free one";
      case CONNECT_INVALID -> "the target knows no such subsystem, host or controller";
      case 0x183 -> "the controller must be started again";
      case CONNECT_HOST -> "the target does not let this host in";
      case 0x190 -> "the list of subsystems has changed";
      case 0x191 -> "authentication is required";
      case 0x280 -> "the device could not write";
      case 0x281 -> "the device could not read";
      case 0x286 -> "access to the namespace was denied";
      case HOST_PATH_ERROR -> "this host cannot register the memory for it; its log says why";
      case 0x371 -> "the path to the namespace is broken";
      default ->
          switch (meaning >> 8) {
            case 1 -> "the command was refused";
            case 2 -> "the device failed";
            case 3 -> "the path failed";
            default -> "an error";
          };
    };
  }
}
