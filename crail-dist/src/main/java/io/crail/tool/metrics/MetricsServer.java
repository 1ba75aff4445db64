/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.common.Addresses;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.ha.ReplicatedNamenode;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.LocalHost;
import io.crail.storage.daemon.Datanode;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;

/**
 * Serves what a server reports about itself: {@code /metrics} in the formats of Prometheus, {@code
 * /health} and {@code /ready}. Its threads touch no other thread's work, apart from the short locks
 * of the namenode's accounts. Does nothing when the configuration names no address.
 */
public final class MetricsServer implements AutoCloseable {
  /** More scrapes at a time get 503, so that a slow one does not pile up others. */
  private static final int MOST_SCRAPES = 4;

  private final Semaphore scrapes = new Semaphore(MOST_SCRAPES);
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final ExpositionFormats formats = ExpositionFormats.init();
  private final MetricsSource source;
  private final Optional<HttpPort> port;

  private MetricsServer(
      Configuration configuration, MetricsSource source, Map<String, HttpPort.Page> more)
      throws IOException {
    this.source = source;
    List<InetSocketAddress> candidates =
        MetricsKeys.candidates(configuration.get(MetricsKeys.ADDRESS));
    if (candidates.isEmpty()) {
      this.port = Optional.empty();
      return;
    }
    JvmMetrics.builder().register(registry);
    registry.register(
        () -> {
          Readings readings = new Readings();
          readings.add(Metric.READY, source.lacks().isEmpty() ? 1 : 0);
          source.collect(readings);
          return readings.snapshots();
        });
    Map<String, HttpPort.Page> pages = new TreeMap<>(more);
    pages.put("/health", request -> HttpPort.Answer.text(200, "alive"));
    pages.put("/ready", request -> ready());
    pages.put("/metrics", this::scrape);
    this.port = Optional.of(HttpPort.open(candidates, pages));
  }

  /**
   * Serves the metrics of a namenode.
   *
   * @param more what it serves beside them, by the paths of requests
   * @throws IOException that names the address when it cannot be bound
   */
  public static MetricsServer of(
      NameNodeServer namenode, Configuration configuration, Map<String, HttpPort.Page> more)
      throws IOException {
    return new MetricsServer(configuration, new NamenodeMetrics(namenode), more);
  }

  /** Serves the metrics of a peer of a namenode, as the other method. */
  public static MetricsServer of(
      ReplicatedNamenode peer, Configuration configuration, Map<String, HttpPort.Page> more)
      throws IOException {
    return new MetricsServer(configuration, new PeerMetrics(peer), more);
  }

  /** Serves the metrics of a datanode, as {@link #of(NameNodeServer, Configuration, Map)}. */
  public static MetricsServer of(Datanode datanode, Configuration configuration)
      throws IOException {
    long patienceNanos =
        configuration.get(ClusterKeys.KEEP_ALIVE).toNanos() * ClusterKeys.MISSED_KEEP_ALIVES;
    return new MetricsServer(configuration, new DatanodeMetrics(datanode, patienceNanos), Map.of());
  }

  /**
   * Where a path is served, with the real port; by the name of this host if that is at all of its
   * addresses. Empty when nothing is served.
   */
  public Optional<String> url(String path) {
    return port.map(HttpPort::address)
        .map(
            at ->
                at.getAddress().isAnyLocalAddress()
                    ? Addresses.text(LocalHost.hostName(), at.getPort())
                    : Addresses.numeric(at))
        .map(at -> "http://" + at + path);
  }

  private HttpPort.Answer ready() {
    return source
        .lacks()
        .map(sentence -> HttpPort.Answer.text(503, sentence))
        .orElse(HttpPort.Answer.text(200, "ready"));
  }

  private HttpPort.Answer scrape(HttpPort.Request request) throws IOException {
    if (!scrapes.tryAcquire()) {
      return HttpPort.Answer.text(503, MOST_SCRAPES + " scrapes are under way already");
    }
    try {
      ExpositionFormatWriter writer = formats.findWriter(request.header("accept"));
      ByteArrayOutputStream body = new ByteArrayOutputStream(1 << 16);
      writer.write(body, registry.scrape());
      return new HttpPort.Answer(200, writer.getContentType(), body.toByteArray());
    } finally {
      scrapes.release();
    }
  }

  @Override
  public void close() {
    port.ifPresent(HttpPort::close);
  }
}
