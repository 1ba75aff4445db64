/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A broadcast value that cannot be stored or read; the cause has the reason. It is neither an
 * {@code IOException} nor a {@code SparkException}: Spark takes those for a lost shuffle when it
 * reads the places of map outputs from a broadcast.
 */
public final class CrailBroadcastException extends UncheckedIOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates it.
   *
   * @param message what cannot be done with which value
   * @param cause the reason
   */
  public CrailBroadcastException(String message, IOException cause) {
    super(message, cause);
  }

  /**
   * {@return the error of a read}
   *
   * @param value the name of the value
   * @param cause the reason
   */
  public static CrailBroadcastException ofRead(String value, IOException cause) {
    boolean gone = cause instanceof NodeNotFoundException || cause instanceof StaleNodeException;
    String words =
        gone ? " was destroyed, or its application has ended" : " cannot be read from Crail";
    return new CrailBroadcastException(value + words + ": " + cause.getMessage(), cause);
  }
}
