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
 * Answers, in the driver, executors that miss the directories of a shuffle. Messages are of classes
 * that every process has, whichever class loader knows Crail. Has a thread of its own.
 */
final class ShuffleEndpoint implements IsolatedThreadSafeRpcEndpoint {
  static final String NAME = "CrailShuffles";

  private final RpcEnv rpcEnv;
  private final DriverShuffles shuffles;

  ShuffleEndpoint(RpcEnv rpcEnv, DriverShuffles shuffles) {
    this.rpcEnv = rpcEnv;
    this.shuffles = shuffles;
  }

  /**
   * Asks the driver to make the directories of a shuffle again.
   *
   * @return false when the shuffle is not needed any more
   * @throws IOException when the driver does not answer, or cannot make them
   */
  static boolean askDriver(int shuffle) throws IOException {
    SparkEnv env = SparkEnv.get();
    try {
      RpcEndpointRef driver = RpcUtils.makeDriverRef(NAME, env.conf(), env.rpcEnv());
      return driver.<Boolean>askSync(shuffle, ClassTag$.MODULE$.apply(Boolean.class));
    } catch (Exception e) {
      // Scala declares no exceptions.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
      throw new IOException("the driver does not make directories for shuffle " + shuffle, e);
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
        return message instanceof Integer;
      }

      @Override
      @SuppressWarnings("unchecked")
      public <A, B> B applyOrElse(A message, Function1<A, B> other) {
        if (!(message instanceof Integer shuffle)) {
          return other.apply(message);
        }
        try {
          context.reply(shuffles.remake(shuffle));
        } catch (IOException e) {
          context.sendFailure(e);
        }
        return (B) BoxedUnit.UNIT;
      }
    };
  }
}
