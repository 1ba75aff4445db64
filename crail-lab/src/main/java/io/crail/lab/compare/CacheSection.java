/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.source.SourceCounts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Status and reads of files whose file system takes a millisecond for everything: through a cache
 * in Crail, directly, and beside gets of values of the same length, which are what a hit is made
 * of. A cold figure is that of a cache which had nothing; it is taken in the first run alone. All
 * clients use TCP, as if the servers were other hosts. Servers are a namenode and a datanode each:
 * one, two and four, by processor time of all of them. Two or four clients, and two servers, have
 * no goal, and are measured in the first run alone.
 */
final class CacheSection extends Section {
  /**
   * What is asked for.
   *
   * @param clients threads of one process with a connection each, one operation in flight
   * @param size bytes of a read; 0 for status
   */
  private record Load(int clients, int size) {
    String kind() {
      return size == 0 ? "status" : "read " + Samples.bytes(size);
    }

    /** Whether it is between those that have a goal. */
    boolean isBetween() {
      return clients == 2 || clients == 4;
    }

    String text() {
      return kind() + (clients == 1 ? ", 1 client" : ", " + clients + " clients");
    }

    String cached() {
      return text() + ", cached";
    }

    String cold() {
      return text() + ", cold";
    }

    String ofSource() {
      return text() + ", from the source";
    }

    /** The get of a value that is as long as what a hit gets. */
    String ofCrail() {
      return "GET " + Samples.bytes(valueBytes()) + " beside " + text();
    }

    int valueBytes() {
      return size == 0 ? STATUS_BYTES : size;
    }
  }

  /** Blocks of up to 64 KiB are at the namenode, and larger ones at datanodes. */
  private static final int[] SIZES = {4 << 10, 16 << 10, 256 << 10};

  private static final Load[] LOADS = {
    new Load(1, 0), new Load(2, 0), new Load(4, 0), new Load(8, 0),
    new Load(1, SIZES[1]), new Load(2, SIZES[1]), new Load(4, SIZES[1]), new Load(8, SIZES[1]),
    new Load(1, SIZES[0]), new Load(1, SIZES[2])
  };

  private static final int[] CLIENTS = {1, 2, 4, 8};

  /** What the status of a file of this section takes in Crail. */
  private static final int STATUS_BYTES = 128;

  private static final int RECORDS = 1024;

  /** A stream of a cached file is to find its block in Crail, not in the memory of its process. */
  private static final int BLOCKS_IN_MEMORY = 32;

  /** Files for a cold pass, and for several servers. */
  private static final int FEW = 2_000;

  private static final int[] SERVERS = {1, 2, 4};
  private static final int MOST_SERVERS = 4;
  private static final Load[] OF_SERVERS = {new Load(2, 0), new Load(2, SIZES[2])};
  private static final long STATUS_WARM_UP = 200_000;
  private static final long READ_WARM_UP = 10_000;
  private static final int STATUS_RATE = 1_500;
  private static final int READ_RATE = 400;
  private static final int SECONDS = 6;
  private static final String PER_CPU = "/CPU s";

  private static final int READERS = 64;
  private static final int PROCESSES = 4;
  private static final String ONE_BLOCK = READERS + " cold readers of one block";
  private static final String READS = "reads of the source";

  /** The name under which the source is cached. */
  private static final String CACHE = "slow";

  /** Whoever opens a file system asks for the status of a directory, which is not cached. */
  private static final long MOST_ASKED = 20;

  private static final int WARM_SECONDS = 6;
  private static final long DATANODE_BYTES = 2L << 30;
  private static final long LOAD_SECONDS = 1_800;

  /** Long ago. A file that was changed just now is not cached. */
  private static final FileTime AGE = FileTime.fromMillis(1_000_000_000_000L);

  private final Path source;
  private final Path counted;
  private SourceCounts counts;
  private final Map<Integer, LabCluster> clusters = new LinkedHashMap<>();
  private LabCluster one;
  private int caches;

  /** Creates the section. */
  CacheSection(CompareSession with) {
    super(with);
    this.source = with.regions().resolve("source");
    this.counted = with.regions().resolve("source-counts");
  }

