/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailSpace;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.testkit.model.Board;
import io.crail.testkit.model.Board.Counter;
import io.crail.testkit.model.ModelNames;
import io.crail.testkit.nemesis.BreakingRelay;
import io.crail.testkit.nemesis.Fault;
import io.crail.testkit.nemesis.Nemesis;
import io.crail.testkit.nemesis.NetworkNamespaces;
import io.crail.testkit.nemesis.Plan;
import io.crail.testkit.nemesis.Role;
import io.crail.testkit.nemesis.SmallMemory;
import io.crail.testkit.nemesis.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One run of the model-based tester: clients that do random operations in processes of their own, a
 * nemesis that harms clients, datanodes and namenodes, and a verdict. The expected contents of all
 * names are on a board that all processes map. So the successor of a killed client knows what that
 * client had begun.
 */
final class ModelRun implements Nemesis.Victims {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** Clients give up what cannot be had after twice that. */
  private static final Duration LONGEST_FINISH = Duration.ofSeconds(240);

  private static final Pattern COUNT = Pattern.compile("([A-Za-z][A-Za-z_' -]*)=([0-9]+)");

  private static final Pattern WORKER = Pattern.compile("worker-([0-9]+)");

  /** How long a moment is looked for in which a client is in the middle of a large write. */
  private static final long LOOK_MILLIS = 3000;

  private static final int LONGEST_RUN_MILLIS = 10;

  /** How long clients append to files before requests are held back, so that some set sizes are. */
  private static final long APPENDS_MILLIS = 200;

  /** So few that the starts of a short run write snapshots. */
  private static final int SNAPSHOT_RECORDS = 300;

  /** Long enough that each worker has begun something. */
  private static final long MUTE_MILLIS = 100;

  private static final long TICK_MILLIS = 250;
  private static final long SHOWN_MILLIS = 60_000;

  /**
   * What is acknowledged later than this after the kill of a datanode is not lost. Ten times what
   * KilledDatanodeSystemTest demands, since here every process waits for processors.
   */
  private static final long LOSS_MILLIS = 200;

  /** After the last fault: what was on its way when it began has arrived, or never will. */
  private static final long CALM_MILLIS = 2000;

  /** Which changes namenodes keep when they are killed. */
  enum Kept {
    /** None. */
    FALSE,
    /** All that are not too new. */
    ASYNC,
    /** All. */
    TRUE;

