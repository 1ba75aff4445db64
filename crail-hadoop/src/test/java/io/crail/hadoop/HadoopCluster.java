/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.common.Addresses;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.net.URI;
import java.util.stream.Collectors;

/** A small cluster over TCP, and the URI by which Hadoop finds it. */
public final class HadoopCluster implements AutoCloseable {
  private final EmbeddedCrail crail;

  /** Starts a cluster with one namenode. */
  public HadoopCluster() throws IOException {
    this(1);
  }

  /** Starts a cluster. No deadline ends because the machine pauses for seconds. */
  HadoopCluster(int namenodes) throws IOException {
    crail =
        EmbeddedCrail.builder()
            .namenodes(namenodes)
            .storage(64 << 20)
            .set("crail.storage.tcp.allocationsize", "16m")
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .start();
  }

  /** The root of the file system. */
  public URI uri() {
    String authority =
        crail.namenodeAddresses().stream().map(Addresses::text).collect(Collectors.joining(","));
    return URI.create("crail://" + authority + "/");
  }

  /** What a store reads that knows no Hadoop. */
  CrailConfiguration configuration() {
    return CrailConfiguration.of(crail.configuration());
  }

  @Override
  public void close() {
    crail.close();
  }
}
