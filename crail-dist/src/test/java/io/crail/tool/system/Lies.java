/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.Utf8;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.rpc.Frame;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Well-formed requests with false values in every field. */
final class Lies {
  private static final Map<Operation<?, ?>, Class<? extends Record>> REQUESTS =
      Map.ofEntries(
          Map.entry(NameNodeOperations.CREATE, Create.Request.class),
          Map.entry(NameNodeOperations.PUT, Put.Request.class),
          Map.entry(NameNodeOperations.STAGE, Put.Request.class),
          Map.entry(NameNodeOperations.LOOKUP, Lookup.Request.class),
          Map.entry(NameNodeOperations.SET_SIZE, SetSize.Request.class),
          Map.entry(NameNodeOperations.REMOVE, Remove.Request.class),
          Map.entry(NameNodeOperations.RENAME, Rename.Request.class),
          Map.entry(NameNodeOperations.FIND_EXTENTS, FindExtents.Request.class),
          Map.entry(NameNodeOperations.EXTEND, Extend.Request.class),
          Map.entry(NameNodeOperations.ACQUIRE_LEASE, AcquireLease.Request.class),
          Map.entry(NameNodeOperations.RENEW_LEASES, RenewLeases.Request.class),
          Map.entry(NameNodeOperations.LIST_NODES, ListNodes.Request.class),
          Map.entry(NameNodeOperations.LOCATIONS, Locations.Request.class),
          Map.entry(NameNodeOperations.REGISTER_DATANODE, RegisterDatanode.Request.class),
          Map.entry(NameNodeOperations.REGISTER_REGION, RegisterRegion.Request.class),
          Map.entry(NameNodeOperations.KEEP_ALIVE, KeepAlive.Request.class),
          Map.entry(NameNodeOperations.REMOVE_DATANODE, RemoveDatanode.Request.class),
          Map.entry(NameNodeOperations.DESCRIBE_DATANODE, DescribeDatanode.Request.class),
          Map.entry(NameNodeOperations.LIST_DATANODES, ListDatanodes.Request.class),
          Map.entry(NameNodeOperations.REPORT_DATANODES, ReportDatanodes.Request.class),
          Map.entry(NameNodeOperations.CREATE_SPREAD, Create.Request.class),
          Map.entry(NameNodeOperations.SET_SHARE, SetShare.Request.class),
          Map.entry(NameNodeOperations.OPERATE, Operate.Request.class),
          Map.entry(NameNodeOperations.OPERATE_READ, Operate.Request.class),
          Map.entry(NameNodeOperations.CHECK_SHARES, CheckShares.Request.class),
          Map.entry(NameNodeOperations.LEND_QUOTA, LendQuota.Request.class),
          Map.entry(NameNodeOperations.REPORT_ACTIVITY, ReportActivity.Request.class),
          Map.entry(NameNodeOperations.USAGE, Usage.Request.class),
          Map.entry(NameNodeOperations.DUMP, Dump.Request.class),
          Map.entry(NameNodeOperations.EXAMINE, Examine.Request.class),
          Map.entry(NameNodeOperations.BEGIN_MOVE, BeginMove.Request.class),
          Map.entry(NameNodeOperations.COMMIT_MOVE, CommitMove.Request.class),
          Map.entry(NameNodeOperations.LIST_SHARES, ListShares.Request.class),
          Map.entry(NameNodeOperations.LIST_EXTENTS, ListExtents.Request.class),
          Map.entry(NameNodeOperations.NAMES, Names.Request.class),
          Map.entry(NameNodeOperations.SET_ATTRIBUTES, SetAttributes.Request.class),
          Map.entry(NameNodeOperations.REPLACE_EXTENT, ReplaceExtent.Request.class));
  private static final String[] NAMES = {
    "a", "\n", "\u001b[2J", "ERROR faked", "\u202e", "\u0007", "b", "\r"
  };
  private static final int TIMEOUT_MILLIS = 60_000;

  private final Random random;
  private long sent;

  Lies(Random random) {
    this.random = random;
  }

