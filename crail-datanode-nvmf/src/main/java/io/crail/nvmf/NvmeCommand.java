/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.nio.ByteBuffer;

/**
 * The commands of a host, as entries of a submission queue. Each method writes one of {@link
 * #LENGTH} bytes into zeroed memory, except for what belongs to the queue: flags, command id and
 * the description of the data. Little-endian.
 *
 * <pre>
 *   0 opcode       1 flags   2 command id   4 namespace, or the type of a fabrics command
 *  24 description of the data (SGL), 16 bytes
 *  40 arguments of the command
 * </pre>
 */
public final class NvmeCommand {
  /** Bytes of an entry. */
  public static final int LENGTH = 64;

  /** Bytes of the data of {@link #connect}. */
  public static final int CONNECT_DATA = 1024;

  /** Bytes that {@link #identify} answers. */
  public static final int IDENTIFY_DATA = 4096;

  /** The controller id in a connect of an admin queue: the target chooses one. */
  public static final int ANY_CONTROLLER = 0xffff;

  /** Property: capabilities of the controller, 8 bytes. */
  public static final int CAPABILITIES = 0x00;

  /** Property: configuration of the controller, 4 bytes. */
  public static final int CONFIGURATION = 0x14;

  /** Property: state of the controller, 4 bytes. */
  public static final int STATE = 0x1c;

  /** Identify: a namespace. */
  public static final int NAMESPACE = 0;

  /** Identify: the controller. */
  public static final int CONTROLLER = 1;

  /** Identify: the numbers of the namespaces above one. */
  public static final int NAMESPACES = 2;

  /** Log: the subsystems that a discovery service knows. */
  public static final int DISCOVERY_LOG = 0x70;

  private static final int FABRICS = 0x7f;
  private static final int PROPERTY_SET = 0x00;
  private static final int CONNECT = 0x01;
  private static final int PROPERTY_GET = 0x04;

  private static final int AUTHENTICATION_SEND = 0x05;
  private static final int AUTHENTICATION_RECEIVE = 0x06;
  private static final int AUTHENTICATION_PROTOCOL = 0xe9;

  private static final int ADMIN_GET_LOG_PAGE = 0x02;
  private static final int ADMIN_IDENTIFY = 0x06;
  private static final int ADMIN_SET_FEATURES = 0x09;
  private static final int ADMIN_GET_FEATURES = 0x0a;
  private static final int ADMIN_KEEP_ALIVE = 0x18;
  private static final int QUEUE_COUNT = 0x07;
  private static final int KEEP_ALIVE_TIME = 0x0f;

  private static final int IO_FLUSH = 0x00;
  private static final int IO_WRITE = 0x01;
  private static final int IO_READ = 0x02;

  private static final int HOST_ID_AT = 0;
  private static final int CONTROLLER_ID_AT = 16;
  private static final int SUBSYSTEM_AT = 256;
  private static final int HOST_AT = 512;

  /** In the result of a refused connect: the field is one of the data. */
  private static final int INVALID_IN_DATA = 1 << 16;

  private NvmeCommand() {}

  /**
   * Connect, the first command on each queue.
   *
   * @param queue its number; 0 is the admin queue
   * @param entries entries of its submission queue
   * @param keepAliveMillis how long the controller lives without a sign of the host; 0 for no limit
   */
  public static void connect(ByteBuffer out, int at, int queue, int entries, int keepAliveMillis) {
    fabrics(out, at, CONNECT);
    out.putShort(at + 42, (short) queue);
    out.putShort(at + 44, (short) (entries - 1));
    out.putInt(at + 48, keepAliveMillis);
  }

  /** The data of {@link #connect}. */
  public static ByteBuffer connectData(Subsystem subsystem, int controller) {
    ByteBuffer data = NvmeRequest.newMemory(CONNECT_DATA);
    NvmeHost host = subsystem.host();
    // The identity is a number of 128 bits whose first byte comes first.
    data.putLong(HOST_ID_AT, Long.reverseBytes(host.id().getMostSignificantBits()));
    data.putLong(HOST_ID_AT + 8, Long.reverseBytes(host.id().getLeastSignificantBits()));
    data.putShort(CONTROLLER_ID_AT, (short) controller);
    data.put(SUBSYSTEM_AT, Nqn.bytes(subsystem.nqn()));
    data.put(HOST_AT, Nqn.bytes(host.nqn()));
    return data;
  }

  /** A field of the data of a connect. */
  public enum ConnectField {
    /** The number of the controller. */
    CONTROLLER,
    /** The name of the subsystem. */
    SUBSYSTEM,
    /** The name or the id of the host. */
    HOST,
    /** A field of the command, or one that the target does not name. */
    OTHER
  }