  private int files() {
    return with.options().cached();
  }

  private int few() {
    return Math.min(FEW, files());
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    counts = new SourceCounts(counted);
    makeFiles("names", files());
    makeFiles("few", few());
    for (int size : SIZES) {
      makeFile(records(size), (long) RECORDS * size);
    }
    for (int servers : SERVERS) {
      LabCluster cluster = with.newCluster(with.setup().of(servers), DATANODE_BYTES);
      clusters.put(servers, cluster);
      for (int i = 1; i < servers; i++) {
        cluster.addDatanode("", with.regions(), DATANODE_BYTES);
      }
    }
    one = clusters.get(1);
    load(one, "names", "");
    for (int size : SIZES) {
      load(one, records(size), blocks(size));
    }
    for (LabCluster cluster : clusters.values()) {
      if (cluster != one) {
        load(cluster, records(SIZES[2]), blocks(SIZES[2]));
      }
      load(cluster, "few", "");
      warmUp(cluster);
    }
  }

  /** Lets each server compile its code. */
  private void warmUp(LabCluster cluster) throws IOException, InterruptedException {
    warmUp(cluster, STATUS_BYTES, DEPTH, STATUS_WARM_UP);
    warmUp(cluster, SIZES[2], 8, READ_WARM_UP);
  }

  private void warmUp(LabCluster cluster, int size, int inFlight, long each)
      throws IOException, InterruptedException {
    long operations = Math.min(each, 10L * files()) * cluster.namenodes().size();
    String load = "-t getKeyValue -n 200 -f /warm-" + size + " -s " + size + " -b " + inFlight;
    with.programs().run(cluster.iobench(load + " -k " + operations, false));
  }

  private void makeFiles(String directory, int count) throws IOException {
    Files.createDirectories(source.resolve(directory));
    for (int i = 0; i < count; i++) {
      makeFile(String.format(Locale.ROOT, "%s/f%08d", directory, i), 0);
    }
  }

