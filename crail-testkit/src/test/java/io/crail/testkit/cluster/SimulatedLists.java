/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.Lifetime;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** The lists of steps of a client: on the keys of the {@link Ledger}, and those for lifetimes. */
final class SimulatedLists {
  private static final long RPC = ClusterSimulation.RPC_TIMEOUT.toNanos();
  private static final String COUNT = "count";
  private static final int MOST_BYTES = 4096;
  private static final int MOST_AT_ONCE = 5;

  /** Why a step may fail. */
  private static final Set<ErrorCode> FAILURES =
      EnumSet.of(
          ErrorCode.CONDITION_FAILED,
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.NODE_EXISTS,
          ErrorCode.NOT_KEPT);

  private enum Kind {
    APPEND,
    SEAL,
    RENEW,
    UNLINK,
    PEEK
  }

  /** A list on a key of the ledger. */
  private static final class Call {
    final Kind kind;
    final String path;
    final Ledger.Found known;
    final CompoundOperation.Builder steps = CompoundOperation.builder();
    Ledger.Entry entry;
    long epoch;
    // What its guards need; 0 for no guard.
    long node;
    long version;
    boolean fails;
    // The index of the step; -1 for none.
    int creates = -1;
    int counts;
    PathModel.Change change;
    Lifetime lifetime;
    Lifetimes.Setting setting;

    Call(Kind kind, String path, Ledger.Found known) {
      this.kind = kind;
      this.path = path;
      this.known = known;
    }
  }

  private final SimulatedUser user;
  private final World world;
  private final Random random;
  private final CrailStore store;
  private final Map<String, Ledger.Found> found = new HashMap<>();

  SimulatedLists(SimulatedUser user, World world, Random random, CrailStore store) {
    this.user = user;
    this.world = world;
    this.random = random;
    this.store = store;
  }