    static Kept of(String text) {
      return valueOf(text.toUpperCase(Locale.ROOT));
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What a kill may lose, with {@link Kept#ASYNC}. */
  private static final long LOG_DELAY_MILLIS = 200;

  /** How long a namenode may have got no processor before it was killed. */
  private static final long STARVED_MILLIS = 2000;

  /** The parameters of a run. They are enough to repeat it. */
  record Parameters(
      long seed,
      int seconds,
      boolean mapped,
      int namenodes,
      int datanodes,
      int clients,
      int threads,
      int mebibytes,
      int longestFaultMillis,
      boolean fill,
      boolean network,
      Kept kept,
      boolean keep,
      int standbys) {
    /** Whether namenodes keep logs. */
    boolean durable() {
      return kept != Kept.FALSE;
    }

    /** The line that repeats the run. */
    String command() {
      return String.format(
          "ci/torture --seed %d --seconds %d --mapped %s --namenodes %d --datanodes %d --clients %d"
              + " --threads %d --mebibytes %d --longest-fault %d --fill %s --network %s"
              + " --durable %s --keep %s --standbys %d",
          seed,
          seconds,
          mapped,
          namenodes,
          datanodes,
          clients,
          threads,
          mebibytes,
          longestFaultMillis,
          fill,
          network,
          kept,
          keep,
          standbys);
    }

    /** Networks for all processes: namenodes first, then datanodes, then clients. */
    int members() {
      return processes() + datanodes + clients;
    }

    /** The processes of all namenodes. */
    int processes() {
      return namenodes * (1 + standbys);
    }

    int member(Role role, int index) {
      return switch (role) {
        case NAMENODE -> index;
        case DATANODE -> processes() + index;
        default -> processes() + datanodes + index;
      };
    }
  }

  private final Parameters parameters;
  private final Path directory;
  private final Path log;
  private final ModelNames names;
  private final Board board;
  private final ProcessCluster cluster;
  private final ProcessCluster.Places places;
  private final ModelMoves moves;
  private final ModelLogs logs;
  private final SmallMemory memory;
  private final NetworkNamespaces networks;
  // How clients reach the namenodes, by their indexes. None where networks can be cut.
  private final List<BreakingRelay> relays = new ArrayList<>();
  private final CrailProcess[] clients;
  private final int[] incarnations;
  private final List<CrailProcess> dead = new CopyOnWriteArrayList<>();
  private final long begin = System.nanoTime();
  private volatile int lasting;
  private int moving;
  private volatile long calmNanos = System.nanoTime();
  private final AtomicInteger faults = new AtomicInteger();

  /** Clients that were stopped or killed in the middle of a large write. */
  private int hits;

  private volatile boolean ended;
  private volatile long capacityBytes;
  private volatile boolean found;
  private volatile Throwable tickFailure;

  private int kills;

  private ModelRun(
      Parameters parameters,
      ProcessCluster.Places places,
      ProcessCluster cluster,
      SmallMemory memory,
      NetworkNamespaces networks,
      Path directory)
      throws Exception {
    this.parameters = parameters;
    this.places = places;
    this.cluster = cluster;
    this.moves = new ModelMoves(cluster);
    this.logs = new ModelLogs(directory, cluster, parameters.namenodes, 1 + parameters.standbys);
    this.memory = memory;
    this.networks = networks;
    this.directory = directory;
    log = directory.resolve("nemesis.log");
    names = new ModelNames(parameters.clients, parameters.threads, parameters.namenodes);
    board = Board.create(directory.resolve("board"), names.count());
    board.window(parameters.kept == Kept.ASYNC ? LOG_DELAY_MILLIS + STARVED_MILLIS : 0);
    clients = new CrailProcess[parameters.clients];
    incarnations = new int[parameters.clients];
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < parameters.processes() && networks == null; i++) {
      relays.add(new BreakingRelay(cluster.namenodeAddress(i)));
      addresses.add("crail://127.0.0.1:" + relays.get(i).port());
    }
    String site = Files.readString(cluster.directory().resolve("crail-site.conf"));
    Pattern address = Pattern.compile("^crail\\.namenode\\.address .*$", Pattern.MULTILINE);
    Files.writeString(
        configuration(),
        networks == null
            ? address
                .matcher(site)
                .replaceFirst(
                    "crail.namenode.address "
                        + ProcessCluster.joined(addresses, 1 + parameters.standbys))
            : site);
  }

  /** That of the clients. */
  private Path configuration() {
    return directory.resolve("clients.conf");
  }

  /** Short times in the order that they need: a datanode waits for data less than space rests. */
  private static Map<String, String> settings(Parameters parameters, Path directory) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "2s");
    settings.put("crail.namenode.freemargin", "1s");
    settings.put("crail.storage.tcp.writetimeout", "800ms");
    settings.put("crail.storage.keepalive", "500ms");
    // Shorter than many faults, so that many answers come too late.
    settings.put("crail.rpctimeout", "2s");
    settings.put("crail.datatimeout", "2s");
    settings.put("crail.namenode.smallfiles", Boolean.toString(parameters.seed % 2 == 0));
    if (parameters.keep) {
      settings.put("crail.storage.keep", "true");
    }
    if (parameters.durable()) {
      settings.put("crail.namenode.durability", parameters.kept == Kept.ASYNC ? "async" : "sync");
      settings.put("crail.namenode.logdelay", LOG_DELAY_MILLIS + "ms");
      settings.put("crail.namenode.datapath", ModelLogs.of(directory).toString());
      // In half of the runs requests outlast a start, and are sent again to one that has forgotten.
      settings.put("crail.rpctimeout", parameters.seed / 2 % 2 == 0 ? "2s" : "10s");
      settings.put("crail.client.namenodepatience", "10s");
      settings.put("crail.namenode.snapshotrecords", Integer.toString(SNAPSHOT_RECORDS));
    }
    return settings;
  }

  /**
   * Does a run.
   *
   * @param networks in whose hub this process runs, or null
   * @return what is wrong; nothing when all is right
   */
  static List<String> of(Parameters parameters, NetworkNamespaces networks) throws Exception {
    System.out.println("repeat with: " + parameters.command());
    Path mount = parameters.fill ? Files.createTempDirectory("crail-memory") : null;
    try (SmallMemory memory = mount == null ? null : SmallMemory.mount(mount, small(parameters))) {
      ProcessCluster.Places places =
          new ProcessCluster.Places(
              index -> networks == null ? "127.0.0.1" : networks.address(index),
              (role, index) ->
                  networks == null ? List.of() : networks.in(parameters.member(role, index)),
              mount);
      return of(parameters, places, memory, networks);
    } finally {
      if (mount != null) {
        Files.delete(mount);
      }
    }
  }

