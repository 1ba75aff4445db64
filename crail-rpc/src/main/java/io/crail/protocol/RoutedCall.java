/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.util.function.UnaryOperator;

/**
 * A call whose namenode follows from a path. When that namenode answers that a spread directory is
 * on the way, the call goes on at another one.
 */
public interface RoutedCall {
  /** The path that decides, as it travels; null when this request has none. In the loop. */
  Utf8 path();

  /** Gives all paths of the request another form. In the loop, while it is not sent. */
  void route(UnaryOperator<Utf8> form);
}
