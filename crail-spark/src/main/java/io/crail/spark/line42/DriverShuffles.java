/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import com.codahale.metrics.Counter;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.SupersededOutputs;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.CleanerListener;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.MapStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * The shuffles of an application, in its driver. It alone makes their directories, so that what a
 * late task writes does not bring back a shuffle that was removed. It makes them when a stage
 * begins that writes the shuffle: Spark never removes one that no stage has written. Directories
 * that are missing although Spark needs the shuffle, for example because a namenode came back
 * empty, are made for the task that asks. Thread-safe.
 */
final class DriverShuffles
    implements SupersededOutputs.Tracker, ShuffleEndpoint.Driver, CleanerListener {
  private static final Logger LOG = LoggerFactory.getLogger(DriverShuffles.class);

  private final ApplicationStore application;
  private final OutputPlace outputs;
  private final SupersededOutputs superseded;

  /** The shuffles that may have directories. */
  private final Set<Integer> made = ConcurrentHashMap.newKeySet();

  private final FullStore full;

  private volatile LiveListenerBus bus;

  /** Counts the events that did not fit into the queue of {@link StageEvents}. */
  private volatile Counter dropped;

  private volatile MapOutputTrackerMaster tracker;
  private volatile boolean ended;

  DriverShuffles(ApplicationStore application) {
    this.application = application;
    this.outputs = application.outputs();
    this.superseded = new SupersededOutputs(outputs, this);
    this.full = new FullStore(application, made::size);
  }

  /** A shuffle is there, which perhaps is never written. */
  void register(int shuffle, SparkContext context) {
    start(context);
    superseded.watch(shuffle);
  }

  /** With the first shuffle there is a context. */
  private synchronized void start(SparkContext context) {
    if (bus != null) {
      return;
    }
    tracker = (MapOutputTrackerMaster) context.env().mapOutputTracker();
    bus = context.listenerBus();
    String queue = "queue." + StageEvents.QUEUE;
    dropped = bus.metrics().metricRegistry().counter(queue + ".numDroppedEvents");
    bus.addToQueue(new StageEvents(this::prepare, superseded), StageEvents.QUEUE);
    bus.addToQueue(new LostOutputs(outputs, tracker), LostOutputs.QUEUE);
    RpcEnv rpcEnv = context.env().rpcEnv();
    rpcEnv.setupEndpoint(ShuffleEndpoint.NAME, new ShuffleEndpoint(rpcEnv, this));
    CrailTab.attach(context, application);
    if (context.cleaner().isDefined()) {
      context.cleaner().get().attachListener(this);
    }
  }

  /**
   * Makes the directories of a shuffle, if there are none. Where that fails, tasks ask for them.
   */
  void prepare(int shuffle) {
    if (made.contains(shuffle)) {
      return;
    }
    try {
      make(shuffle);
    } catch (IOException e) {
      LOG.warn("cannot create the directories of shuffle {}; tasks ask for them", shuffle, e);
    }
  }

  @Override
  public boolean remake(int shuffle) throws IOException {
    if (!isNeeded(shuffle)) {
      return false;
    }
    outputs.createRoots();
    return make(shuffle);
  }

  /** As {@link FullStore#makeRoom}. */
  @Override
  public String makeRoom() {
    return full.makeRoom();
  }

  private boolean make(int shuffle) throws IOException {
    try {
      outputs.createShuffle(shuffle);
    } finally {
      made.add(shuffle);
    }
    if (isNeeded(shuffle)) {
      return true;
    }
    // A removal meanwhile may have been too early.
    remove(shuffle);
    if (ended) {
      outputs.removeRoots();
    }
    return false;
  }

  private boolean isNeeded(int shuffle) {
    return !ended && tracker.containsShuffle(shuffle);
  }

  /** Deletes the outputs of a shuffle. Where that fails, it is tried again later. */
  void remove(int shuffle) {
    superseded.forget(shuffle);
    if (made.remove(shuffle)) {
      try {
        outputs.removeShuffle(shuffle);
      } catch (IOException e) {
        LOG.warn("cannot delete the outputs of shuffle {} now", shuffle, e);
        application.deletions().again("shuffle " + shuffle, () -> removeLate(shuffle));
      }
    }
  }

  /** Unless Spark has the shuffle again, or still: then it removes it once more. */
  private void removeLate(int shuffle) throws IOException {
    made.add(shuffle);
    if (!isNeeded(shuffle) && made.remove(shuffle)) {
      outputs.removeShuffle(shuffle);
    }
  }

  /** No directory is made from now on. */
  void end() {
    ended = true;
  }

  @Override
  public Optional<Set<Long>> registered(int shuffle) {
    Option<ShuffleStatus> status = tracker.shuffleStatuses().get(shuffle);
    if (status.isEmpty()) {
      return Optional.empty();
    }
    Set<Long> maps = new HashSet<>();
    status
        .get()
        .withMapStatuses(
            statuses -> {
              for (MapStatus each : statuses) {
                if (each != null) {
                  maps.add(each.mapId());
                }
              }
              return null;
            });
    return Optional.of(maps);
  }

  @Override
  public long missed() {
    return dropped.getCount();
  }

  @Override
  public void tellReaders(int shuffle, SupersededOutputs.Known known) {
    askAnew(tracker, shuffle);
    bus.post(new StageEvents.Mark(known));
  }

  /**
   * Begins a new epoch, in which executors forget what they know of outputs and ask again. What
   * Spark answers them does not change by itself when one output takes the place of another.
   */
  static void askAnew(MapOutputTrackerMaster tracker, int shuffle) {
    Option<ShuffleStatus> status = tracker.shuffleStatuses().get(shuffle);
    if (status.isDefined()) {
      status.get().invalidateSerializedMapOutputStatusCache();
    }
    tracker.incrementEpoch();
  }

  /** Spark has forgotten a shuffle; before that, a late task could still ask for it. */
  @Override
  public void shuffleCleaned(int shuffle) {
    remove(shuffle);
  }

  @Override
  public void rddCleaned(int rdd) {
    // Not ours.
  }

  @Override
  public void broadcastCleaned(long broadcast) {
    // Not ours.
  }

  @Override
  public void accumCleaned(long accumulator) {
    // Not ours.
  }

  @Override
  public void checkpointCleaned(long rdd) {
    // Not ours.
  }
}
