/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Addresses;
import io.crail.common.ByteText;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.TransportProvider;
import io.crail.storage.HostFindings;
import io.crail.storage.LocalHost;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.region.FreeSpace;
import io.crail.tool.metrics.MetricsKeys;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.DatanodeReport;
import io.crail.tool.report.Finding;
import io.crail.tool.report.Finding.Grade;
import io.crail.tool.report.NamenodeReport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Looks at this host. */
final class HostChecks {
  /** Connections of a namenode and of a datanode take a descriptor each. */
  private static final long DESCRIPTORS = 16_384;

  /** The kernel's default. The JVM needs some hundreds, and each region of a datanode takes two. */
  private static final long MAPPINGS = 65_530;

  private final HostFiles files;
  private final Configuration configuration;
  private final List<PlannedDatanode> datanodes;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * Creates the checks.
   *
   * @param datanodes those that are to run here
   */
  HostChecks(HostFiles files, Configuration configuration, List<PlannedDatanode> datanodes) {
    this.files = files;
    this.configuration = configuration;
    this.datanodes = datanodes;
  }

  /** Runs all checks. */
  List<Finding> run() {
    checkJava();
    checkName();
    checkDescriptors();
    checkMappings();
    checkHugePages();
    findings.addAll(new LogPlaceChecks(configuration, namenodesHere()).run());
    StorageTier.all().forEach(this::checkTier);
    datanodes.stream()
        .filter(each -> !each.place().isEmpty() && isWritable(each))
        .collect(
            Collectors.groupingBy(
                each -> fileSystem(each.place()), LinkedHashMap::new, Collectors.toList()))
        .values()
        .forEach(this::checkSpace);
    return findings;
  }

  /**
   * Looks for ports of this host's servers that other programs have. Where the cluster knows of a
   * server, that one has the port.
   */
  List<Finding> ports(ClusterReport cluster) {
    NamenodeAddresses namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    // Over RDMA ports are others.
    boolean overTcp = !configuration.get(TransportProvider.RPC_TYPE).equals("darpc");
    boolean known = false;
    List<Finding> found = new ArrayList<>();
    for (NamenodeReport each : cluster.namenodes()) {
      InetSocketAddress at = namenodes.get(each.index());
      if (isHere(at.getHostString())) {
        known |= each.answers();
        if (overTcp && !each.answers()) {
          checkPort(
              found, "namenode " + each.index(), resolved(at), ClusterKeys.NAMENODE_ADDRESS.name());
        }
      }
    }
    List<DatanodeReport> knownHere =
        cluster.members().stream().filter(each -> isHere(each.host())).toList();
    for (PlannedDatanode each : datanodes) {
      boolean isThere = knownHere.stream().anyMatch(one -> one.port() == each.port());
      if (each.port() != 0 && !isThere) {
        try {
          InetAddress at = LocalHost.address(each.networkInterface(), namenodes.all());
          String keys = "crail.storage." + each.tier() + ".port, or -p in conf/datanodes";
          checkPort(found, "a datanode", new InetSocketAddress(at, each.port()), keys);
        } catch (IOException e) {
          into(found).cannotServe(each.tier(), e);
        }
      }
    }
    if (!known && knownHere.isEmpty()) {
      checkMetricsPorts(found);
    }
    return found;
  }

  /** The places in {@code crail.namenode.address} of those that run here. */
  private List<Integer> namenodesHere() {
    NamenodeAddresses namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    return IntStream.range(0, namenodes.size())
        .filter(i -> namenodes.peers(i).stream().anyMatch(peer -> isHere(peer.getHostString())))
        .boxed()
        .toList();
  }

  private static HostFindings into(List<Finding> findings) {
    return new HostFindings() {
      @Override
      public void ok(String text) {
        findings.add(Finding.ok(text));
      }

      @Override
      public void warning(String text, String cure) {
        findings.add(Finding.warning(text, cure));
      }

      @Override
      public void broken(String text, String cure) {
        findings.add(Finding.broken(text, cure));
      }
    };
  }

  private void checkTier(StorageTier tier) {
    List<PlannedDatanode> own =
        datanodes.stream().filter(each -> each.tier().equals(tier.name())).toList();
    if (!own.isEmpty()
        || configuration.get(StorageKeys.TYPES).contains(tier.name())
        || tier.isNeededWithoutStorage(configuration)) {
      tier.examine(configuration, own, into(findings));
    }
  }

  private void checkMetricsPorts(List<Finding> found) {
    List<InetSocketAddress> candidates =
        MetricsKeys.candidates(configuration.get(MetricsKeys.ADDRESS));
    List<InetSocketAddress> held =
        candidates.stream().filter(each -> !refusal(resolved(each)).isEmpty()).toList();
    // A server takes the first one that is free.
    if (!held.isEmpty() && held.size() == candidates.size()) {
      checkPort(
          found, "the metrics of a server", resolved(held.get(0)), MetricsKeys.ADDRESS.name());
    }
  }

  private static InetSocketAddress resolved(InetSocketAddress address) {
    return new InetSocketAddress(address.getHostString(), address.getPort());
  }

