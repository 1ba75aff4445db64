/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.namenode.rule.SpreadRule;
import io.crail.namenode.rule.SpreadRule.Round;
import io.crail.namenode.rule.SpreadStandings;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.secret.SecretCredentials;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.CommitGate;
import io.crail.rpc.Transport;
import io.crail.rpc.login.Principal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The calls of a namenode to the others. It says how the shares of its spread directories stand,
 * and compares once a second while it owns such directories. It also does so after its start, so
 * that others drop the shares of an earlier one, and after a call without an answer, which may
 * still be served. Thread-safe.
 */
final class NeighbourCalls implements SpreadRule.Neighbours, AutoCloseable {
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LEND_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long MOST_ROUND_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Comparisons after the start, or after a call without an answer. */
  private static final int CHECKS = 3;

  private final int index;
  private final Clock clock;
  private final long roundNanos;
  private volatile NameNodeClient client;
  // By the index of the namenode.
  private volatile Map<Integer, Check> checks = Map.of();
  private volatile List<Lending> lendings = List.of();
  private volatile CommitGate commits = CommitGate.OPEN;
  private volatile Runnable handsOver = () -> {};
  private boolean closed;

  /** Creates it without addresses; calls fail until {@link #open}. */
  NeighbourCalls(Configuration conf, int index, Clock clock) {
    this.index = index;
    this.clock = clock;
    // A removal takes a few rounds, and has to end before its client gives up.
    this.roundNanos = Math.min(MOST_ROUND_NANOS, conf.get(ClusterKeys.RPC_TIMEOUT).toNanos() / 8);
  }

  /**
   * Lets calls wait for what they rest on, from now on.
   *
   * @param handingOver called before other threads may go on with the calling thread's request
   */
  void commitFirst(CommitGate gate, Runnable handingOver) {
    commits = gate;
    handsOver = handingOver;
  }

  /** Sends a call, once all that was changed before it is committed. */
  private void submit(OperationCall<?, ?> call) {
    CommitGate gate = commits;
    gate.whenReached(
        gate.position(),
        () -> {
          if (gate.hasFailed()) {
            call.rejected();
          } else {
            call.submit();
          }
        });
  }

  /** Names the addresses of all namenodes, its own among them. Connects when it has to. */
  synchronized void open(
      Configuration conf,
      Transport transport,
      NamenodeAddresses addresses,
      RandomGenerator random) {
    if (closed || client != null || addresses.size() < 2) {
      return;
    }
    ClientLoop loop = transport.newOwnLoop("crail-namenode-" + index + "-neighbours");
    NameNodeClient.Identity identity =
        new NameNodeClient.Identity(
            Hello.ROLE_NAMENODE,
            random.nextLong(),
            "",
            conf.get(ClusterKeys.CLUSTER_NAME),
            "",
            SecretCredentials.of(
                Secrets.of(conf, Clock.SYSTEM), Principal.Role.NAMENODE, Secrets.NAMENODE));
    Map<Integer, Check> others = new TreeMap<>();
    List<Lending> lent = new ArrayList<>();
    for (int i = 0; i < addresses.size(); i++) {
      if (i != index) {
        others.put(i, new Check(i));
        lent.add(new Lending(i));
      }
    }
    checks = others;
    lendings = lent;
    client = new NameNodeClient(loop, addresses, identity, transport.peerOptions(), roundNanos);
  }

  @Override
  public long roundNanos() {
    return roundNanos;
  }