  void act() throws Exception {
    String table = any(world.ledgers());
    int which = random.nextInt(20);
    if (which < 10) {
      for (int i = random.nextInt(MOST_AT_ONCE); i >= 0; i--) {
        operate(any(world.childrenOf(table)));
      }
    } else if (which < 12) {
      user.lookupAndRead(any(world.childrenOf(table)));
    } else if (which < 13) {
      user.rename(any(world.childrenOf(table)), any(world.childrenOf(table)));
    } else if (which < 18) {
      live(user.anyPath());
    } else if (which < 19) {
      limitChildren(random.nextBoolean() ? table : any(world.tables()));
    } else if (random.nextInt(4) == 0) {
      live(any(world.containers()));
    }
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  // The ledger.

  private void operate(String path) throws Exception {
    int chance = random.nextInt(20);
    Kind kind =
        chance < 11
            ? Kind.APPEND
            : chance < 14
                ? Kind.SEAL
                : chance < 15 ? Kind.RENEW : chance < 16 ? Kind.UNLINK : Kind.PEEK;
    Call call = new Call(kind, path, found.get(path));
    if (kind == Kind.UNLINK && call.known == null) {
      return;
    }
    guards(call);
    changes(call);
    PathModel model = world.path(path);
    if (call.creates >= 0) {
      call.change = model.begin(PathModel.Kind.CREATED, null, world.now());
      call.change.lives(call.lifetime == null ? 0 : Lifetimes.nanos(call.lifetime));
    } else if (kind == Kind.UNLINK) {
      call.change = model.begin(PathModel.Kind.REMOVED, null, world.now());
    }
    if (call.lifetime != null && call.creates < 0) {
      call.setting = world.lifetimes().begin(call.node, call.lifetime, world.now());
    }
    user.begin(
        "list " + path,
        RPC,
        () -> store.operate(path, call.steps.build()),
        (begin, result, failure) -> {
          if (failure != null) {
            failed(call, begin, failure);
          } else if (result.isSuccess()) {
            done(call, begin, result);
          } else {
            refused(call, begin, result);
          }
        });
  }

  private void guards(Call call) {
    Ledger.Found known = call.known;
    if (call.kind == Kind.RENEW) {
      call.steps.delete().orGoOn();
      call.creates = 1;
      call.steps.create();
      return;
    }
    boolean changes = call.kind == Kind.APPEND || call.kind == Kind.SEAL;
    if (call.kind == Kind.UNLINK || known != null && random.nextInt(4) == 0) {
      call.node = known.node();
      call.steps.requireId(call.node);
    } else if (changes && random.nextBoolean()) {
      call.creates = 0;
      call.steps.create().orGoOn();
    }
    if (changes && known != null && random.nextInt(4) == 0) {
      call.version = known.version();
      call.steps.requireVersion(Comparison.EQUAL, call.version);
    }
  }

  private void changes(Call call) {
    CompoundOperation.Builder steps = call.steps;
    boolean changes = call.kind != Kind.UNLINK && call.kind != Kind.PEEK;
    boolean seals = call.kind == Kind.SEAL;
    if (changes) {
      long epoch = call.kind == Kind.RENEW || call.known == null ? 0 : call.known.epoch();
      // Some writers have not heard of the last seals.
      call.epoch = seals ? epoch + 1 : Math.max(0, epoch - random.nextInt(4) / 3);
      call.entry = world.ledger().begin(call.epoch, seals, world.now());
      if (seals) {
        steps.raiseEpoch(call.epoch);
      } else {
        steps.requireEpoch(Comparison.AT_MOST, call.epoch);
      }
      steps.add(COUNT, 1);
      if (world.ledger().keepsBytes()) {
        steps.append(ByteBuffer.allocate(Long.BYTES).putLong(0, call.entry.number()));
      }
      boolean isForOneNode = call.node != 0 || call.kind == Kind.RENEW;
      if (isForOneNode && random.nextInt(3) == 0) {
        call.lifetime = anyLifetime();
        steps.expire(call.lifetime);
      }
      call.fails = random.nextInt(10) == 0;
      if (call.fails) {
        steps.requireAbsent();
      }
    }
    steps.readAttribute(COUNT).read(0, MOST_BYTES).readLifetime();
    call.counts = steps.build().steps().size() - 3;
    if (call.kind == Kind.UNLINK) {
      steps.delete();
    }
  }

  private Lifetime anyLifetime() {
    Duration time = Duration.ofMillis(1000 + random.nextInt(1000));
    int which = random.nextInt(5);
    return which == 0
        ? Lifetime.UNLIMITED
        : which < 3 ? Lifetime.of(time) : Lifetime.sinceAccess(time);
  }

  private void done(Call call, long begin, CompoundResult result) throws Exception {
    world.count(call.kind.toString().toLowerCase(Locale.ROOT), "ok");
    require(!call.fails, call, result);
    PathModel model = world.path(call.path);
    long count = Long.parseLong(new String(result.bytes(call.counts), StandardCharsets.US_ASCII));
    byte[] bytes = result.bytes(call.counts + 1);
    boolean isGone = call.kind == Kind.UNLINK;
    long node = isGone ? call.node : result.id();
    if (call.creates >= 0 && result.code(call.creates) == ErrorCode.OK) {
      require(result.version() == 1, call, result);
      world.born(node, call.path, call.lifetime, begin);
      model.done(call.change, node, world.now(), world.oldest());
    } else {
      require(call.node == 0 || call.node == node, call, result);
      require(call.version == 0 || call.version + 1 == result.version(), call, result);
      model.seen(node, null, call.change, begin, world.now());
      if (isGone) {
        model.done(call.change, 0, world.now(), world.oldest());
      } else if (call.change != null) {
        model.not(call.change);
      }
      world.lifetimes().accessed(node, begin);
    }
    if (call.setting != null) {
      world.lifetimes().done(call.setting, world.now());
    }
    world.lifetimes().check(node, result.number(call.counts + 2), begin, world.now());
    if (isGone) {
      found.remove(call.path);
      return;
    }
    Ledger.Found left = new Ledger.Found(node, result.version(), result.epoch(), count, bytes);
    found.put(call.path, left);
    if (call.entry == null) {
      world.ledger().found(left, begin, world.now());
    } else {
      world.ledger().done(call.entry, left, begin, world.now());
    }
  }

  private void refused(Call call, long begin, CompoundResult result) throws Exception {
    ErrorCode code = result.code(result.failedStep());
    world.count(call.kind.toString().toLowerCase(Locale.ROOT), code.name());
    require(FAILURES.contains(code), call, result);
    boolean isExplained =
        code != ErrorCode.CONDITION_FAILED
            || call.fails
            || call.node != 0 && call.node != result.id()
            || call.version != 0 && call.version != result.version()
            || call.entry != null && result.epoch() > call.epoch
            || call.kind == Kind.SEAL && result.epoch() >= call.epoch;
    require(isExplained, call, result);
    not(call);
    found.remove(call.path);
    PathModel model = world.path(call.path);
    if (result.exists()) {
      model.seen(result.id(), null, null, begin, world.now());
      world.lifetimes().accessed(result.id(), begin);
      if (result.version() > 0) {
        // Its content is unknown. The next list must not know more than there is.
        found.put(
            call.path,
            new Ledger.Found(result.id(), result.version(), result.epoch(), 0, new byte[0]));
      }
    } else {
      model.seenNothing(null, begin, world.now());
    }
  }

  private void failed(Call call, long begin, ErrorCode failure) throws Exception {
    if (SimulatedUser.REFUSALS.contains(failure)) {
      not(call);
      user.refused(call.path, begin, failure);
      return;
    }
    if (call.change != null) {
      world.path(call.path).unknown(call.change);
    }
    if (call.entry != null) {
      world.ledger().unknown(call.entry);
    }
    if (call.setting != null) {
      world.lifetimes().unknown(call.setting);
    }
  }

  private void not(Call call) {
    if (call.change != null) {
      world.path(call.path).not(call.change);
    }
    if (call.entry != null) {
      world.ledger().refused(call.entry);
    }
    if (call.setting != null) {
      world.lifetimes().not(call.node, call.setting);
    }
  }

  private static void require(boolean holds, Call call, CompoundResult result) {
    if (!holds) {
      throw new AssertionError(
          String.format(
              "%s %s with %s, node %x, version %d gave node %x, version %d, epoch %d: %s",
              call.kind,
              call.path,
              call.entry,
              call.node,
              call.version,
              result.id(),
              result.version(),
              result.epoch(),
              result.failure()));
    }
  }

  // Lifetimes.

  /** Reads the lifetime of a node, and sets it perhaps. */
  private void live(String path) throws Exception {
    look(
        path,
        node -> {
          if (random.nextInt(3) > 0) {
            expire(path, node);
          }
        });
  }

  private interface Then {
    void go(long node) throws Exception;
  }

  private void look(String path, Then then) throws Exception {
    CompoundOperation list = CompoundOperation.builder().requireExists().readLifetime().build();
    user.begin(
        "look " + path,
        RPC,
        () -> store.operate(path, list),
        (begin, result, failure) -> {
          if (failure == ErrorCode.PARENT_NOT_FOUND) {
            world.path(World.parentOf(path)).seenNothing(null, begin, world.now());
          } else if (failure == null && !result.isSuccess()) {
            // There may be one whose value has not come.
            world.path(path).seenNoValue(begin, world.now());
          } else if (failure == null) {
            long node = result.id();
            world.path(path).seen(node, null, null, begin, world.now());
            world.lifetimes().accessed(node, begin);
            world.lifetimes().check(node, result.number(1), begin, world.now());
            then.go(node);
          }
        });
  }

  private void expire(String path, long node) throws Exception {
    boolean isContainer = world.containers().contains(path);
    Lifetime lifetime = anyLifetime();
    if (isContainer && lifetime.sinceAccess()) {
      lifetime = Lifetime.of(Duration.ofMillis(lifetime.millis()));
    }
    expire(path, node, lifetime, isContainer ? world.childrenOf(path) : List.of());
  }

  private void expire(String path, long node, Lifetime lifetime, List<String> children)
      throws Exception {
    Lifetimes lifetimes = world.lifetimes();
    Lifetimes.Setting setting = lifetimes.begin(node, lifetime, world.now());
    Map<PathModel, PathModel.Change> ends = new LinkedHashMap<>();
    for (String child : lifetime.isLimited() ? children : List.<String>of()) {
      PathModel model = world.path(child);
      ends.put(model, model.beginEnd(Lifetimes.nanos(lifetime), world.now()));
    }
    CompoundOperation list =
        CompoundOperation.builder().requireId(node).expire(lifetime).readLifetime().build();
    user.begin(
        "expire " + path,
        RPC,
        () -> store.operate(path, list),
        (begin, result, failure) -> {
          if (failure == null && result.isSuccess()) {
            world.path(path).seen(node, null, null, begin, world.now());
            lifetimes.accessed(node, begin);
            lifetimes.done(setting, world.now());
            lifetimes.check(node, result.number(2), begin, world.now());
            ends.forEach((model, end) -> model.mayEnd(end, world.now()));
          } else if (failure == null || SimulatedUser.REFUSALS.contains(failure)) {
            lifetimes.not(node, setting);
            ends.forEach(PathModel::not);
          } else {
            lifetimes.unknown(setting);
            ends.forEach(PathModel::unknown);
          }
        });
  }

  /** Lets a table give its nodes a lifetime. */
  private void limitChildren(String table) throws Exception {
    world.limitChildren(table);
    CompoundOperation list =
        CompoundOperation.builder().expireChildren(world.childLifetime(table)).build();
    user.begin(
        "limit " + table,
        RPC,
        () -> store.operate(table, list),
        (begin, result, failure) -> {
          if (failure == null && result.isSuccess()) {
            world.path(table).seen(result.id(), null, null, begin, world.now());
            world.limitedChildren(result.id());
          }
        });
  }

  /** Lets everything end soon. */
  void expireAll() throws Exception {
    for (String container : world.containers()) {
      Lifetime lifetime =
          random.nextBoolean()
              ? Lifetime.of(Duration.ofSeconds(1))
              : Lifetime.sinceAccess(Duration.ofSeconds(1));
      store.operate(container, CompoundOperation.builder().expire(lifetime).build()).get();
    }
  }
}
