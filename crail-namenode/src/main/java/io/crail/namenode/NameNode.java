/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.Activity;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.ChangeSink;
import io.crail.namenode.change.DatanodeApplier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.Replay;
import io.crail.namenode.change.ReserveChange;
import io.crail.namenode.change.SpaceChange;
import io.crail.namenode.change.State;
import io.crail.namenode.change.StateRecords;
import io.crail.namenode.classes.NodeClasses;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.query.DatanodeReports;
import io.crail.namenode.rule.CompoundRule;
import io.crail.namenode.rule.CreateRule;
import io.crail.namenode.rule.DatanodeRule;
import io.crail.namenode.rule.Dismantler;
import io.crail.namenode.rule.ExpiryRule;
import io.crail.namenode.rule.ExtendRule;
import io.crail.namenode.rule.LeaseRule;
import io.crail.namenode.rule.MoveRule;
import io.crail.namenode.rule.RemoveRule;
import io.crail.namenode.rule.RenameRule;
import io.crail.namenode.rule.ReplaceExtentRule;
import io.crail.namenode.rule.ReserveRule;
import io.crail.namenode.rule.SetAttributesRule;
import io.crail.namenode.rule.SetSizeRule;
import io.crail.namenode.rule.ShareRule;
import io.crail.namenode.rule.SpreadLimits;
import io.crail.namenode.rule.SpreadRule;
import io.crail.namenode.rule.SpreadStandings;
import io.crail.namenode.rule.Supply;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.Datanodes;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.RestingMoves;
import io.crail.namenode.space.SmallValues;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.LogUsage;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Caller;
import io.crail.rpc.reply.ReplyCache;
import io.crail.rpc.reply.ReplyLog;
import io.crail.rpc.reply.ReplyMemory;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * One namenode without network and threads: tree, space and leases together. Time and randomness
 * are passed in. The owner calls {@link #tick} now and then. Thread-safe.
 */
public final class NameNode {
  private static final int DISMANTLED_PER_TICK = 50_000;
  private static final int DISMANTLED_FOR_SPACE = 256;

  /** Versions of a start are above those of earlier ones, at up to a million a second. */
  private static final int VERSION_SHIFT = 10;

  /** A namenode that reaches no other one. */
  static final SpreadRule.Neighbours ALONE =
      new SpreadRule.Neighbours() {
        @Override
        public long roundNanos() {
          return 0;
        }

        @Override
        public void say(SetShare.Request state, Consumer<SpreadRule.Round> done) {
          done.accept(new SpreadRule.Round(0, ErrorCode.UNAVAILABLE.exception("other namenodes")));
        }

        @Override
        public void lend(SpreadRule.QuotaLoans loans, Consumer<CrailException> done) {
          done.accept(ErrorCode.UNAVAILABLE.exception("other namenodes"));
        }
      };

  private final NameNodeOptions options;
  private final Clock clock;
  private final long startedMillis;
  private final Lineage lineage;
  private final State state;
  private final DatanodeReports datanodes;
  private final Dismantler dismantler;
  private final Supply supply;
  private final Locks locks;
  private final Applier applier;
  private final Rules rules;
  private final SpreadStandings standings;
  private final Activity activity;
  private final ReplyCache replies;

  /** How it has started last. */
  private volatile Lineage.Start start;

  NameNode(NameNodeOptions options, Clock clock, RandomGenerator random) {
    this(options, clock, random, null, ALONE);
  }

  /**
   * Creates a namenode without nodes.
   *
   * @param sink receives the changes of the metadata; null for none
   * @param neighbours the other namenodes
   */
  NameNode(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      ChangeSink sink,
      SpreadRule.Neighbours neighbours) {
    this(options, clock, random, sink, neighbours, Lineage.begin(options, clock, random));
  }

  /**
   * Creates a namenode without nodes, which is to have those of an earlier start.
   *
   * @param lineage what the earlier start was
   */
  NameNode(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      ChangeSink sink,
      SpreadRule.Neighbours neighbours,
      Lineage lineage) {
    this(options, clock, random, sink, neighbours, lineage, ReplyLog.NONE);
  }

  /** As the other one, where answers are noted too. */
  NameNode(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      ChangeSink sink,
      SpreadRule.Neighbours neighbours,
      Lineage lineage,
      ReplyLog answers) {
    this.options = options;
    this.clock = clock;
    this.startedMillis = clock.currentTimeMillis();
    this.lineage = lineage;
    this.start = new Lineage.Start(lineage.incarnation(), false, false);
    HeapBudget budget = new HeapBudget(options.memory(), NameNodeKeys.MEMORY.name());
    HostNames hosts = new HostNames(budget, SpaceChange.Host.reports(sink));
    Allocator space = new Allocator(options, clock, random, new Quarantine(budget));
    Datanodes known = new Datanodes(options, random);
    UserNames users = new UserNames(options.user(), budget, SpaceChange.User.reports(sink));
    this.state =
        new State(
            new Tree(options, lineage.rootId(), lineage.rootMillis(), random, budget),
            new LeaseTable<>(
                clock,
                options.leaseNanos(),
                options.maxLeases(),
                budget,
                Quarantine.WRITER_FOOTPRINT),
            known,
            space,
            new RestingMoves(options, clock, space),
            new SmallValues(options.smallValue(), options.smallValues(), budget),
            hosts,
            users,
            budget);
    this.locks = new Locks(state.tree().renames());
    this.applier = new Applier(state, locks, sink);
    this.dismantler = new Dismantler(locks, applier);
    this.supply = new Supply(state);
    this.datanodes = new DatanodeReports(options, known, clock);
    this.standings =
        new SpreadStandings(
            options,
            state,
            lineage.incarnation(),
            () -> clock.currentTimeMillis() << VERSION_SHIFT);
    RemoveRule removals = new RemoveRule(state.tree(), locks, applier, dismantler, clock);
    SpreadRule spread =
        new SpreadRule(options, state, locks, applier, removals, neighbours, standings);
    this.rules =
        new Rules(
            spread,
            new SpreadLimits(options, state, locks, applier, neighbours, standings, spread),
            new ShareRule(options, state, locks, applier, dismantler, clock),
            new RenameRule(state, locks, applier, clock),
            new SetAttributesRule(state, locks, applier, clock),
            new LeaseRule(state, locks, applier, clock),
            new ExtendRule(state, supply, locks, applier, clock),
            new ReplaceExtentRule(state, supply, locks, applier),
            new SetSizeRule(options, state, locks, applier, clock),
            new MoveRule(state, locks, applier),
            new ExpiryRule(state, locks, applier, spread, clock),
            new CompoundRule(state, locks, applier, datanodes, clock, NodeClasses.load(clock)),
            new DatanodeRule(
                options, state, locks, new DatanodeApplier(state, sink), datanodes, clock),
            new ReserveRule(options, state, standings, applier));
    this.activity = new Activity(clock.nanoTime());
    this.replies = new ReplyCache(clock, new HeapOfReplies(budget), answers);
  }

  /** The memory of answers is a part of what the namenode may use. */
  private record HeapOfReplies(HeapBudget budget) implements ReplyMemory {
    @Override
    public boolean take(long bytes) {
      return budget.take(bytes, 0);
    }

    @Override
    public boolean takeReserved(long bytes) {
      return budget.take(bytes, bytes);
    }

    @Override
    public void add(long bytes) {
      budget.add(bytes);
    }

    @Override
    public void give(long bytes) {
      budget.give(bytes);
    }
  }

  /** A rule for each kind of change, except {@link #createRule}. */
  record Rules(
      SpreadRule spread,
      SpreadLimits limits,
      ShareRule shares,
      RenameRule rename,
      SetAttributesRule attributes,
      LeaseRule leases,
      ExtendRule extend,
      ReplaceExtentRule replace,
      SetSizeRule size,
      MoveRule move,
      ExpiryRule expiry,
      CompoundRule compound,
      DatanodeRule datanodes,
      ReserveRule numbers) {}

  /** What remains the same from one start to the next. */
  Lineage lineage() {
    return lineage;
  }

  /** How it has started last. */
  Lineage.Start start() {
    return start;
  }

  /** Notes how it starts. */
  void started(Lineage.Start newStart) {
    start = newStart;
  }

  /**
   * Begins to make the changes of an earlier start, before anything else is done. Nothing may serve
   * or {@link #tick} before {@link Replay#end}, which is all that has to be called afterwards.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when the options are those of
   *     another namenode
   */
  Replay replay() throws CrailException {
    lineage.require(options);
    return new Replay(options, state, locks, clock, this::replayed);
  }

  private void replayed(long lastVersion) {
    standings.replayed(lastVersion);
    rules.expiry().replayed();
    rules.datanodes().replayed();
  }

  /** Hands the records out that make all that is here, while nothing else uses it. */
  void writeState(ChangeSink out) {
    StateRecords.write(state, out);
    ReserveChange given = rules.numbers().given();
    if (given != null) {
      out.changed(given);
    }
  }

  /** Reserves numbers, before the first of them is given. */
  void reserve() {
    rules.numbers().tick();
  }

  /** The rule for creates and puts of one connection. */
  CreateRule createRule(SessionUser user) {
    return new CreateRule(options, state, supply, locks, applier, clock, user);
  }

  /** Takes the locks of nodes, also for who only reads. */
  Locks locks() {
    return locks;
  }

  /** How its spread directories stand. */
  SpreadStandings standings() {
    return standings;
  }

  Rules rules() {
    return rules;
  }

  NameNodeOptions options() {
    return options;
  }

  Clock clock() {
    return clock;
  }

  /** The account of the heap that all of this takes. */
  public HeapBudget budget() {
    return state.budget();
  }

  /** How the datanodes stand. */
  public DatanodeReports datanodes() {
    return datanodes;
  }

  /** The former extents of nodes whose bytes were moved. */
  public RestingMoves moves() {
    return state.moves();
  }

  public Allocator allocator() {
    return state.space();
  }

  public Tree tree() {
    return state.tree();
  }

  Activity activity() {
    return activity;
  }

  /** The answers that clients may ask for again. */
  ReplyCache replies() {
    return replies;
  }

  public UserNames users() {
    return state.users();
  }

  public LeaseTable<Node> leases() {
    return state.leases();
  }

  public SmallValues smallValues() {
    return state.values();
  }

  /** Refuses a client of another protocol. */
  static void check(Hello.Request request) throws CrailException {
    if (request.magic() != Hello.MAGIC) {
      throw ErrorCode.PROTOCOL.exception("this is a namenode of Crail; bad magic number");
    }
    if (request.minVersion() > Frame.VERSION || request.maxVersion() < Frame.VERSION) {
      throw ErrorCode.UNSUPPORTED.exception(
          "protocol version "
              + Frame.VERSION
              + "; the client speaks "
              + request.minVersion()
              + " to "
              + request.maxVersion());
    }
    if (request.role() < Hello.ROLE_CLIENT || request.role() > Hello.ROLE_NAMENODE) {
      throw ErrorCode.INVALID_ARGUMENT.exception("role " + request.role());
    }
  }

  /** Describes the cluster to a new connection. */
  Hello.Response describe() {
    return new Hello.Response(
        Frame.VERSION,
        options.index(),
        options.count(),
        options.blockSize(),
        Extent.MIN_LENGTH,
        state.values().maxLength(),
        options.smallFiles(),
        (int) (options.leaseNanos() / 1_000_000),
        start.incarnation(),
        state.tree().rootId(),
        Utf8.of(options.cluster()));
  }

  /**
   * The answer about usage.
   *
   * @param requests requests answered so far
   * @param requestNanos the time of work on them
   * @param waitedNanos how long connections have waited for their turn
   * @param logs its log; empty if there is none
   * @param caller who asks
   */
  Usage.Response usage(
      long requests, long requestNanos, long waitedNanos, List<LogUsage> logs, Caller caller) {
    List<DatanodeSpace> known = datanodes.present();
    int online = (int) known.stream().filter(datanodes::isOnline).count();
    return new Usage.Response(
        state.tree().size() - state.tree().spread().shares().size(),
        known.size(),
        online,
        state.leases().size(),
        startedMillis,
        requests,
        requestNanos,
        waitedNanos,
        state.values().used(),
        state.values().capacity(),
        state.budget().used(),
        state.budget().capacity(),
        activity.locatedBytes(),
        activity.committedBytes(),
        rules.datanodes().isSuccessor(),
        logs,
        datanodes.usage());
  }

  /** Does the periodic work: ends leases, frees space, takes removed subtrees apart. */
  public void tick() {
    tick(true);
  }

  /**
   * Does the periodic work.
   *
   * @param mayChange whether leases and lifetimes may end, which takes room in a log
   */
  void tick(boolean mayChange) {
    if (mayChange) {
      state.leases().tick(rules.leases()::expire);
      rules.expiry().tick();
    }
    dismantler.run(DISMANTLED_PER_TICK);
    state.moves().tick();
    state.space().reclaim();
    rules.datanodes().tick();
    rules.numbers().tick();
    activity.tick(clock.nanoTime());
    if (mayChange) {
      replies.tick();
    }
  }

  /**
   * Frees some of the space and memory that can be freed at once, in well below a millisecond.
   * Returns false when there was nothing to do. The caller must hold no monitor, since this takes
   * the monitors of many nodes.
   */
  boolean makeSpace() {
    return state.space().reclaim() + dismantler.run(DISMANTLED_FOR_SPACE) > 0;
  }

  /**
   * Counts all nodes and all space again, compares, and looks for space that has two owners; for
   * tests, while nothing changes.
   */
  public void verify() {
    NameNodeAudit.verify(state, options, replies);
  }
}