  private void makeFile(String name, long length) throws IOException {
    Path file = source.resolve(name);
    try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
      made.setLength(length);
    }
    Files.setLastModifiedTime(file, AGE);
  }

  private static String records(int size) {
    return "records-" + size;
  }

  /** Loads all below a path into the cache, while the source is not slow. */
  private void load(LabCluster cluster, String path, String blocks)
      throws IOException, InterruptedException {
    String load = "--load ROOT" + path + blocks + " --set delayed.micros=0";
    with.programs().run(command(cluster, "cache", CACHE, load), LOAD_SECONDS);
  }

  private static String blocks(int size) {
    return " --set crail.cache.blocksize=" + size;
  }

  private static String in(String name) {
    return " -f ROOT" + name;
  }

  /** Reads of a file in blocks of their size, none of which comes from memory but by chance. */
  private static String ofRecords(int size) {
    return " --touch false -s "
        + size
        + in(records(size))
        + blocks(size)
        + " --set crail.cache.memory="
        + size * BLOCKS_IN_MEMORY;
  }

  /**
   * A command of a program that needs Hadoop.
   *
   * @param cache the name under which the source is cached; null for the source itself
   */
  private List<String> command(LabCluster cluster, String program, String cache, String command) {
    String root = cache == null ? "delayed://" + source + "/" : "crailcache://" + cache + "/";
    String all =
        command.replace("ROOT", root)
            + " --set fs.delayed.impl=io.crail.lab.source.DelayedFileSystem --set delayed.counts="
            + counted;
    if (cache != null) {
      all +=
          " --set crail.cache.source."
              + cache
              + "=delayed://"
              + source
              + " --set crail.cache.statusage=60m --set crail.cache.timeout=30s"
              + " --set crail.cache.claim=30s";
    }
    return cluster.bench(program, all, false);
  }

  /** Runs hdfsbench, which may ask the source. */
  private String hadoop(LabCluster cluster, String cache, String command)
      throws IOException, InterruptedException {
    return with.programs().run(command(cluster, "hdfsbench", cache, command));
  }

  /** Runs hdfsbench, which has to find in Crail what it asks for. */
  private String hits(LabCluster cluster, String command, Consumer<String> lines)
      throws IOException, InterruptedException {
    long before = asked();
    String text = with.programs().run(command(cluster, "hdfsbench", CACHE, command), lines);
    long asked = asked() - before;
    if (asked > MOST_ASKED) {
      throw new IOException("the source was asked " + asked + " times for what is cached");
    }
    return text;
  }

  private long asked() {
    return counts.get(SourceCounts.Kind.STATUS)
        + counts.get(SourceCounts.Kind.OPEN)
        + counts.get(SourceCounts.Kind.READ);
  }

  private static String shown(String cache, String command) {
    String root = cache == null ? "delayed:///..." : "crailcache://" + cache + "/";
    return LabCluster.shown("hdfsbench", command.replace("ROOT", root), false);
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (Load load : LOADS) {
      if (isFirstRun() && !load.isBetween()) {
        cold(load);
      }
      if (isFirstRun() || !load.isBetween()) {
        inTurn(() -> cached(load), () -> ofSource(load), () -> ofCrail(load));
      }
    }
    oneBlock();
    for (Load load : OF_SERVERS) {
      inTurn(
          clusters.keySet().stream()
              .filter(servers -> isFirstRun() || servers == 1 || servers == MOST_SERVERS)
              .map(servers -> (Step) () -> servers(servers, load))
              .toArray(Step[]::new));
    }
  }

  /** All clients ask for the same files in the same order, as they would at the begin of a job. */
  private void cold(Load load) throws IOException, InterruptedException {
    String cache = "cold" + caches++;
    String command =
        (load.size == 0
                ? "-t browseDir -w 0 -n " + few() + in("few")
                : "-t readSequentialHeap -w 0" + ofRecords(load.size))
            + " -k "
            + (load.size == 0 ? few() : RECORDS)
            + clients(load.clients);
    latency(load.cold(), shown(cache, command), hadoop(one, cache, command));
    with.programs().run(one.crail("cache", "--drop", cache));
  }

  private String random(Load load) {
    return load.size == 0
        ? "-t getMultiFile -w 0 -n " + files() + in("names")
        : "-t readRandomHeap -w 0" + ofRecords(load.size);
  }

  private void cached(Load load) throws IOException, InterruptedException {
    String command = random(load) + experiments(load);
    String text = hits(one, command, line -> {});
    add(load.cached(), shown(CACHE, command), lastExperiment(text));
  }

  private void ofSource(Load load) throws IOException, InterruptedException {
    int operations = Math.min(500, files());
    String command = random(load) + " -o true -k " + operations + clients(load.clients);
    add(load.ofSource(), shown(null, command), hadoop(one, null, command));
  }

  private void ofCrail(Load load) throws IOException, InterruptedException {
    String command =
        "-t getKeyValue -b 1 -s "
            + load.valueBytes()
            + " -n "
            + (load.size == 0 ? files() : RECORDS)
            + " -f /own-"
            + load.valueBytes()
            + experiments(load);
    String text = with.programs().run(one.iobench(command, false));
    add(load.ofCrail(), LabCluster.shown("iobench", command, false), lastExperiment(text));
  }

  /** Only the last experiment counts. Hadoop's part of a client takes long to be compiled. */
  private String experiments(Load load) {
    int operations = files() / (load.size > SIZES[1] ? 4 : 2) / load.clients;
    return " -o true -e 3 --warm-seconds "
        + Math.min(WARM_SECONDS, files() / 2_000)
        + " -k "
        + operations
        + clients(load.clients);
  }

  private void add(String name, String shown, String text) {
    latency(name, shown, text);
    samples.add(name, "/s", shown, Samples.number(text, "throughput"));
  }

  private static String clients(int clients) {
    return " --threads " + clients + " --set crail.client.loops=" + clients;
  }

  /** Several processes with several threads each read a block that is nowhere in Crail. */
  private void oneBlock() throws IOException, InterruptedException {
    int size = SIZES[1];
    String name = "one-" + caches++;
    makeFile(name, size);
    String command =
        "-t readRandomHeap --touch false -w 0 -k 1 -s "
            + size
            + in(name)
            + " --clients "
            + PROCESSES
            + " --threads "
            + READERS / PROCESSES
            + blocks(size);
    long before = counts.get(SourceCounts.Kind.READ);
    hadoop(one, CACHE, command);
    long reads = counts.get(SourceCounts.Kind.READ) - before;
    if (reads == 0) {
      throw new IOException("no one has read the block from the source");
    }
    samples.add(ONE_BLOCK, READS, shown(CACHE, command), reads);
  }

  /** With the same load on each server, so that all sleep as often. */
  private void servers(int servers, Load each) throws IOException, InterruptedException {
    LabCluster cluster = clusters.get(servers);
    int rate = Math.min(files(), each.size == 0 ? STATUS_RATE : READ_RATE);
    int clients = each.clients * servers;
    String command =
        (each.size == 0
                ? "-t getMultiFile -n " + few() + in("few")
                : "-t readRandomHeap" + ofRecords(each.size))
            + " -w "
            + rate
            + " -k "
            + rate * SECONDS / each.clients
            + " --rate "
            + rate * servers
            + clients(clients);
    ServerTime time = new ServerTime(cluster.servers(), cluster.port());
    String text = hits(cluster, command, time);
    String name = of(servers, each);
    String shown = shown(CACHE, command);
    samples.add(name, PER_CPU, shown, (double) rate * servers * SECONDS / time.seconds());
    // Whether the pace was kept.
    samples.add(name, "/s", shown, Samples.number(text, "throughput"));
  }

  private static String of(int servers, Load each) {
    return each.kind() + ", cached, " + servers + (servers == 1 ? " server" : " servers");
  }

  @Override
  protected void end() throws InterruptedException {
    for (LabCluster each : clusters.values()) {
      each.stop();
    }
  }

  @Override
  protected void compare() {
    for (Load load : LOADS) {
      boolean isAlone = load.clients == 1;
      goals.add(load.cached(), load.ofSource(), "/s", isAlone && load.size == 0 ? 10 : 0);
      if (isAlone) {
        goals.add(load.cached(), load.ofCrail(), "us p50", 1.2);
      } else {
        // Clients of the source sleep; these share the processors with the servers, as gets do.
        goals.add(load.cached(), load.ofCrail(), "/s", load.isBetween() ? 0 : 0.83);
      }
      if (!load.isBetween()) {
        goals.add(load.cold(), load.ofSource(), "us p50", 0);
      }
    }
    goals.addAlone(ONE_BLOCK, READS, 1);
    for (Load each : OF_SERVERS) {
      // Four servers with a processor each would do 3.5 times as much as one.
      goals.add(of(MOST_SERVERS, each), of(1, each), PER_CPU, 0.875);
    }
    plot(
        new Plot(
            "cache",
            "Files of a slow file system",
            "median latency [µs]",
            "us p50",
            Plot.Axis.LABELS,
            List.of(
                series("from the source", Load::ofSource),
                series("cached", Load::cached),
                series("get of Crail", Load::ofCrail))));
    plot(
        new Plot(
            "cache-clients",
            "Cached files, by clients",
            "operations [1/s]",
            "/s",
            Plot.Axis.LABELS,
            List.of(
                over("status", CLIENTS, clients -> new Load(clients, 0).cached()),
                over("read 16 KiB", CLIENTS, clients -> new Load(clients, SIZES[1]).cached()))));
    plot(
        new Plot(
            "cache-servers",
            "Cached files over servers, by their processor time",
            "operations per processor second",
            PER_CPU,
            Plot.Axis.LABELS,
            Arrays.stream(OF_SERVERS)
                .map(each -> over(each.kind(), SERVERS, servers -> of(servers, each)))
                .toList()));
  }

  private static Plot.Series over(String name, int[] numbers, IntFunction<String> figure) {
    Map<String, String> points = new LinkedHashMap<>();
    for (int number : numbers) {
      points.put(String.valueOf(number), figure.apply(number));
    }
    return new Plot.Series(name, points);
  }

  private static Plot.Series series(String name, Function<Load, String> way) {
    Map<String, String> points = new LinkedHashMap<>();
    for (Load load : LOADS) {
      if (!load.isBetween()) {
        points.put(load.text(), way.apply(load));
      }
    }
    return new Plot.Series(name, points);
  }
}
