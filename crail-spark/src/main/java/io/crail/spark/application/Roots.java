/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The roots of an application. A namenode owns whole top-level directories, so an application has
 * several of them where there are several namenodes. Stateless.
 */
final class Roots {
  /** What all roots begin with. */
  static final String PREFIX = "/spark-";

  private static final int FOR_EACH_NAMENODE = 4;

  private Roots() {}

  /** The paths of the roots, the same in all processes of the application. */
  static List<String> of(String application, Configuration configuration) {
    int namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS).size();
    int count = namenodes == 1 ? 1 : FOR_EACH_NAMENODE * namenodes;
    return IntStream.range(0, count).mapToObj(i -> PREFIX + application + '-' + i).toList();
  }
}
