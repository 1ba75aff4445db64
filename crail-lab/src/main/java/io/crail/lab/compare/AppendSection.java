/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.bench.value.KeyValueAppend;
import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Appends of 4 KiB to one object by several clients, each with one append in flight, and by one
 * client with many in flight: with and without a guard by an epoch. Redis does the same with a
 * script, and with optimistic transactions, of which a connection has one at a time; its plain
 * APPEND has no bound, so there is no goal beside it. The load is one under which a guard has cost
 * RADOS three quarters of its rate.
 */
final class AppendSection extends Section {
  private static final int[] CLIENTS = {1, 2, 4, 8, 16, 32};
  private static final int SIZE = 4 << 10;
  private static final long SMALL_BYTES = 64 << 20;

  /** The last one counts. With a warm-up before the first one, so few do. */
  private static final int EXPERIMENTS = 2;

  private static final String PER_CPU = "/CPU s";
  private static final String KEY = "appended";

  private static final String TRANSACTIONS = "io.crail.lab.programs.RedisTransactions";

  /** Appends of a client with many in flight until its code is compiled. */
  private static final int WARM_UP = 200_000;

  /** Redis' string begins anew with so many bytes, as Crail's key does. */
  private static final int MOST = 60 << 10;

  /** Appends if the epoch of the object is not above that of the writer. */
  private static final String SCRIPT =
      "if tonumber(redis.call('HGET', KEYS[2], 'epoch')) > tonumber(ARGV[1])"
          + " then return redis.error_reply('sealed') end"
          + " if redis.call('STRLEN', KEYS[1]) >= "
          + MOST
          + " then redis.call('SET', KEYS[1], ARGV[2]) return 0 end"
          + " return redis.call('APPEND', KEYS[1], ARGV[2])";

  private LabCluster cluster;
  private String script;

  /** Creates the section. */
  AppendSection(CompareSession with) {
    super(with);
  }

  /**
   * A load.
   *
   * @param clients threads with a connection each
   * @param depth appends in flight of each
   */
  private record Shape(int clients, int depth) {
    /** About a second of them. */
    long operations() {
      return depth > 1 ? 80_000 : clients == 1 ? 12_000 : 32_000;
    }

    String text() {
      return clients
          + (clients == 1 ? " client, " : " clients, ")
          + (depth == 1 ? "one" : String.valueOf(depth))
          + " in flight each";
    }
  }