  @Override
  public void say(SetShare.Request state, Consumer<Round> done) {
    handsOver.run();
    NameNodeClient to = client;
    if (to == null) {
      done.accept(new Round(0, ErrorCode.UNAVAILABLE.exception("the other namenodes")));
      return;
    }
    AtomicInteger left = new AtomicInteger(to.count() - 1);
    AtomicReference<Round> sum = new AtomicReference<>(new Round(0, null));
    for (int i = 0; i < to.count(); i++) {
      if (i != index) {
        OperationCall<SetShare.Request, SetShare.Response> call =
            to.newCallAt(i, NameNodeOperations.SET_SHARE, state);
        Check check = checks.get(i);
        int namenode = i;
        call.whenComplete(
            () -> {
              if (call.failure() != null || state.state() == SetShare.GONE) {
                check.again();
              }
              sum.accumulateAndGet(roundOf(to, namenode, call), Round::plus);
              if (left.decrementAndGet() == 0) {
                done.accept(sum.get());
              }
            });
        submit(call);
      }
    }
  }

  /** The answer of a namenode; one that is silent, or ends, is not reachable. */
  private static Round roundOf(
      NameNodeClient to, int namenode, OperationCall<?, SetShare.Response> call) {
    return call.failure() == null
        ? new Round(call.response().childCount(), null)
        : new Round(0, failureOf(to, namenode, call));
  }

  private static CrailException failureOf(
      NameNodeClient to, int namenode, OperationCall<?, ?> call) {
    CrailException failure = call.failure();
    boolean isDown =
        failure.code() == ErrorCode.TIMED_OUT
            || failure.code() == ErrorCode.CLOSED
            || failure.code() == ErrorCode.UNAVAILABLE;
    String name = MissingNamenode.name(namenode, Addresses.text(to.peer(namenode).address()));
    return isDown ? ErrorCode.UNAVAILABLE.exception(name) : failure;
  }

  @Override
  public void lend(SpreadRule.QuotaLoans loans, Consumer<CrailException> done) {
    handsOver.run();
    if (client == null) {
      done.accept(ErrorCode.UNAVAILABLE.exception("the other namenodes"));
      return;
    }
    List<Lending> all = lendings;
    AtomicInteger left = new AtomicInteger(all.size());
    AtomicReference<CrailException> first = new AtomicReference<>();
    Consumer<CrailException> answered =
        failure -> {
          first.compareAndSet(null, failure);
          if (left.decrementAndGet() == 0) {
            done.accept(first.get());
          }
        };
    forEach(all.iterator(), each -> each.lend(loans, answered));
  }

  /** Does something with all, whichever of them throws. */
  private static <T> void forEach(Iterator<T> all, Consumer<T> action) {
    try {
      while (all.hasNext()) {
        action.accept(all.next());
      }
    } finally {
      if (all.hasNext()) {
        forEach(all, action);
      }
    }
  }

  /** Begins the comparisons and loans that are due. */
  synchronized void tick(SpreadStandings directories, SpreadRule.QuotaLoans loans) {
    try {
      forEach(checks.values().iterator(), each -> each.tick(directories));
    } finally {
      forEach(lendings.iterator(), each -> each.tick(loans));
    }
  }

  /** The comparison with one namenode. */
  private final class Check {
    private final int namenode;
    private int left = CHECKS;
    private boolean running;
    private long nextNanos = clock.nanoTime();

    Check(int namenode) {
      this.namenode = namenode;
    }

    synchronized void tick(SpreadStandings directories) {
      if (!running && (directories.isAny() || left > 0) && clock.nanoTime() - nextNanos >= 0) {
        running = true;
        boolean isSent = false;
        try {
          send(directories, 0);
          isSent = true;
        } finally {
          if (!isSent) {
            end(false);
          }
        }
      }
    }

    private void send(SpreadStandings directories, long first) {
      CheckShares.Request page = directories.page(first);
      OperationCall<CheckShares.Request, CheckShares.Response> call =
          client.newCallAt(namenode, NameNodeOperations.CHECK_SHARES, page);
      call.whenComplete(() -> answered(directories, page, call));
      submit(call);
    }

    private void answered(
        SpreadStandings directories,
        CheckShares.Request page,
        OperationCall<?, CheckShares.Response> call) {
      boolean good = false;
      try {
        good = call.failure() == null && goOn(directories, page, call);
      } finally {
        if (!good) {
          end(call.failure() == null && page.last() == -1);
        }
      }
    }

