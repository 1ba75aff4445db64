/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

/**
 * A configuration that cannot be used. The message names the key, the value and where it was set,
 * and says what is allowed.
 */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message a message for the user
   */
  public ConfigException(String message) {
    super(message);
  }

  /**
   * Creates an exception with a cause.
   *
   * @param message a message for the user
   * @param cause the cause
   */
  public ConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