  private static List<Shape> shapes() {
    List<Shape> shapes = new ArrayList<>();
    for (int clients : CLIENTS) {
      shapes.add(new Shape(clients, 1));
    }
    shapes.add(new Shape(1, DEPTH));
    return shapes;
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    cluster = with.newCluster(with.setup(), SMALL_BYTES);
    // The namenode compiles the code for both, before either is measured.
    for (boolean guarded : new boolean[] {false, true}) {
      with.programs().run(cluster.iobench(load(new Shape(1, DEPTH), guarded), true));
    }
    if (has(CompareSession.Peer.REDIS)) {
      script = with.redis().load(SCRIPT);
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (Shape shape : shapes()) {
      inTurn(
          () -> crail(shape, false),
          () -> crail(shape, true),
          () -> redis(shape, false),
          () -> redis(shape, true),
          () -> transactions(shape));
    }
  }

  private void crail(Shape shape, boolean guarded) throws IOException, InterruptedException {
    long each = shape.operations() / shape.clients;
    String load = load(shape, guarded);
    ServerTime server = new ServerTime(cluster.namenodes(), cluster.port());
    String text = with.programs().run(cluster.iobench(load, true), server);
    String shown = LabCluster.shown("iobench", load, true);
    String last = lastExperiment(text);
    String name = crailName(shape, guarded);
    samples.add(name, "/s", shown, Samples.number(last, "throughput"));
    samples.add(name, "us p50", shown, Samples.number(last, "p50"));
    samples.add(name, PER_CPU, shown, each * shape.clients / server.seconds());
  }

  private static String load(Shape shape, boolean guarded) {
    long each = shape.operations() / shape.clients;
    return "-t "
        + (guarded ? "appendGuarded" : "appendKeyValue")
        + " -f /log -s "
        + SIZE
        + " -b "
        + shape.depth
        + " --threads "
        + shape.clients
        + " -k "
        + each
        + " -w "
        + (shape.depth > 1 ? WARM_UP : each)
        + " -e "
        + EXPERIMENTS
        + " --set crail.client.loops="
        + shape.clients;
  }

  private void redis(Shape shape, boolean guarded) throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.REDIS)) {
      return;
    }
    with.redis().fill(0, 1);
    with.redis().hash(KEY + ".state", "epoch", "1");
    String bytes = "x".repeat(SIZE);
    List<String> command =
        guarded
            ? List.of("EVALSHA", script, "2", KEY, KEY + ".state", "1", bytes)
            : List.of("APPEND", KEY, bytes);
    Redis.Load load = new Redis.Load(command, shape.clients, shape.depth, shape.operations(), 1);
    if (guarded) {
      // So that both find memory that was used before. A string without a bound would be too long.
      with.redis(load);
    }
    long pid = with.redis().process().pid();
    double before = Machine.processorSeconds(pid);
    Redis.Result result = with.redis(load);
    double seconds = Machine.processorSeconds(pid) - before;
    String name = redisName(shape, guarded);
    samples.add(name, "/s", load.shown(), result.perSecond());
    samples.add(name, "us p50", load.shown(), result.p50Micros());
    samples.add(name, PER_CPU, load.shown(), shape.operations() / seconds);
    long length = with.redis().length(KEY);
    if (length < SIZE || guarded && length > MOST + SIZE) {
      throw new IOException("Redis has " + length + " bytes where it has appended");
    }
    with.redis().fill(0, 1);
  }

  private void transactions(Shape shape) throws IOException, InterruptedException {
    if (!hasTransactions(shape)) {
      return;
    }
    with.redis().fill(0, 1);
    with.redis().hash(KEY + ".state", "epoch", "1");
    List<String> command =
        CompareSession.java(
            TRANSACTIONS,
            with.redis().port(),
            KEY,
            1,
            SIZE,
            KeyValueAppend.LISTS_OF_A_FILLING,
            shape.clients,
            shape.operations(),
            shape.operations());
    String text = with.programs().run(command);
    String shown = "RedisTransactions, " + shape.text();
    samples.add(transactionsName(shape), "/s", shown, Samples.number(text, "rate"));
    samples.add(transactionsName(shape), "us p50", shown, Samples.number(text, "p50"));
    long length = with.redis().length(KEY);
    if (length < SIZE) {
      throw new IOException("Redis has " + length + " bytes where it has appended");
    }
    with.redis().fill(0, 1);
  }

  private boolean hasTransactions(Shape shape) {
    return has(CompareSession.Peer.REDIS) && shape.depth == 1;
  }

  private static String transactionsName(Shape shape) {
    return "WATCH, MULTI (guard, APPEND), " + shape.text() + ", Redis";
  }

  private static String crailName(Shape shape, boolean guarded) {
    return (guarded ? "guarded append, " : "append, ") + shape.text() + ", Crail";
  }

  private static String redisName(Shape shape, boolean guarded) {
    return (guarded ? "EVALSHA (guard, APPEND), " : "APPEND, ") + shape.text() + ", Redis";
  }

  @Override
  protected void end() throws InterruptedException {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Override
  protected void compare() {
    for (Shape shape : shapes()) {
      goals.add(crailName(shape, true), crailName(shape, false), PER_CPU, 0.97);
      goals.add(crailName(shape, true), crailName(shape, false), "us p50", 1.03);
      if (has(CompareSession.Peer.REDIS)) {
        goals.add(crailName(shape, true), redisName(shape, true), "/s", 1);
        goals.add(crailName(shape, true), redisName(shape, true), PER_CPU, 1.2);
        goals.add(crailName(shape, false), redisName(shape, false), "/s", 0);
      }
      if (hasTransactions(shape)) {
        goals.add(crailName(shape, true), transactionsName(shape), "/s", 3);
      }
    }
    plot(
        new Plot(
            "append",
            "Appends of 4 KiB to one object",
            "appends [1/s]",
            "/s",
            Plot.Axis.LABELS,
            series()));
  }

  private List<Plot.Series> series() {
    List<Plot.Series> series = new ArrayList<>();
    for (boolean guarded : new boolean[] {false, true}) {
      String suffix = guarded ? ", guarded" : "";
      Map<String, String> crail = new LinkedHashMap<>();
      Map<String, String> redis = new LinkedHashMap<>();
      for (Shape shape : shapes()) {
        crail.put(shape.text(), crailName(shape, guarded));
        redis.put(shape.text(), redisName(shape, guarded));
      }
      series.add(new Plot.Series("Crail" + suffix, crail));
      if (has(CompareSession.Peer.REDIS)) {
        series.add(new Plot.Series("Redis" + suffix, redis));
      }
    }
    return series;
  }
}
