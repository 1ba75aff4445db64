/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Arguments that the methods of DiSNI's dispatcher refuse before they use a device. */
class DisniArgumentsTest {
  private static Object dispatcher;

  @BeforeAll
  static void create() throws Exception {
    Library.file();
    Constructor<?> constructor =
        Class.forName("com.ibm.disni.verbs.impl.NativeDispatcher").getDeclaredConstructor();
    constructor.setAccessible(true);
    // The constructor checks the version and the layouts.
    dispatcher = constructor.newInstance();
  }

  private static Object call(String name, Object... arguments) throws Exception {
    Method method =
        Arrays.stream(dispatcher.getClass().getDeclaredMethods())
            .filter(each -> each.getName().equals(name))
            .findFirst()
            .orElseThrow();
    try {
      return method.invoke(dispatcher, arguments);
    } catch (InvocationTargetException e) {
      throw assertInstanceOf(IOException.class, e.getCause());
    }
  }

  private static void refused(String message, String name, Object... arguments) {
    IOException e = assertThrows(IOException.class, () -> call(name, arguments));
    assertEquals(message + ": Invalid argument (errno 22)", e.getMessage());
  }

  @Test
  void aLengthThatIsNoneIsRefused() {
    ByteBuffer nothing = ByteBuffer.allocateDirect(1024);
    ByteBuffer id = ByteBuffer.allocateDirect(1024).order(ByteOrder.nativeOrder());
    // The id has a context and a queue pair, so only the length is wrong.
    id.putLong(0, Verbs.addressOf(nothing)).putLong(24, Verbs.addressOf(nothing));
    for (int length : new int[] {-1, -128, 57, 127}) {
      refused(
          "rdma_connect",
          "_connect",
          Verbs.addressOf(id),
          7,
          7,
          Verbs.addressOf(nothing),
          (byte) length);
    }
    refused("ibv_reg_mr", "_regMr", 0L, 0L, -1, 0, 0L, 0L, 0L);
  }

  @Test
  void anIdWithoutADeviceHasNothing() throws Exception {
    ByteBuffer zeros = ByteBuffer.allocateDirect(1024);
    long id = Verbs.addressOf(zeros);
    assertEquals(0, call("_destroyQP", id));
    assertEquals(-1L, call("_getContext", id));
    assertEquals(-1, call("_getSrcAddr", id, Verbs.addressOf(ByteBuffer.allocateDirect(64))));
    assertEquals(-1, call("_getDstAddr", id, Verbs.addressOf(ByteBuffer.allocateDirect(64))));
    assertEquals(0, call("_ackCmEvent", 1));
    refused("rdma_create_qp", "_createQP", id, 0L, 0L, 0L, 2, 1, 1, 0);
    refused("rdma_resolve_route", "_resolveRoute", id, 1);
    refused("rdma_connect", "_connect", id, 7, 7, 0L, (byte) 0);
    refused("rdma_accept", "_accept", id, 7, 7);
    refused("rdma_disconnect", "_disconnect", id);
    refused("ibv_modify_qp", "_modifyQP", id, 0L);
  }
}
