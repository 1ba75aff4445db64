/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.IsolatedThreadSafeRpcEndpoint;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.util.RpcUtils;
import scala.Function1;
import scala.PartialFunction;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Answers, in the driver, executors that miss the directories of a shuffle, or space. Messages are
 * of classes that every process has, whichever class loader knows Crail. Has a thread of its own.
 */
final class ShuffleEndpoint implements IsolatedThreadSafeRpcEndpoint {
  /** What the driver does for executors. Thread-safe. */
  interface Driver {
    /**
     * Makes the directories of a shuffle again, for a task that has found none.
     *
     * @return false when Spark does not need the shuffle any more
     */
    boolean remake(int shuffle) throws IOException;

    /** Makes room in a full store, and says what it has done. */
    String makeRoom();
  }

  static final String NAME = "CrailShuffles";

  /** The message of an executor that finds the store full. */
  private static final String FULL = "full";

  private final RpcEnv rpcEnv;
  private final Driver driver;

  ShuffleEndpoint(RpcEnv rpcEnv, Driver driver) {
    this.rpcEnv = rpcEnv;
    this.driver = driver;
  }

  /**
   * Asks the driver to make the directories of a shuffle again.
   *
   * @return false when the shuffle is not needed any more
   * @throws IOException when the driver does not answer, or cannot make them
   */
  static boolean askDriver(int shuffle) throws IOException {
    return ask(shuffle, Boolean.class, "make directories for shuffle " + shuffle);
  }

  /** Asks the driver for room in a full store; gives what it says, or why it says nothing. */
  static String askForRoom() {
    try {
      return ask(FULL, String.class, "make room");
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private static <T> T ask(Object message, Class<T> answer, String what) throws IOException {
    SparkEnv env = SparkEnv.get();
    try {
      RpcEndpointRef driver = RpcUtils.makeDriverRef(NAME, env.conf(), env.rpcEnv());
      return driver.<T>askSync(message, ClassTag$.MODULE$.apply(answer));
    } catch (Exception e) {
      // Scala declares no exceptions.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
      throw new IOException("the driver does not " + what, e);
    }
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object message) {
        return message instanceof Integer || FULL.equals(message);
      }

      @Override
      @SuppressWarnings("unchecked")
      public <A, B> B applyOrElse(A message, Function1<A, B> other) {
        if (!isDefinedAt(message)) {
          return other.apply(message);
        }
        try {
          if (message instanceof Integer shuffle) {
            context.reply(driver.remake(shuffle));
          } else {
            context.reply(driver.makeRoom());
          }
        } catch (IOException e) {
          context.sendFailure(e);
        }
        return (B) BoxedUnit.UNIT;
      }
    };
  }
}
