/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.daemon;

import io.crail.common.Addresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Fencer;
import io.crail.storage.LastingBytes;
import io.crail.storage.StorageServer;
import io.crail.storage.daemon.RegistrationStatus.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a datanode known to all namenodes and keeps it known: registers, lends the regions round
 * robin, sends signs of life, and begins again whenever a namenode no longer knows the datanode. A
 * namenode that refuses the datanode for good ends the registration, unless all namenodes have
 * known it once: then other namenodes have data on it. Each namenode has at most one request
 * outstanding, and a slow namenode does not delay the other namenodes.
 *
 * <p>A region that was lent before is fenced before it is lent again. Its namenode has restarted,
 * or another namenode has taken that address. Clients that got space from the earlier one may still
 * write there. A request that is repeated because its answer was lost brings no second fence, since
 * the namenode may have given out the region's space by then.
 *
 * <p>A datanode that keeps its bytes begins with what the process before it has lent. A namenode
 * that still knows that process takes this one in its place, and no region is fenced.
 *
 * <p>A namenode may not learn that a writer has stopped writing. Before the namenode gives the
 * writer's space to another client, it names the writer in its answers. A later sign of life
 * reports to the namenode that the writer is cut off.
 *
 * <p>A datanode reports when it no longer reaches all of its regions, and when it does again, so
 * that new data go elsewhere meanwhile. It does so in the next {@link #step}; a {@link Datanode}
 * looks each half a second.
 *
 * <p>A datanode that is being removed reports this when it registers with a namenode that has
 * restarted, so that the namenode gives it no new data.
 *
 * <p>Owns no thread and reads no clock: {@link #step} does what is due. Used by one thread.
 */
public final class Registration {
  /** The first pause after a failure; it doubles up to {@link #LAST_BACK_OFF_NANOS}. */
  static final long FIRST_BACK_OFF_NANOS = 50_000_000;

  /** The longest pause after a failure. */
  static final long LAST_BACK_OFF_NANOS = 2_000_000_000;

  /** The pause between two checks whether clients are cut off. */
  static final long CUT_OFF_NANOS = 20_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(Registration.class);

  private final NameNodeClient namenodes;
  private final DatanodeDescription description;
  private final Fencer fencer;
  private final long keepAliveNanos;
  private final BooleanSupplier impaired;

  private final LastingBytes kept;
  private final Supplier<Optional<StorageServer.Statistics>> statistics;
  private final Runnable onAnswer;
  private final List<Link> links = new ArrayList<>();
  private boolean wasRegistered;
  private CrailException refusal;

  /**
   * Creates the registration; nothing is sent before the first {@link #step}.
   *
   * @param description the datanode, with regions from 0 on
   * @param fencer ends the access of clients that had a region before
   * @param keepAliveNanos pause between two signs of life
   * @param impaired whether the datanode does not reach all of its regions now
   * @param kept the bytes that the datanode keeps; null when it keeps none
   * @param statistics what clients have read and written so far; empty if the datanode does not see
   *     it
   * @param onAnswer runs in the loop when an answer makes another step due; must not block
   */
  public Registration(
      NameNodeClient namenodes,
      DatanodeDescription description,
      Fencer fencer,
      long keepAliveNanos,
      BooleanSupplier impaired,
      LastingBytes kept,
      Supplier<Optional<StorageServer.Statistics>> statistics,
      Runnable onAnswer) {
    this.namenodes = namenodes;
    this.description = description;
    this.fencer = fencer;
    this.keepAliveNanos = keepAliveNanos;
    this.impaired = impaired;
    this.statistics = statistics;
    this.onAnswer = onAnswer;
    this.kept = kept;
    for (int i = 0; i < namenodes.count(); i++) {
      links.add(new Link(i));
    }
  }

  /**
   * Takes answers and sends what is due.
   *
   * @param nowNanos the time, by the clock of the namenodes' loop
   * @return when the next step is due, at the latest; an answer may come earlier
   */
  public long step(long nowNanos) {
    long next = nowNanos + keepAliveNanos;
    for (Link link : links) {
      link.step(nowNanos);
      if (link.pending == null && link.dueNanos - next < 0) {
        next = link.dueNanos;
      }
      if (link.cuttingOff != null && nowNanos + CUT_OFF_NANOS - next < 0) {
        next = nowNanos + CUT_OFF_NANOS;
      }
    }
    return next;
  }

  /** True when every namenode knows the datanode and all regions lent to it. */
  public boolean isRegistered() {
    return links.stream().allMatch(l -> l.state == State.REGISTERED || l.state == State.REMOVED);
  }

  /** Why a namenode refuses the datanode, for good; null while none does. */
  public CrailException refusal() {
    return refusal;
  }

  /** How the datanode stands with each namenode. Any thread may call it. */
  public List<RegistrationStatus> registrations(long now) {
    return links.stream()
        .map(l -> new RegistrationStatus(l.address(), l.state, l.begun ? now - l.answeredNanos : 0))
        .toList();
  }

  /** True when every namenode has asked the datanode to end. */
  public boolean isRemoved() {
    return links.stream().allMatch(l -> l.state == State.REMOVED);
  }

  /** True when a repeated request ends the same way until a configuration is changed. */
  private static boolean isForGood(ErrorCode code) {
    return code == ErrorCode.INVALID_ARGUMENT
        || code == ErrorCode.UNSUPPORTED
        || code == ErrorCode.WRONG_NAMENODE;
  }

  private static String describe(ErrorCode code) {
    return switch (code) {
      case UNKNOWN_DATANODE -> "does not know this datanode, registering again";
      case UNAVAILABLE, TIMED_OUT -> "does not answer";
      default -> "refuses this datanode, asking again";
    };
  }

  /** The registration at one namenode. */
  private final class Link {
    private final int index;
    private final Lendings lendings;
    // These three are read by other threads too.
    private volatile State state = State.UNKNOWN;
    private volatile long answeredNanos;
    private volatile boolean begun;
    private OperationCall<?, ?> pending;
    private int datanode;
    // What this namenode has sent last; it forgets at a restart.
    private boolean draining;
    private boolean toldImpaired;
    private long dueNanos;
    private long backOffNanos = FIRST_BACK_OFF_NANOS;
    private boolean due = true;
    private ErrorCode reported = ErrorCode.OK;
    // The last list of clients to cut off that the namenode sent, and the last one that is done.
    private long toldCutOff;
    private long doneCutOff;
    // The number of the last answer to a sign of life.
    private long heard;
    private BooleanSupplier cuttingOff;

    Link(int index) {
      this.index = index;
      List<Region> regions = new ArrayList<>();
      for (int i = index; i < description.regions().size(); i += namenodes.count()) {
        regions.add(description.regions().get(i));
      }
      this.lendings = new Lendings(regions, fencer, kept);
    }

    void step(long now) {
      if (!begun) {
        answeredNanos = now;
        begun = true;
      }
      if (pending != null) {
        if (!pending.isComplete()) {
          return;
        }
        OperationCall<?, ?> ended = pending;
        pending = null;
        take(ended, now);
      }
      if (cuttingOff != null && cuttingOff.getAsBoolean()) {
        cuttingOff = null;
        doneCutOff = toldCutOff;
        // Space at the namenode waits for this news.
        due |= state == State.REGISTERED;
      }
      due |= state == State.REGISTERED && toldImpaired != impaired.getAsBoolean();
      if (refusal == null && (due || now - dueNanos >= 0)) {
        due = false;
        pending = send();
        pending.whenComplete(onAnswer);
      }
    }

    private OperationCall<?, ?> send() {
      switch (state) {
        case UNKNOWN:
          return isToBeHeard()
              ? submit(NameNodeOperations.PING, new Ping.Request(0))
              : submit(NameNodeOperations.REGISTER_DATANODE, registerDatanode());
        case LENDING:
          RegisterRegion.Request region = lendings.next();
          return region == null ? keepAlive() : submit(NameNodeOperations.REGISTER_REGION, region);
        default:
          return keepAlive();
      }
    }

    private OperationCall<?, ?> keepAlive() {
      toldImpaired = impaired.getAsBoolean();
      Optional<StorageServer.Statistics> seen = statistics.get();
      return submit(
          NameNodeOperations.KEEP_ALIVE,
          new KeepAlive.Request(
              datanode,
              kept == null ? 0 : kept.start(),
              toldImpaired,
              doneCutOff,
              heard,
              seen.map(StorageServer.Statistics::readBytes).orElse(-1L),
              seen.map(StorageServer.Statistics::writtenBytes).orElse(-1L)));
    }

    private <Q, R> OperationCall<Q, R> submit(Operation<Q, R> operation, Q request) {
      return namenodes.callAt(index, operation, request);
    }

    private RegisterDatanode.Request registerDatanode() {
      return new RegisterDatanode.Request(
          kept == null ? RegisterDatanode.KEEPS_NOTHING : kept.keeper(),
          kept == null ? 0 : kept.start(),
          new RegisterDatanode.Description(
              description.uuid().getMostSignificantBits(),
              description.uuid().getLeastSignificantBits(),
              description.storageClass(),
              description.address().getPort(),
              draining,
              lendings.isAnyLent() && lendings.isAnyLentBefore(namenodes.hello(index).lineage()),
              Utf8.of(description.tier()),
              Utf8.of(description.address().getHostString()),
              description.traits()));
    }

    /** True before the handshake, which shows whether it is the namenode of an earlier process. */
    private boolean isToBeHeard() {
      return namenodes.hello(index) == null && lendings.isAnyLent();
    }

    private void take(OperationCall<?, ?> call, long now) {
      CrailException failure = call.failure();
      if (failure != null) {
        failed(failure, now);
        return;
      }
      answeredNanos = now;
      backOffNanos = FIRST_BACK_OFF_NANOS;
      switch (state) {
        case UNKNOWN:
          due = true;
          if (!(call.response() instanceof RegisterDatanode.Response registered)) {
            break;
          }
          datanode = registered.datanode();
          toldImpaired = false;
          // The list came from another namenode, or from this one, which sends unconfirmed clients
          // again.
          toldCutOff = 0;
          doneCutOff = 0;
          heard = 0;
          cuttingOff = null;
          lendings.beginAt(datanode, namenodes.hello(index).lineage());
          state = State.LENDING;
          break;
        default:
          if (call.response() instanceof KeepAlive.Response answer) {
            heard = answer.number();
            dueNanos = now + keepAliveNanos;
            if (answer.stop()) {
              removed();
              return;
            }
            if (state == State.REMOVED) {
              LOG.info("namenode {} uses this datanode again", address());
              state = lendings.areAllLent() ? State.REGISTERED : State.LENDING;
            }
            draining = answer.draining();
            cutOff(answer);
          } else {
            lendings.haveLent();
            due = true;
          }
          break;
      }
      if (state == State.LENDING && lendings.areAllLent()) {
        state = State.REGISTERED;
        due = false;
        wasRegistered |= isRegistered();
        LOG.info(
            "registered as datanode {} with {} regions at namenode {}",
            datanode,
            lendings.count(),
            address());
      } else if (reported != ErrorCode.OK && state == State.REGISTERED) {
        LOG.info("namenode {} answers again", address());
      }
      if (state == State.REGISTERED) {
        reported = ErrorCode.OK;
        dueNanos = now + keepAliveNanos;
      }
    }

    /**
     * The namenode has let this datanode go. As long as others have not, it may change its mind,
     * and is asked. Should it restart, it must not take it for a new one.
     */
    private void removed() {
      draining = true;
      if (state != State.REMOVED) {
        LOG.info("namenode {} has removed this datanode", address());
        state = State.REMOVED;
      }
    }

    /** Begins to cut off the clients that an answer names, unless that has begun or is done. */
    private void cutOff(KeepAlive.Response answer) {
      if (answer.cutOff() != 0 && answer.cutOff() != toldCutOff) {
        toldCutOff = answer.cutOff();
        cuttingOff = fencer.cutOff(answer.clients());
      }
    }

    private void failed(CrailException failure, long now) {
      if (failure.code() == ErrorCode.UNKNOWN_DATANODE) {
        state = State.UNKNOWN;
      }
      if (!wasRegistered && isForGood(failure.code())) {
        refusal =
            failure
                .code()
                .exception("namenode " + address() + " refuses this datanode: " + failure.detail());
        return;
      }
      // One line for each change, however long the failure lasts.
      if (reported != failure.code()) {
        reported = failure.code();
        LOG.warn("namenode {} {}: {}", address(), describe(failure.code()), failure.getMessage());
      }
      dueNanos = now + backOffNanos;
      backOffNanos = Math.min(2 * backOffNanos, LAST_BACK_OFF_NANOS);
    }

    private String address() {
      return Addresses.text(namenodes.peer(index).address());
    }
  }
}
