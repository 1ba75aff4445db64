/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeDoor;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A namenode with little space, and connections that send any request that the layouts allow:
 * values out of range, ids and tokens of other clients, in any order. Each request must have one
 * answer, which is valid or a typed error. Afterwards the accounts must be right, and no exception
 * may escape.
 *
 * <pre>{ [step][number of the operation][choices of the message ...] } ...</pre>
 */
final class NameNodeTarget implements Target {
  private static final List<String> PATHS =
      List.of(
          "/",
          "/d",
          "/d/f",
          "/d/e",
          "/d/e/f",
          "/f",
          "/t",
          "/t/k",
          "/t/l",
          "/m",
          "/m/f",
          "/d/../f",
          "//",
          "d",
          "/x".repeat(400),
          "");
  private static final Configuration CONFIGURATION =
      Configuration.builder()
          .set(NameNodeKeys.MEMORY, "48k")
          .set(NameNodeKeys.MAX_LEASES, 4)
          .set(NameNodeKeys.SMALL_VALUES, "64k")
          .set(NameNodeKeys.STORAGE_CLASSES, 3)
          .build();
  private static final int GOOD_PATHS = 11;
  private static final long TOKEN = 9;
  private static final int MOST_STEPS = 100;
  private static final int CONNECTIONS = 4;
  private static final int DATANODE = 3;
  private static final long REGION = 8 << 20;
  private static final long LEASE_NANOS = CONFIGURATION.get(NameNodeKeys.LEASE).toNanos();

  // Kinds of steps from this byte on. A byte below HOSTILE is a valid request, below the next
  // constant a valid request that waits.
  private static final int HOSTILE = 0x40;
  private static final int SEND = 0x80;
  private static final int PASS = 0xf8;

  @Override
  public void run(byte[] bytes) throws CrailException {
    Play play = new Play(new Input(bytes));
    play.begin();
    play.go();
  }

  /** The namenode for one input, and its history. */
  private static final class Play {
    private final Input input;
    private final Hostile hostile;
    private final NameNodeDoor namenode = new NameNodeDoor(CONFIGURATION);
    private final List<Connection> connections = new ArrayList<>();
    private final List<Long> created = new ArrayList<>();

    Play(Input input) {
      this.input = input;
      this.hostile = new Hostile(input, PATHS);
    }

    void begin() throws CrailException {
      for (int i = 0; i < CONNECTIONS; i++) {
        Connection connection = new Connection(this);
        connections.add(connection);
        connection.greet(i == DATANODE ? Hello.ROLE_DATANODE : Hello.ROLE_CLIENT, 100 + i % 2);
      }
      Connection datanode = connections.get(DATANODE);
      datanode.call(
          NameNodeOperations.REGISTER_DATANODE,
          new RegisterDatanode.Request(
              7,
              8,
              0,
              9000,
              false,
              false,
              Utf8.of("tcp"),
              Utf8.of("a"),
              TierTraits.ofMemory(FenceKind.GENERATION, true, "")));
      datanode.call(
          NameNodeOperations.REGISTER_REGION, new RegisterRegion.Request(0, 0, REGION, 0, 0, 0));
    }

    void go() throws CrailException {
      for (int step = 0; step < MOST_STEPS && input.left() > 1; step++) {
        int what = input.u8();
        Connection connection = connections.get(what & 3);
        if (what >= PASS) {
          namenode.pass(LEASE_NANOS * input.below(16) / 8);
        } else if (what < HOSTILE) {
          connection.ask();
        } else {
          connection.add(input.u8());
          if (what >= SEND) {
            connection.serve();
          }
        }
      }
      for (Connection connection : connections) {
        connection.serve();
      }
      namenode.verify();
      for (int i = 0; i < 8; i++) {
        namenode.pass(LEASE_NANOS);
      }
      namenode.verify();
    }
  }

  /** A connection, and its requests that are not served yet. */
  private static final class Connection extends ResponseWriter {
    private final Play play;
    private Session session = new Session("a fuzzer");
    private final List<Integer> opcodes = new ArrayList<>();
    private final List<byte[]> bodies = new ArrayList<>();
    private final List<ByteBuffer> answers = new ArrayList<>();
    private int role;
    private long clientId;
    private boolean refused;
    private long requests;
    private long firstOfBatch;

    Connection(Play play) {
      this.play = play;
    }

    void greet(int newRole, long newClientId) throws CrailException {
      role = newRole;
      clientId = newClientId;
      call(
          NameNodeOperations.HELLO,
          new Hello.Request(
              Hello.MAGIC,
              Frame.VERSION,
              Frame.VERSION,
              role,
              clientId,
              Utf8.of("a"),
              Utf8.of("u")));
    }

    <Q> void call(Operation<Q, ?> operation, Q request) throws CrailException {
      Codec<Q> codec = operation.request();
      ByteBuffer body = ByteBuffer.allocate(codec.length(request)).order(ByteOrder.LITTLE_ENDIAN);
      codec.encode(request, body, 0);
      opcodes.add(operation.number());
      bodies.add(body.array());
      serve();
    }

