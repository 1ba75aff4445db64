/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import java.util.Optional;

/** A server whose metrics are served. Thread-safe. */
interface MetricsSource {
  /** Adds the present values. The work may grow with datanodes and classes, not with data. */
  void collect(Readings readings);

  /** A sentence that says why the server is not ready; empty when it is. Never waits. */
  Optional<String> lacks();
}
