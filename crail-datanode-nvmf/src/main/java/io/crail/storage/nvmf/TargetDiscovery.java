/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.DiscoveryEntry;
import io.crail.nvmf.DiscoveryListener;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.ClientLoop;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the subsystems that discovery services know in the place of the services, when a datanode
 * starts. So clients get subsystems only, and ask no service.
 *
 * <p>A subsystem that is reached in several ways is lent once. The ways are tried in an order that
 * does not depend on the log's: those of the service's own transport first, then by address.
 */
final class TargetDiscovery {
  private static final Logger LOG = LoggerFactory.getLogger(TargetDiscovery.class);

  /** For a long log. Each step of reading it has a deadline of its own. */
  private static final long LOG_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final ClientLoop loop;
  private final Initiators initiators;
  private final Digests digests;
  private final NvmeHost host;
  private final ControllerLimits limits;

  TargetDiscovery(
      ClientLoop loop,
      Initiators initiators,
      Digests digests,
      NvmeHost host,
      ControllerLimits limits) {
    this.loop = loop;
    this.initiators = initiators;
    this.digests = digests;
    // What a service says is proved by the subsystems themselves; few services can.
    this.host = host.with(host.secrets().ofHost());
    this.limits = limits;
  }

  /**
   * The ways to each target, with subsystems in place of services. To a target that is no service
   * there is one way: itself.
   *
   * @throws IOException when a service cannot be asked, or knows no subsystem that can be used
   */
  List<List<TargetAddress>> resolve(List<TargetAddress> targets) throws IOException {
    Set<String> known = new HashSet<>();
    targets.stream().filter(each -> !each.isDiscovery()).forEach(each -> known.add(each.nqn()));
    List<List<TargetAddress>> all = new ArrayList<>();
    for (TargetAddress target : targets) {
      if (!target.isDiscovery()) {
        all.add(List.of(target));
        continue;
      }
      for (List<TargetAddress> ways : ask(target)) {
        if (known.add(ways.get(0).nqn())) {
          LOG.info("the discovery service at {} knows {}", target, ways);
          all.add(ways);
        }
      }
    }
    return all;
  }

  private List<List<TargetAddress>> ask(TargetAddress service) throws IOException {
    CompletableFuture<List<List<TargetAddress>>> answer = new CompletableFuture<>();
    loop.submit(
        () -> {
          // So that the loop looks at its connections all the time meanwhile.
          loop.operationBegun();
          begin(service, answer);
        });
    try {
      return answer.get(limits.startNanos() + LOG_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException(service + ": its log could not be read in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for a discovery service");
    } finally {
      loop.operationEnded();
    }
  }

  private void begin(TargetAddress service, CompletableFuture<List<List<TargetAddress>>> answer) {
    Subsystem subsystem =
        new Subsystem(service.transport(), service.address(), service.nqn(), host);
    try {
      initiators
          .of(service.transport(), digests)
          .discover(
              subsystem,
              limits,
              new DiscoveryListener() {
                @Override
                public void found(List<DiscoveryEntry> subsystems, List<String> others) {
                  List<String> useless = new ArrayList<>(others);
                  List<List<TargetAddress>> targets = ways(service, subsystems, useless);
                  useless.forEach(
                      each -> LOG.info("{} also knows {}", service, Printable.line(each)));
                  if (targets.isEmpty()) {
                    failed(subsystem + ": it knows no subsystem that can be used" + but(useless));
                  } else {
                    answer.complete(targets);
                  }
                }

                @Override
                public void failed(String cause) {
                  answer.completeExceptionally(new IllegalStateException(Printable.line(cause)));
                }
              });
    } catch (CrailException e) {
      answer.completeExceptionally(e);
    }
  }

  private static String but(List<String> useless) {
    return useless.isEmpty() ? "" : ", but " + useless.get(0);
  }

  /** The ways to each subsystem, in the order of their names, which is the same at each start. */
  private List<List<TargetAddress>> ways(
      TargetAddress service, List<DiscoveryEntry> entries, List<String> useless) {
    Comparator<TargetAddress> order =
        Comparator.comparing((TargetAddress each) -> each.transport() != service.transport())
            .thenComparing(TargetAddress::toString);
    TreeMap<String, TreeSet<TargetAddress>> all = new TreeMap<>();
    for (DiscoveryEntry each : entries) {
      String problem = problem(each.transport());
      if (problem != null) {
        useless.add(each + ": " + problem);
      } else {
        all.computeIfAbsent(each.nqn(), nqn -> new TreeSet<>(order)).add(target(each));
      }
    }
    return all.values().stream().map(List::copyOf).toList();
  }

  private String problem(NvmeTransport transport) {
    try {
      initiators.of(transport, digests);
      return null;
    } catch (CrailException e) {
      return e.detail();
    }
  }

  private static TargetAddress target(DiscoveryEntry entry) {
    InetSocketAddress address = entry.address();
    return new TargetAddress(
        entry.transport(),
        InetSocketAddress.createUnresolved(
            address.getAddress().getHostAddress(), address.getPort()),
        entry.nqn(),
        List.of());
  }
}