  /** Sends requests over one connection, each after the last was answered; false when cut off. */
  boolean tell(InetSocketAddress server, int role, int requests) throws Exception {
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.setTcpNoDelay(true);
      Hello.Request hello =
          new Hello.Request(
              Hello.MAGIC,
              Frame.VERSION,
              Frame.VERSION,
              role,
              random.nextLong(),
              role == Hello.ROLE_DATANODE ? text(255) : Utf8.of("liar"),
              Utf8.EMPTY);
      if (!ask(socket, NameNodeOperations.HELLO.number(), Hello.Request.CODEC, hello)) {
        return false;
      }
      Operation<?, ?>[] operations = REQUESTS.keySet().toArray(new Operation<?, ?>[0]);
      for (int i = 0; i < requests; i++) {
        // Half of them of the kinds that only datanodes send.
        Operation<?, ?> operation =
            random.nextBoolean()
                ? operations[random.nextInt(operations.length)]
                : NameNodeOperations.REGISTER_DATANODE;
        if (!ask(socket, operation)) {
          return false;
        }
      }
      return true;
    }
  }

  @SuppressWarnings("unchecked")
  private boolean ask(Socket socket, Operation<?, ?> operation) throws Exception {
    Codec<Object> codec = (Codec<Object>) operation.request();
    return ask(socket, operation.number(), codec, make(REQUESTS.get(operation)));
  }

  private <T> boolean ask(Socket socket, int opcode, Codec<T> codec, T message) throws IOException {
    int length = Frame.HEADER_LENGTH + codec.length(message);
    ByteBuffer frame = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    long id = Frame.correlationId(++sent, 0);
    Frame.write(frame, 0, length, opcode, Frame.KIND_REQUEST, id);
    codec.encode(message, frame, Frame.HEADER_LENGTH);
    socket.getOutputStream().write(frame.array());
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] header = in.readNBytes(Frame.HEADER_LENGTH);
    if (header.length < Frame.HEADER_LENGTH) {
      return false;
    }
    int answer = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
    return in.readNBytes(answer - Frame.HEADER_LENGTH).length == answer - Frame.HEADER_LENGTH;
  }

  private Record make(Class<? extends Record> type) throws Exception {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] =
          types[i] == List.class
              ? list((ParameterizedType) components[i].getGenericType())
              : types[i].isRecord()
                  ? make(types[i].asSubclass(Record.class))
                  : value(types[i], components[i].getName());
    }
    return type.getDeclaredConstructor(types).newInstance(values);
  }

  private List<Record> list(ParameterizedType type) throws Exception {
    Class<?> element = (Class<?>) type.getActualTypeArguments()[0];
    List<Record> list = new ArrayList<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      list.add(make(element.asSubclass(Record.class)));
    }
    return list;
  }

  private Object value(Class<?> type, String name) {
    if (type == Utf8.class) {
      return name.equals("path") || name.equals("source") || name.equals("target")
          ? path()
          : text(name.equals("tier") ? 32 : 255);
    }
    if (type == SmallValue.class) {
      // Shorter and longer than the namenode takes.
      byte[] bytes = new byte[random.nextInt(3) == 0 ? random.nextInt(4000) : random.nextInt(8)];
      random.nextBytes(bytes);
      return SmallValue.of(bytes);
    }
    if (type == boolean.class) {
      return random.nextBoolean();
    }
    if (type == long.class) {
      return random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(2000) - 1000;
    }
    if (type == int.class) {
      // Small ones are good more often, for ports and classes too.
      return random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(8);
    }
    Object[] constants = type.getEnumConstants();
    return constants[random.nextInt(constants.length)];
  }

  private Utf8 path() {
    StringBuilder path = new StringBuilder();
    int depth = 1 + random.nextInt(3);
    for (int i = 0; i < depth; i++) {
      path.append('/').append(NAMES[random.nextInt(NAMES.length)]).append(random.nextInt(4));
    }
    return Utf8.of(path.toString());
  }

  /** Never a text that could be shown as it is. */
  private Utf8 text(int mostBytes) {
    StringBuilder text = new StringBuilder("\n");
    int length = random.nextInt(mostBytes / 2);
    for (int i = 0; i < length; i++) {
      text.append((char) random.nextInt(0x80));
    }
    return Utf8.of(text.toString());
  }
}
