/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.protocol.Operation;
import io.crail.protocol.Operation.Routing;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.login.Right;
import io.crail.storage.network.DataHello;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The table of the data protocol, one line for each operation. Frames have the header of {@link
 * io.crail.rpc.Frame}; numbers are permanent. A datanode answers the requests of a connection in
 * their order. Data follow the fixed part of a message and count in the length of its frame.
 */
public final class DataNodeOperations {
  /** The most bytes of data of one message. */
  public static final int MAX_DATA_LENGTH = 1 << 30;

  /**
   * A read up to this length is copied into the datanode's output. A longer read leaves straight
   * from its region, and its client receives it straight into the user's memory.
   */
  static final int LARGEST_COPIED_READ = 64 * 1024;

  /** Data shorter than this go through an end's receiver, together with the bytes after them. */
  static final int SMALLEST_PLACED = 8 * 1024;

  private static final Map<Integer, Operation<?, ?>> TABLE = new LinkedHashMap<>();

  /** Opens a connection. */
  public static final Operation<DataHello.Request, DataHello.Response> HELLO =
      add(
          1,
          "data-hello",
          DataHello.Request.CODEC,
          DataHello.Response.CODEC,
          "opens a data connection to one datanode process");

  /** Reads bytes. */
  public static final Operation<ReadData.Request, ReadData.Response> READ =
      add(
          2,
          "read-data",
          ReadData.Request.CODEC,
          ReadData.Response.CODEC,
          "reads bytes of one generation");

  /** Writes bytes. */
  public static final Operation<WriteData.Request, WriteData.Response> WRITE =
      add(
          3,
          "write-data",
          WriteData.Request.CODEC,
          WriteData.Response.CODEC,
          "writes bytes in the name of one generation");

  /** Asks for an empty answer. */
  public static final Operation<Ping.Request, Ping.Response> PING =
      add(4, "data-ping", Ping.Request.CODEC, Ping.Response.CODEC, "answers");

  /** Carries a further message of a login. */
  public static final Operation<Login.Request, DataHello.Response> LOGIN =
      add(
          5,
          "data-login",
          Login.Request.CODEC,
          DataHello.Response.CODEC,
          "carries a further message of a connection's login");

  private DataNodeOperations() {}

  /** All operations by number. */
  public static Map<Integer, Operation<?, ?>> all() {
    return Collections.unmodifiableMap(TABLE);
  }

  /**
   * Who has logged in may ask for all. No answer is remembered: a write that is sent again puts the
   * same bytes to the same place.
   */
  private static <Q, R> Operation<Q, R> add(
      int number, String name, Codec<Q> request, Codec<R> response, String sentence) {
    Operation<Q, R> operation =
        new Operation<>(
            number,
            name,
            Right.ANY,
            request,
            response,
            false,
            new Routing<>("to the datanode", null, null, null),
            sentence);
    if (TABLE.put(number, operation) != null) {
      throw new AssertionError("operation number used twice: " + number);
    }
    return operation;
  }
}