  /** All that datanodes lend, and what they need beside it. */
  private static long small(Parameters parameters) {
    return (parameters.mebibytes + 8L) << 20;
  }

  private static List<String> of(
      Parameters parameters,
      ProcessCluster.Places places,
      SmallMemory memory,
      NetworkNamespaces networks)
      throws Exception {
    List<String> wrong;
    List<String> output;
    Path kept = Files.createTempDirectory("crail-model");
    try (ProcessCluster cluster =
        ProcessCluster.start(
            places, parameters.namenodes, 1 + parameters.standbys, 0, settings(parameters, kept))) {
      for (int i = 0; i < parameters.datanodes; i++) {
        cluster.startDatanode(parameters.mebibytes / parameters.datanodes + "m", -1);
      }
      ModelRun run = new ModelRun(parameters, places, cluster, memory, networks, kept);
      try {
        wrong = run.run();
        output = run.output();
      } finally {
        run.close();
      }
    }
    if (wrong.isEmpty()) {
      ProcessCluster.delete(kept);
    } else {
      Files.write(kept.resolve("wrong"), wrong);
      Files.write(kept.resolve("clients.log"), output);
      System.out.println("repeat with: " + parameters.command());
      System.out.println("what was done to whom, and what was wrong: " + kept);
    }
    return wrong;
  }

  private List<String> run() throws Exception {
    try (CrailStore store = open()) {
      capacityBytes = store.getSpace().capacityBytes();
    }
    for (int i = 0; i < clients.length; i++) {
      startClient(i);
    }
    for (CrailProcess client : clients) {
      client.await("^working$", PATIENCE);
    }
    Thread ticker = new Thread(this::tick, "quiet times");
    ticker.start();
    try {
      long end = millis() + TimeUnit.SECONDS.toMillis(parameters.seconds);
      new Nemesis(this, this::note).run(plan(), () -> goesOn() && millis() < end);
      while (goesOn() && millis() < TimeUnit.SECONDS.toMillis(parameters.seconds)) {
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
      }
      if (mismatches().isEmpty()) {
        awaitAllOnline();
      }
      if (parameters.durable() && mismatches().isEmpty() && goesOn()) {
        // So the clients find at their end what the logs hold.
        restartNamenodes();
      }
      board.increment(Counter.FINISH, 0);
      if (mismatches().isEmpty()) {
        awaitClients();
      }
    } finally {
      ended = true;
      ticker.join();
    }
    return verdict();
  }

  private List<Step> plan() {
    List<Plan.Choice> choices = new ArrayList<>();
    choices.add(new Plan.Choice(Fault.KILL, Role.CLIENT, 8));
    choices.add(new Plan.Choice(Fault.STOP, Role.CLIENT, 12));
    choices.add(new Plan.Choice(Fault.KILL, Role.DATANODE, parameters.keep ? 24 : 1));
    if (parameters.keep) {
      choices.add(new Plan.Choice(Fault.KILL_ALL, Role.DATANODE, 8));
    }
    choices.add(new Plan.Choice(Fault.STOP, Role.DATANODE, 4));
    choices.add(new Plan.Choice(Fault.KILL, Role.NAMENODE, parameters.durable() ? 24 : 1));
    if (parameters.durable()) {
      choices.add(new Plan.Choice(Fault.KILL_ALL, Role.NAMENODE, 12));
    }
    choices.add(new Plan.Choice(Fault.STOP, Role.NAMENODE, 4));
    choices.add(new Plan.Choice(Fault.DRAIN, Role.DATANODE, 2));
    choices.add(new Plan.Choice(Fault.REBALANCE, Role.DATANODE, 1));
    if (memory != null) {
      choices.add(new Plan.Choice(Fault.FILL, Role.DATANODE, 4));
    }
    if (networks == null) {
      choices.add(new Plan.Choice(Fault.BREAK, Role.NAMENODE, 5));
      choices.add(new Plan.Choice(Fault.HOLD, Role.NAMENODE, 12));
      choices.add(new Plan.Choice(Fault.CUT, Role.NAMENODE, 4));
    } else {
      choices.add(new Plan.Choice(Fault.CUT, Role.CLIENT, 4));
      choices.add(new Plan.Choice(Fault.CUT, Role.DATANODE, 4));
      choices.add(new Plan.Choice(Fault.CUT, Role.NAMENODE, 4));
    }
    Map<Role, Integer> counts =
        Map.of(
            Role.CLIENT, parameters.clients,
            Role.DATANODE, parameters.datanodes,
            Role.NAMENODE, parameters.processes());
    return Plan.draw(
        new Random(parameters.seed),
        TimeUnit.SECONDS.toMillis(parameters.seconds),
        choices,
        counts,
        parameters.longestFaultMillis);
  }

