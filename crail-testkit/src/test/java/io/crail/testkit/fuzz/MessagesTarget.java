/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.storage.network.DataHello;
import io.crail.storage.tcp.DataNodeOperations;
import io.crail.testkit.contract.CountingLogin;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Every message of every operation in the tables. The input selects the message, and then has its
 * bytes. A message must be refused with a typed error, or encoding it again must give the same
 * bytes.
 *
 * <pre>[1: answer, 2: of the datanode's table][number of the operation][message ...]</pre>
 */
final class MessagesTarget implements Target {
  private static final int ANSWER = 1;
  private static final int DATA = 2;
  private static final SmallValue PROOF = SmallValue.of(new byte[] {1, 2, 3});

  /** Begins a login of several rounds. */
  static final DataHello.Request LOGIN_HELLO =
      new DataHello.Request(
          DataHello.MAGIC, Frame.VERSION, CountingLogin.NUMBER, new UUID(1, 2), 7, PROOF);

  /** Its answers: a challenge, and the end. */
  static final List<DataHello.Response> LOGIN_ANSWERS =
      List.of(
          new DataHello.Response(DataHello.MAGIC, Frame.VERSION, true, 0, PROOF),
          new DataHello.Response(DataHello.MAGIC, Frame.VERSION, false, 0, PROOF));

  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    int which = input.u8();
    Operation<?, ?> operation = table((which & DATA) != 0).get(input.u8());
    if (operation != null) {
      boolean answer = (which & ANSWER) != 0;
      String name = operation + (answer ? " answer" : " request");
      Codec<?> codec = answer ? operation.response() : operation.request();
      check(name, codec, input.restBuffer());
    }
  }

  private static Map<Integer, Operation<?, ?>> table(boolean data) {
    return data ? DataNodeOperations.all() : NameNodeOperations.all();
  }

  /** Checks the bytes of one message. */
  static <T> void check(String name, Codec<T> codec, ByteBuffer bytes) {
    Require.modest(name, bytes.capacity(), () -> decode(name, codec, bytes));
    T message = decode(name, codec, bytes);
    if (message == null) {
      return;
    }
    ByteBuffer again = encode(codec, message);
    // Data are sent apart from the fixed part that announces them.
    Require.that(again.capacity() <= bytes.capacity(), name + " grows: " + message);
    if (again.capacity() < bytes.capacity()) {
      Require.equal(codec.layout().fixedLength(), again.capacity(), name + " shrinks");
    } else {
      try {
        T back = codec.decode(again, 0, again.capacity());
        Require.equal(message, back, name + " comes back as another");
        Require.equal(again, encode(codec, back), name + " has two forms");
      } catch (CrailException e) {
        throw new AssertionError(name + " does not read what it wrote: " + message, e);
      }
    }
    for (int i = 0; i < again.capacity(); i++) {
      int at = i;
      Require.that(
          again.get(i) == bytes.get(i) || isFlag(codec.layout(), again, bytes, i),
          () -> name + " loses byte " + at + " of " + message);
    }
  }

  /** Whether a byte is a flag, which is true for any value other than 0. */
  private static boolean isFlag(Layout layout, ByteBuffer written, ByteBuffer arrived, int at) {
    for (Layout.Field field : layout.fields()) {
      if (at >= field.offset() && at < field.offset() + field.width()) {
        if (field.meaning().endsWith("0 or 1")) {
          return written.get(field.offset()) == 1;
        }
      }
    }
    // A byte of a part that has its own layout.
    return written.get(at) == 1 && arrived.get(at) != 0;
  }

  /** The message, or null when it is refused. */
  private static <T> T decode(String name, Codec<T> codec, ByteBuffer bytes) {
    try {
      return codec.decode(bytes, 0, bytes.capacity());
    } catch (CrailException e) {
      Require.that(
          e.code() == ErrorCode.PROTOCOL || e.code() == ErrorCode.INVALID_ARGUMENT,
          () -> name + " is refused with " + e);
      return null;
    }
  }

  private static <T> ByteBuffer encode(Codec<T> codec, T message) {
    ByteBuffer out = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, out, 0);
    return out;
  }

  @Override
  public List<byte[]> seeds() throws IOException {
    List<byte[]> seeds = new ArrayList<>();
    Golden.messages()
        .forEach(
            (name, message) -> {
              int number = Integer.parseInt(name.substring(0, name.indexOf(' ')));
              seeds.add(input(name.endsWith("response") ? ANSWER : 0, number, message));
            });
    DataNodeOperations.all()
        .forEach(
            (number, operation) -> {
              seeds.add(input(DATA, number, smallest(operation.request())));
              seeds.add(input(DATA | ANSWER, number, smallest(operation.response())));
            });
    // Logins of several rounds; those of the namenode's table are among the golden messages.
    seeds.add(seed(DATA, DataNodeOperations.HELLO, DataHello.Request.CODEC, LOGIN_HELLO));
    seeds.add(seed(DATA, DataNodeOperations.LOGIN, Login.Request.CODEC, new Login.Request(PROOF)));
    for (DataHello.Response answer : LOGIN_ANSWERS) {
      seeds.add(seed(DATA | ANSWER, DataNodeOperations.LOGIN, DataHello.Response.CODEC, answer));
    }
    return seeds;
  }

  /** The smallest message that the layout allows. */
  static byte[] smallest(Codec<?> codec) {
    return new Hostile(new Input(new byte[0]), List.of("/")).make(codec.layout());
  }

  private static <T> byte[] seed(int which, Operation<?, ?> operation, Codec<T> codec, T message) {
    return input(which, operation.number(), encode(codec, message).array());
  }

  private static byte[] input(int which, int number, byte[] message) {
    return input(which, input(number, message));
  }

  /** A number of one byte, and bytes behind it. */
  static byte[] input(int number, byte[] message) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(number);
    out.writeBytes(message);
    return out.toByteArray();
  }
}