    /** Says again what the namenode lacks. Returns whether another page follows. */
    private boolean goOn(
        SpreadStandings directories,
        CheckShares.Request page,
        OperationCall<?, CheckShares.Response> call) {
      for (long id : call.response().ids()) {
        SetShare.Request state = directories.present(id, true);
        if (state != null) {
          OperationCall<SetShare.Request, SetShare.Response> again =
              client.newCallAt(namenode, NameNodeOperations.SET_SHARE, state);
          again.whenComplete(
              () -> {
                if (again.failure() != null) {
                  again();
                }
              });
          submit(again);
        }
      }
      if (page.last() != -1) {
        send(directories, page.last() + 1);
      }
      return page.last() != -1;
    }

    synchronized void again() {
      left = CHECKS;
    }

    private synchronized void end(boolean good) {
      left = good ? Math.max(0, left - 1) : left;
      running = false;
      nextNanos = clock.nanoTime() + CHECK_NANOS;
    }
  }

  /** What is lent to one namenode. There is one request at a time, as slices need it. */
  private final class Lending {
    private final int namenode;
    private final List<Consumer<CrailException>> waiting = new ArrayList<>();

    /** Those that wait for the present request; null while there is none. */
    private List<Consumer<CrailException>> served;

    private long nextNanos = clock.nanoTime();

    Lending(int namenode) {
      this.namenode = namenode;
    }

    void tick(SpreadRule.QuotaLoans loans) {
      send(loans, false);
    }

    /** Lends what is free after this call, if need be after the answer to a present request. */
    void lend(SpreadRule.QuotaLoans loans, Consumer<CrailException> done) {
      synchronized (this) {
        waiting.add(done);
      }
      send(loans, true);
    }

    private void send(SpreadRule.QuotaLoans loans, boolean now) {
      List<Consumer<CrailException>> mine;
      synchronized (this) {
        if (served != null || !now && clock.nanoTime() - nextNanos < 0) {
          return;
        }
        mine = new ArrayList<>(waiting);
        served = mine;
        waiting.clear();
      }
      boolean isSent = false;
      CrailException failure = failed();
      try {
        LendQuota.Request request = loans.offer(namenode);
        if (request == null) {
          failure = null;
        } else {
          OperationCall<LendQuota.Request, LendQuota.Response> call =
              client.newCallAt(namenode, NameNodeOperations.LEND_QUOTA, request);
          call.whenComplete(() -> answered(loans, mine, request, call));
          submit(call);
          isSent = true;
        }
      } finally {
        if (!isSent) {
          ended(loans, mine, failure);
        }
      }
    }

    private CrailException failed() {
      return ErrorCode.INTERNAL.exception("a loan to namenode " + namenode);
    }

    private void answered(
        SpreadRule.QuotaLoans loans,
        List<Consumer<CrailException>> mine,
        LendQuota.Request request,
        OperationCall<?, LendQuota.Response> call) {
      CrailException failure = failed();
      try {
        if (call.failure() != null) {
          failure = failureOf(client, namenode, call);
        } else {
          synchronized (this) {
            // An answer to an earlier request says less than what has been lent since.
            if (served == mine) {
              loans.answered(namenode, request, call.response());
            }
          }
          failure = null;
        }
      } finally {
        ended(loans, mine, failure);
      }
    }

    /** Ends the present request, unless it has ended. */
    private void ended(
        SpreadRule.QuotaLoans loans, List<Consumer<CrailException>> mine, CrailException failure) {
      boolean again;
      synchronized (this) {
        if (served != mine) {
          return;
        }
        served = null;
        nextNanos = clock.nanoTime() + LEND_NANOS;
        again = !waiting.isEmpty();
      }
      try {
        forEach(mine.iterator(), done -> done.accept(failure));
      } finally {
        if (again) {
          send(loans, true);
        }
      }
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (client != null) {
      client.close();
      client.loop().close();
    }
  }
}