  /**
   * Which field of its data a connect was refused for, with {@link NvmeStatus#CONNECT_INVALID}.
   *
   * @param result of the completion: the offset of the field, and whether it is one of the data
   */
  public static ConnectField invalidField(long result) {
    if ((result & INVALID_IN_DATA) == 0) {
      return ConnectField.OTHER;
    }
    return switch ((int) result & 0xffff) {
      case CONTROLLER_ID_AT -> ConnectField.CONTROLLER;
      case SUBSYSTEM_AT -> ConnectField.SUBSYSTEM;
      case HOST_ID_AT, HOST_AT -> ConnectField.HOST;
      default -> ConnectField.OTHER;
    };
  }

  /** Reads a property of 4 or 8 bytes. */
  public static void propertyGet(ByteBuffer out, int at, int property) {
    fabrics(out, at, PROPERTY_GET);
    out.put(at + 40, (byte) (property == CAPABILITIES ? 1 : 0));
    out.putInt(at + 44, property);
  }

  /** Sets a property of 4 bytes. */
  public static void propertySet(ByteBuffer out, int at, int property, int value) {
    fabrics(out, at, PROPERTY_SET);
    out.putInt(at + 44, property);
    out.putLong(at + 48, value & 0xffffffffL);
  }

  /** Passes a message of an authentication on. */
  public static void authenticationSend(ByteBuffer out, int at, int length) {
    authentication(out, at, AUTHENTICATION_SEND, length);
  }

  /** Asks for a message of an authentication, of this length at most. */
  public static void authenticationReceive(ByteBuffer out, int at, int length) {
    authentication(out, at, AUTHENTICATION_RECEIVE, length);
  }

  private static void authentication(ByteBuffer out, int at, int type, int length) {
    fabrics(out, at, type);
    out.put(at + 41, (byte) 1);
    out.put(at + 42, (byte) 1);
    out.put(at + 43, (byte) AUTHENTICATION_PROTOCOL);
    out.putInt(at + 44, length);
  }

  private static void fabrics(ByteBuffer out, int at, int type) {
    out.put(at, (byte) FABRICS);
    out.put(at + 4, (byte) type);
  }

  /**
   * Identify; the answer has {@link #IDENTIFY_DATA} bytes.
   *
   * @param what {@link #NAMESPACE}, {@link #CONTROLLER} or {@link #NAMESPACES}
   */
  public static void identify(ByteBuffer out, int at, int what, int namespace) {
    out.put(at, (byte) ADMIN_IDENTIFY);
    out.putInt(at + 4, namespace);
    out.put(at + 40, (byte) what);
  }

  /**
   * Reads a part of a log.
   *
   * @param log its number, such as {@link #DISCOVERY_LOG}
   * @param offset its first byte; a multiple of 4
   * @param length its bytes; a multiple of 4
   */
  public static void getLogPage(ByteBuffer out, int at, int log, long offset, int length) {
    int last = length / Integer.BYTES - 1;
    out.put(at, (byte) ADMIN_GET_LOG_PAGE);
    out.putInt(at + 40, log | last << 16);
    out.putInt(at + 44, last >>> 16);
    out.putLong(at + 48, offset);
  }

  /** Asks for this many pairs of I/O queues; the answer says how many there are. */
  public static void setQueueCount(ByteBuffer out, int at, int count) {
    out.put(at, (byte) ADMIN_SET_FEATURES);
    out.putInt(at + 40, QUEUE_COUNT);
    out.putInt(at + 44, (count - 1) << 16 | (count - 1));
  }

  /** Asks for the keep-alive time, which the answer has in milliseconds. */
  public static void getKeepAliveTime(ByteBuffer out, int at) {
    out.put(at, (byte) ADMIN_GET_FEATURES);
    out.putInt(at + 40, KEEP_ALIVE_TIME);
  }

  /** A sign of the host. */
  public static void keepAlive(ByteBuffer out, int at) {
    out.put(at, (byte) ADMIN_KEEP_ALIVE);
  }

  /** Reads whole blocks. */
  public static void read(ByteBuffer out, int at, int namespace, long block, int count) {
    access(out, at, IO_READ, namespace, block, count);
  }

  /** Writes whole blocks. */
  public static void write(ByteBuffer out, int at, int namespace, long block, int count) {
    access(out, at, IO_WRITE, namespace, block, count);
  }

  private static void access(
      ByteBuffer out, int at, int opcode, int namespace, long block, int count) {
    out.put(at, (byte) opcode);
    out.putInt(at + 4, namespace);
    out.putLong(at + 40, block);
    out.putShort(at + 48, (short) (count - 1));
  }

  /** Makes what was written durable. */
  public static void flush(ByteBuffer out, int at, int namespace) {
    out.put(at, (byte) IO_FLUSH);
    out.putInt(at + 4, namespace);
  }
}