  private static void checkPort(
      List<Finding> found, String server, InetSocketAddress address, String keys) {
    String refusal = refusal(address);
    if (!refusal.isEmpty()) {
      found.add(
          Finding.warning(
              server + " could not listen on " + Addresses.text(address) + ": " + refusal,
              "'ss -tanp' shows who has the port; if that is none of Crail's servers, end it, or change "
                  + keys));
    }
  }

  /** Why it is impossible to listen there now; empty if it is possible. */
  private static String refusal(InetSocketAddress address) {
    try (Socket socket = claim(address)) {
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /**
   * A socket that has an address and does not listen. It is refused the address of a server, but
   * keeps none from a server that starts meanwhile.
   */
  static Socket claim(InetSocketAddress address) throws IOException {
    Socket socket = new Socket();
    try {
      socket.setReuseAddress(true);
      socket.bind(address);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private void checkJava() {
    int processors = Runtime.getRuntime().availableProcessors();
    long memory = files.memory("MemTotal", 0);
    findings.add(
        Finding.ok(
            "Java "
                + Runtime.version()
                + ", "
                + processors
                + (processors == 1 ? " processor" : " processors")
                + (memory == 0 ? "" : ", " + ByteText.of(memory) + " of memory")));
  }

  private void checkName() {
    try {
      InetAddress own = InetAddress.getLocalHost();
      findings.add(Finding.ok("the name " + own.getHostName() + " is " + own.getHostAddress()));
    } catch (UnknownHostException e) {
      findings.add(
          Finding.warning(
              "this host cannot find the address of its own name: " + e.getMessage(),
              "add the name to /etc/hosts"));
    }
  }

  private void checkDescriptors() {
    long limit = files.limit("Max open files");
    if (limit < DESCRIPTORS) {
      findings.add(
          Finding.warning(
              "a process may have " + limit + " open files, and each connection takes one",
              "ulimit -n 65536, nofile in /etc/security/limits.conf, LimitNOFILE in systemd"));
    } else {
      findings.add(Finding.ok("open files: " + (limit == HostFiles.NONE ? "no limit" : limit)));
    }
  }

  private void checkMappings() {
    long limit = files.number("proc/sys/vm/max_map_count", HostFiles.NONE);
    if (limit < MAPPINGS) {
      findings.add(
          Finding.warning(
              "a process may have " + limit + " memory mappings",
              "sysctl -w vm.max_map_count=262144, and the same in /etc/sysctl.d"));
    }
  }

  private void checkHugePages() {
    String mode = files.chosen("sys/kernel/mm/transparent_hugepage/enabled");
    if (mode.equals("never")) {
      findings.add(
          Finding.warning(
              "transparent huge pages are off; a namenode's heap and a benchmark use them",
              "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled"));
    } else if (!mode.isEmpty()) {
      findings.add(Finding.ok("transparent huge pages: " + mode));
    }
  }

  /** What distinguishes the file systems of two directories. */
  private static Object fileSystem(String place) {
    Path directory = existing(Path.of(place));
    try {
      return directory == null ? place : Files.getFileStore(directory);
    } catch (IOException e) {
      return place;
    }
  }

  /** The directory, or the next one above it that is there; null if none is. */
  private static Path existing(Path path) {
    Path directory = path;
    while (directory != null && !Files.isDirectory(directory)) {
      directory = directory.getParent();
    }
    return directory;
  }

  /** Checks that a datanode can make its files. */
  private boolean isWritable(PlannedDatanode datanode) {
    Path directory = existing(Path.of(datanode.place()));
    boolean writable = directory != null && Files.isWritable(directory);
    if (!writable) {
      findings.add(
          Finding.broken(
              "the data path " + datanode.place() + " cannot be written by this user",
              "change its owner, or crail.storage."
                  + datanode.tier()
                  + ".datapath, or -d in conf/datanodes"));
    }
    return writable;
  }

  /** Checks the space of a file system with all datanodes that use it. */
  private void checkSpace(List<PlannedDatanode> there) {
    Path path = Path.of(there.get(0).place());
    Path directory = existing(path);
    String tier = there.get(0).tier();
    String lower = "lower crail.storage." + tier + ".storagelimit, or -s in conf/datanodes";
    String cure =
        directory.startsWith("/dev/shm")
            ? "mount -o remount,size=<bytes> /dev/shm (container: --shm-size); or " + lower
            : "make it larger, or " + lower;
    long needed = there.stream().mapToLong(PlannedDatanode::bytes).sum();
    long total = directory.toFile().getTotalSpace();
    long free = free(directory);
    String has =
        "the data path " + path + " has " + ByteText.of(total) + ", " + ByteText.of(free) + " free";
    String lent =
        (there.size() == 1 ? "; a datanode lends " : "; " + there.size() + " datanodes lend ")
            + ByteText.of(needed);
    // What is lent already is not free any more, so that less is no proof.
    Grade grade = total < needed ? Grade.BROKEN : free < needed ? Grade.WARNING : Grade.OK;
    findings.add(new Finding(grade, has + lent, grade == Grade.OK ? "" : cure));
  }

  private static long free(Path directory) {
    try {
      return FreeSpace.bytes(directory);
    } catch (IOException e) {
      return directory.toFile().getUsableSpace();
    }
  }

  /** Whether a name or address is one of this host. */
  static boolean isHere(String host) {
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
          return true;
        }
      }
    } catch (UnknownHostException | SocketException e) {
      // Then ssh says what is wrong with it.
    }
    return false;
  }
}
