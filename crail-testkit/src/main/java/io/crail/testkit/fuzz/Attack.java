/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Generation;
import io.crail.rpc.Frame;
import io.crail.storage.tcp.DataNodeOperations;
import io.crail.storage.tcp.WriteData;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Replays recorded sessions with {@link Faults} against live servers. Identities are not
 * authenticated, so some false requests are legal. The attack leaves those out: it removes no
 * datanode, and changes no path of another user. Used by one thread.
 */
public final class Attack {
  private static final int TIMEOUT_MILLIS = 2_000;
  private static final List<String> PATHS =
      List.of("/recorded", "/recorded/a", "/recorded/t/k", "/x/y", "x", "/recorded/../a", "//");

  /** The storage class that a replayed datanode claims. */
  public static final int LIAR_CLASS = 1;

  private final Random random;
  private final List<List<byte[]>> metadata;
  private final List<List<byte[]>> data;
  private final Faults metadataFaults;
  private final Faults dataFaults;
  private final long highestGeneration;
  private final int liar;

  /**
   * Creates an attack.
   *
   * @param metadata sessions with a namenode, of clients and a datanode
   * @param data sessions with a datanode
   * @param liar the number of the recorded datanode
   */
  public Attack(Random random, List<List<byte[]>> metadata, List<List<byte[]>> data, int liar) {
    this.random = random;
    this.metadata = metadata.stream().filter(session -> !session.isEmpty()).toList();
    this.data = data.stream().filter(session -> !session.isEmpty()).toList();
    this.liar = liar;
    Choices choices = Choices.of(random);
    Hostile hostile = new Hostile(choices, PATHS);
    metadataFaults = new Faults(NameNodeOperations.all(), choices, hostile);
    dataFaults = new Faults(DataNodeOperations.all(), choices, hostile);
    this.metadata.forEach(metadataFaults::learn);
    this.data.stream().map(Attack::withoutData).forEach(dataFaults::learn);
    highestGeneration =
        this.data.stream().flatMap(List::stream).mapToLong(Attack::generation).max().orElse(0);
  }

  /** A layout describes only the length of data, so the data are removed. */
  private static List<byte[]> withoutData(List<byte[]> session) {
    return session.stream()
        .filter(frame -> opcode(frame) != DataNodeOperations.WRITE.number())
        .toList();
  }

  private static int opcode(byte[] frame) {
    return Frame.code(little(frame), 0);
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long generation(byte[] frame) {
    int at = Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.offset("generation");
    return opcode(frame) == DataNodeOperations.WRITE.number() && frame.length >= at + Long.BYTES
        ? little(frame).getLong(at)
        : 0;
  }

  /** Replays a session at each server. Returns the number of frames sent. */
  public int round(InetSocketAddress namenode, InetSocketAddress datanode) {
    return replay(namenode, metadata, metadataFaults, NameNodeOperations.all())
        + replay(datanode, data, dataFaults, DataNodeOperations.all());
  }

  private int replay(
      InetSocketAddress server,
      List<List<byte[]>> sessions,
      Faults faults,
      Map<Integer, Operation<?, ?>> table) {
    List<byte[]> frames =
        fair(
            table,
            faults.put(
                sessions.get(random.nextInt(sessions.size())),
                sessions.get(random.nextInt(sessions.size()))));
    int sent = 0;
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.setTcpNoDelay(random.nextBoolean());
      if (random.nextInt(4) == 0) {
        // Closes the connection while answers are in flight.
        socket.setSoLinger(true, 0);
      }
      InputStream in = socket.getInputStream();
      for (byte[] frame : frames) {
        socket.getOutputStream().write(frame);
        sent++;
        in.skip(in.available());
      }
      if (random.nextBoolean()) {
        socket.shutdownOutput();
        in.skip(Long.MAX_VALUE);
      }
    } catch (IOException e) {
      // The server has closed the connection.
    }
    return sent;
  }

  /** Those of the frames, cut or not, that a server does not see as part of a legal lie. */
  List<byte[]> fair(Map<Integer, Operation<?, ?>> table, List<byte[]> frames) {
    FrameSplitter received = new FrameSplitter();
    return frames.stream()
        .filter(frame -> received.add(frame, seen -> isFair(table, seen)))
        .toList();
  }

  private boolean isFair(Map<Integer, Operation<?, ?>> table, byte[] frame) {
    Operation<?, ?> operation = table.get(opcode(frame));
    if (operation == NameNodeOperations.REMOVE_DATANODE
        || operation == NameNodeOperations.ANNOUNCE_SPACE) {
      return false;
    } else if (operation == NameNodeOperations.REGISTER_DATANODE) {
      int at = Frame.HEADER_LENGTH + RegisterDatanode.Request.LAYOUT.fixedLength();
      return field(frame, at, RegisterDatanode.Description.LAYOUT, "storageClass") == LIAR_CLASS;
    } else if (operation == NameNodeOperations.REGISTER_REGION) {
      return field(frame, RegisterRegion.Request.LAYOUT, "datanode") == liar;
    } else if (operation == DataNodeOperations.WRITE) {
      long generation = generation(frame);
      return generation <= highestGeneration || generation > Generation.MAX;
    }
    return operation == null
        || operation == NameNodeOperations.LOOKUP
        || !isOthersPath(operation, frame);
  }

  private static int field(byte[] frame, Layout layout, String name) {
    return field(frame, Frame.HEADER_LENGTH, layout, name);
  }

  private static int field(byte[] frame, int from, Layout layout, String name) {
    int at = from + layout.offset(name);
    return frame.length < at + Integer.BYTES ? -1 : little(frame).getInt(at);
  }

  private static boolean isOthersPath(Operation<?, ?> operation, byte[] frame) {
    if (operation.request().layout().tails().stream().noneMatch(Hostile::isPath)) {
      return false;
    }
    String text = new String(frame, StandardCharsets.ISO_8859_1);
    return text.contains("/honest") || !text.contains("/recorded") && !isCreation(operation);
  }

  private static boolean isCreation(Operation<?, ?> operation) {
    return operation == NameNodeOperations.CREATE
        || operation == NameNodeOperations.PUT
        || operation == NameNodeOperations.STAGE;
  }
}