  private long millis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
  }

  private void note(String what) {
    try {
      Files.writeString(
          log,
          String.format("%8.3f s %s%n", millis() / 1e3, what),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private boolean goesOn() {
    return !found && tickFailure == null && logs.damages().isEmpty();
  }

  // ---- clients ----

  private void startClient(int index) throws IOException {
    for (int thread = 0; thread < parameters.threads; thread++) {
      board.busy(index * parameters.threads + thread, false);
    }
    clients[index] =
        CrailProcess.program(
            places.through().apply(Role.CLIENT, index),
            ModelClientProgram.class,
            configuration().toString(),
            String.valueOf(parameters.mapped),
            directory.resolve("board").toString(),
            String.valueOf(parameters.clients),
            String.valueOf(parameters.threads),
            String.valueOf(index),
            String.valueOf(incarnations[index]++),
            String.valueOf(parameters.namenodes),
            String.valueOf(parameters.fill),
            String.valueOf(parameters.seed));
  }

  private List<String> mismatches() {
    List<String> found = new ArrayList<>();
    List<CrailProcess> all = new ArrayList<>(dead);
    all.addAll(List.of(clients));
    for (CrailProcess client : all) {
      client.stdout().lines().filter(line -> line.startsWith("MISMATCH")).forEach(found::add);
    }
    return found;
  }

  /** What all clients have printed, dead ones too. */
  private List<String> output() {
    List<String> lines = new ArrayList<>();
    List<CrailProcess> all = new ArrayList<>(dead);
    all.addAll(List.of(clients));
    for (CrailProcess client : all) {
      client.stdout().lines().forEach(lines::add);
      client.stderr().lines().forEach(lines::add);
    }
    return lines;
  }

  private void awaitClients() throws Exception {
    long deadline = System.nanoTime() + LONGEST_FINISH.toNanos();
    for (CrailProcess client : clients) {
      while (client.isAlive() && goesOn() && System.nanoTime() - deadline < 0) {
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
      }
    }
  }

  private List<String> verdict() throws Exception {
    List<String> wrong = mismatches();
    System.out.printf(
        "ended after %d s and %d faults, %d of them in the middle of a write; %s%n",
        millis() / 1000, faults.get(), hits, totals());
    for (int i = 0; i < clients.length && wrong.isEmpty(); i++) {
      int finished = (int) clients[i].stdout().lines().filter("finished"::equals).count();
      if (clients[i].isAlive() || finished != parameters.threads) {
        wrong.add("client " + i + " has not come to its end\n" + clients[i].stdout());
        wrong.add(clients[i].stderr());
      }
    }
    if (tickFailure != null) {
      wrong.add("the controller failed: " + tickFailure);
    }
    if (parameters.durable() && wrong.isEmpty() && goesOn()) {
      // Until all that was removed is surely removed.
      TimeUnit.MILLISECONDS.sleep(board.window());
      restartNamenodes();
    }
    wrong.addAll(logs.end(PATIENCE));
    if (wrong.isEmpty()) {
      awaitAllFree(wrong);
    }
    wrong.forEach(System.out::println);
    return wrong;
  }

  /** What all clients that have come to their end have done. */
  private Map<String, Integer> totals() {
    Map<String, Integer> totals = new TreeMap<>();
    for (CrailProcess client : clients) {
      Matcher counts = COUNT.matcher(client.stdout());
      while (counts.find()) {
        totals.merge(counts.group(1), Integer.parseInt(counts.group(2)), Integer::sum);
      }
    }
    return totals;
  }

  private void awaitAllFree(List<String> wrong) throws Exception {
    try (CrailStore store = open()) {
      Await.until(
          "all space is free, " + capacityBytes + " bytes",
          PATIENCE,
          () -> {
            CrailSpace space = store.getSpace();
            return space.freeBytes() == space.capacityBytes()
                && space.capacityBytes() == capacityBytes;
          });
    } catch (AssertionError e) {
      wrong.add(e.getMessage() + "\n" + cluster.run("df", "--bytes").stdout());
    }
  }

  private CrailStore open() throws Exception {
    // Patient: it asks how things are, and is no part of them.
    return CrailStore.newInstance(
        CrailConfiguration.of(cluster.configuration("crail.rpctimeout", "60s")));
  }

  private void awaitAllOnline() throws Exception {
    String all = parameters.datanodes + " of " + parameters.datanodes + " datanodes online";
    Await.until(
        all,
        PATIENCE,
        () -> cluster.run("df", "--set", "crail.rpctimeout=60s").stdout().contains(all));
  }

  // ---- quiet times ----

  private void tick() {
    try (CrailStore store = open()) {
      long shownMillis = 0;
      while (!ended) {
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        if (millis() - shownMillis >= SHOWN_MILLIS) {
          shownMillis = millis();
          System.out.printf(
              "%d of %d s, %d faults, nothing wrong so far%n",
              shownMillis / 1000, parameters.seconds, faults.get());
        }
        found = !mismatches().isEmpty();
        if (lasting == 0 && System.nanoTime() - calmNanos > 0 && isWhole(store) && lasting == 0) {
          board.increment(Counter.QUIET, 0);
        }
      }
    } catch (Exception e) {
      tickFailure = e;
    }
  }

  /** True when every namenode answers, and every datanode has been registered since its start. */
  private boolean isWhole(CrailStore store) {
    for (int i = 0; i < parameters.datanodes; i++) {
      if (!cluster.datanode(i).stdout().contains(", registered")) {
        return false;
      }
    }
    try {
      store.getSpace();
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  // ---- faults ----

  private CrailProcess victim(Role role, int index) {
    return switch (role) {
      case CLIENT -> clients[index];
      case DATANODE -> cluster.datanode(index);
      default -> cluster.namenode(index);
    };
  }

  @Override
  public void begin(Fault fault, Role role, int index) throws Exception {
    faults.incrementAndGet();
    lasting++;
    CrailProcess victim = victim(role, index);
    switch (fault) {
      case STOP -> {
        if (stop(victim, role, index)) {
          board.stand(index, true);
        }
      }
      case CUT -> cut(role, index);
      case BREAK -> relays.get(index).mode(BreakingRelay.Mode.BREAK);
      case HOLD -> {
        board.add(Counter.HOLDS, 0, 1);
        TimeUnit.MILLISECONDS.sleep(APPENDS_MILLIS);
        relays.get(index).mode(BreakingRelay.Mode.HOLD);
      }
      case FILL -> memory.fill();
      case DRAIN, REBALANCE -> moves.begin(fault, index);
      case KILL -> {
        if (role == Role.NAMENODE && parameters.durable()) {
          killNamenodes(index, index + 1);
          return;
        } else if (role == Role.NAMENODE) {
          board.increment(Counter.NAMENODE_LOSS, index);
        } else if (role == Role.DATANODE) {
          loses();
        } else {
          stop(victim, role, index);
          dead.add(victim);
        }
        victim.kill();
        if (role == Role.DATANODE && !parameters.keep) {
          // What begins after this is not lost, also where clients map the datanode's memory.
          TimeUnit.MILLISECONDS.sleep(LOSS_MILLIS);
          board.increment(Counter.DATANODE_LOSS, 0);
        }
      }
      case KILL_ALL -> {
        if (role == Role.NAMENODE) {
          killNamenodes(0, parameters.processes());
          return;
        }
        for (int i = 0; i < parameters.datanodes; i++) {
          cluster.datanode(i).kill();
        }
      }
    }
  }

  /** A datanode is about to be killed, which takes its bytes along unless it keeps them. */
  private void loses() {
    if (!parameters.keep) {
      board.increment(Counter.DATANODE_LOSS, 0);
    }
  }

  /** Kills namenodes with logs. Each second time, clients miss what was done in a last moment. */
  private void killNamenodes(int first, int end) throws Exception {
    boolean mutes = ++kills % 2 == 1 && !relays.isEmpty();
    List<BreakingRelay> muted = mutes ? relays.subList(first, end) : List.of();
    for (BreakingRelay each : muted) {
      each.mode(BreakingRelay.Mode.MUTE);
    }
    TimeUnit.MILLISECONDS.sleep(mutes ? MUTE_MILLIS : 0);
    for (int i = first; i < end; i++) {
      long millis = System.currentTimeMillis();
      cluster.namenode(i).kill();
      if (parameters.kept == Kept.ASYNC) {
        // What is acknowledged from here on, by the next start, is not lost.
        board.killed(i, millis);
        board.increment(Counter.NAMENODE_LOSS, i);
      }
    }
    for (BreakingRelay each : muted) {
      each.mode(BreakingRelay.Mode.CUT);
      each.mode(BreakingRelay.Mode.FORWARD);
    }
  }

  private void startNamenodes() throws Exception {
    for (int i = 0; i < parameters.processes(); i++) {
      startNamenode(i);
    }
  }

  private void restartNamenodes() throws Exception {
    note("all namenodes are killed and started");
    killNamenodes(0, parameters.processes());
    startNamenodes();
    for (int i = 0; i < parameters.processes(); i++) {
      cluster.awaitNamenode(i);
    }
    awaitAllOnline();
  }

  private void startNamenode(int index) throws Exception {
    if (parameters.durable()) {
      logs.examine(index);
    }
    cluster.startNamenodeAgain(index);
  }

  /**
   * Stops a process; a client in the middle of a large write, if such a moment is found.
   *
   * @return whether it is in the middle of one
   */
  private boolean stop(CrailProcess victim, Role role, int index) throws Exception {
    Random random = new Random(parameters.seed ^ faults.get());
    long begin = millis();
    if (role != Role.CLIENT) {
      victim.signal("STOP");
      return false;
    }
    board.want(index, true);
    boolean hit = false;
    while (!hit && millis() - begin < LOOK_MILLIS) {
      victim.signal("CONT");
      TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_RUN_MILLIS));
      victim.signal("STOP");
      hit = isInWrite(victim, index);
    }
    board.want(index, false);
    hits += hit ? 1 : 0;
    return hit;
  }

  private boolean isInWrite(CrailProcess client, int index) throws IOException {
    for (int thread : client.computing(WORKER)) {
      if (board.isBusy(index * parameters.threads + thread)) {
        note("client " + index + " is stopped while thread " + thread + " writes");
        return true;
      }
    }
    return false;
  }

  private void cut(Role role, int index) throws Exception {
    if (networks == null) {
      relays.get(index).mode(BreakingRelay.Mode.CUT);
    } else {
      networks.cut(parameters.member(role, index));
    }
  }

  private void heal(Role role, int index) throws Exception {
    if (networks == null) {
      relays.get(index).mode(BreakingRelay.Mode.FORWARD);
    } else {
      networks.heal(parameters.member(role, index));
    }
  }

  @Override
  public void end(Fault fault, Role role, int index) throws Exception {
    switch (fault) {
      case STOP -> {
        victim(role, index).signal("CONT");
        if (role == Role.CLIENT) {
          board.stand(index, false);
        }
      }
      case CUT -> heal(role, index);
      case BREAK -> relays.get(index).mode(BreakingRelay.Mode.FORWARD);
      case HOLD -> {
        relays.get(index).mode(BreakingRelay.Mode.FORWARD);
        board.add(Counter.HOLDS, 0, -1);
      }
      case FILL -> memory.empty();
      case DRAIN, REBALANCE -> {
        moves.end();
        // Until all datanodes are used again.
        lasting++;
        moving++;
      }
      case KILL -> {
        if (role == Role.NAMENODE) {
          startNamenode(index);
        } else if (role == Role.DATANODE) {
          cluster.startDatanodeAgain(index);
        } else {
          startClient(index);
        }
      }
      case KILL_ALL -> {
        if (role == Role.NAMENODE) {
          startNamenodes();
        } else {
          for (int i = 0; i < parameters.datanodes; i++) {
            cluster.startDatanodeAgain(i);
          }
        }
      }
    }
    lasting--;
  }

  @Override
  public void healed(long longestMillis) throws Exception {
    moves.healed();
    // What was cut off is sent again after as long as it has lasted.
    calmNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CALM_MILLIS + longestMillis);
    lasting -= moving;
    moving = 0;
  }

  private void close() throws Exception {
    ended = true;
    logs.close();
    moves.end();
    for (CrailProcess client : clients) {
      if (client != null && client.isAlive()) {
        client.kill();
      }
    }
    for (BreakingRelay each : relays) {
      each.close();
    }
  }
}