    /** The requests of an honest client, so that there are nodes to attack. */
    void ask() throws CrailException {
      Input input = play.input;
      int what = input.below(4);
      if (what < 2 || play.created.isEmpty()) {
        NodeType[] types = NodeType.values();
        call(
            NameNodeOperations.CREATE,
            new Create.Request(
                types[input.below(types.length)],
                true,
                false,
                false,
                0644,
                Create.PARENT_CLASS,
                TOKEN,
                Utf8.of(PATHS.get(input.below(GOOD_PATHS))),
                Utf8.EMPTY));
        return;
      }
      long id = play.created.get(input.below(play.created.size()));
      long size = input.below(4) * 100_000L;
      if (what == 2) {
        call(NameNodeOperations.EXTEND, new Extend.Request(id, TOKEN, 0, size, -1));
      } else {
        int end = input.below(2) == 0 ? SetSize.END : 0;
        call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, TOKEN, size, end));
      }
    }

    void add(int opcode) {
      Operation<?, ?> operation = NameNodeOperations.all().get(opcode);
      byte[] body =
          operation == null
              ? play.input.take(play.input.u8())
              : play.hostile.make(operation.request().layout());
      if (bodies.size() < RequestBatch.CAPACITY) {
        opcodes.add(opcode);
        bodies.add(body);
      }
    }

    void serve() throws CrailException {
      if (bodies.isEmpty()) {
        return;
      }
      int length = bodies.stream().mapToInt(body -> Frame.HEADER_LENGTH + body.length).sum();
      ByteBuffer in = ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
      RequestBatch batch = new RequestBatch(session);
      batch.reset(in);
      int at = 0;
      firstOfBatch = requests + 1;
      for (int i = 0; i < bodies.size(); i++) {
        int frameLength = Frame.HEADER_LENGTH + bodies.get(i).length;
        long id = Frame.correlationId(++requests, i);
        Frame.write(in, at, frameLength, opcodes.get(i), Frame.KIND_REQUEST, id);
        in.put(at + Frame.HEADER_LENGTH, bodies.get(i));
        batch.add(at, frameLength);
        at += frameLength;
      }
      refused = false;
      try {
        play.namenode.serve(batch, this);
      } catch (CrailException e) {
        // The connection is closed. Its client connects again.
        Require.that(
            e.code() == ErrorCode.PROTOCOL && opcodes.stream().anyMatch(Connection::isNone),
            "the connection is closed by " + e);
        refused = true;
        session = new Session("a fuzzer");
      }
      if (buffer() != null) {
        answers.add(buffer().slice(0, written()).order(ByteOrder.LITTLE_ENDIAN));
      }
      detach();
      check();
      opcodes.clear();
      bodies.clear();
      answers.clear();
      if (refused) {
        greet(role, clientId);
      }
    }

    private static boolean isNone(int opcode) {
      return !NameNodeOperations.all().containsKey(opcode);
    }

    /** Each request has one answer, in order. */
    private void check() throws CrailException {
      int index = 0;
      for (ByteBuffer buffer : answers) {
        int at = 0;
        while (at < buffer.capacity()) {
          int length = Frame.length(buffer, at);
          long id = Frame.correlationId(firstOfBatch + index, index);
          Require.equal(id, Frame.correlationId(buffer, at), "correlation id");
          Require.that(length <= Frame.MAX_LENGTH, "an answer of " + length + " bytes");
          checkAnswer(NameNodeOperations.all().get(opcodes.get(index)), buffer, at, length);
          index++;
          at += length;
        }
      }
      Require.that(refused || index == bodies.size(), index + " answers to " + bodies.size());
    }

    private void checkAnswer(Operation<?, ?> operation, ByteBuffer buffer, int at, int length)
        throws CrailException {
      int code = Frame.code(buffer, at);
      Require.equal(code, ErrorCode.of(code).number(), operation + " answers an unknown error");
      Require.that(ErrorCode.of(code) != ErrorCode.INTERNAL, operation + " has met a bug");
      if (code == ErrorCode.OK.number()) {
        Object answer =
            operation
                .response()
                .decode(buffer, at + Frame.HEADER_LENGTH, length - Frame.HEADER_LENGTH);
        play.hostile.remember(answer);
        if (answer instanceof Create.Response node) {
          play.created.add(node.node().id());
        } else if (answer instanceof Put.Response value) {
          play.created.add(value.node().id());
        }
      } else {
        Require.that(
            length <= Frame.HEADER_LENGTH + Frame.MAX_DETAIL_LENGTH, "a detail of " + length);
      }
    }

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (written > 0) {
        answers.add(buffer().slice(0, written).order(ByteOrder.LITTLE_ENDIAN));
      }
      return ByteBuffer.allocateDirect(Math.max(needed, 4096)).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    List<Integer> numbers = new ArrayList<>(NameNodeOperations.all().keySet());
    for (int seed = 0; seed < 8; seed++) {
      Random random = new Random(seed);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      create(out, NodeType.DIRECTORY, "/d");
      create(out, NodeType.TABLE, "/t");
      create(out, NodeType.MULTIFILE, "/m");
      create(out, NodeType.DIRECTORY, "/d/e");
      create(out, NodeType.DATAFILE, "/f");
      create(out, NodeType.DATAFILE, "/d/f");
      create(out, NodeType.KEYVALUE, "/t/k");
      for (int i = 0; i < seed; i++) {
        create(out, NodeType.DATAFILE, List.of("/m/f", "/d/e/f").get(i % 2));
        out.writeBytes(new byte[] {0, (byte) (2 + i % 2), (byte) random.nextInt(), 2, 0});
      }
      Collections.shuffle(numbers, random);
      for (int number : numbers) {
        byte[] choices = new byte[20];
        random.nextBytes(choices);
        out.write(SEND + random.nextInt(CONNECTIONS));
        out.write(number);
        out.writeBytes(choices);
      }
      seeds.add(out.toByteArray());
    }
    return seeds;
  }

  /** A step that creates a node. */
  private static void create(ByteArrayOutputStream out, NodeType type, String path) {
    out.writeBytes(new byte[] {0, 0, (byte) type.ordinal(), (byte) PATHS.indexOf(path)});
  }
}
