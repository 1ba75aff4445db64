/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.DirectMemory;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.LogDirectory;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.ClassUsage;
import java.io.IOException;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What a namenode would have that starts from a log.
 *
 * @param begin number of the last record in the snapshot with which it begins; 0 for none
 * @param last number of the last record
 * @param tornBytes bytes of writes that did not end
 * @param nodes files, directories and others
 * @param leases files that are being written
 * @param datanodes datanodes that it knows
 * @param smallBytes bytes outside the heap for small values
 * @param heapBytes bytes of heap for all else
 * @param usage the space of each storage class
 */
public record LogCheck(
    long begin,
    long last,
    long tornBytes,
    long nodes,
    long leases,
    int datanodes,
    long smallBytes,
    long heapBytes,
    List<ClassUsage> usage) {
  /** This process has less memory than what is in the log needs. It says nothing of the log. */
  public static final class TooLittleMemory extends IOException {
    private static final long serialVersionUID = 1;

    private TooLittleMemory(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * Makes all changes of a log, and counts all that came of it once more. Writes nothing.
   *
   * @param conf has the keys of a namenode; those that the log has say nothing here
   * @return null if there is no log
   * @throws IOException that names what is wrong
   * @throws TooLittleMemory if this process has not enough for it
   */
  public static LogCheck run(
      LogDirectory directory, Configuration conf, Clock clock, RandomGenerator random)
      throws IOException {
    NameNodeLog.Replayed replayed;
    try {
      replayed = NameNodeLog.replay(directory, lineage -> options(conf, lineage), clock, random);
    } catch (IOException e) {
      boolean isLimit =
          e.getCause() instanceof CrailException cause && cause.code() == ErrorCode.LIMIT_EXCEEDED;
      throw isLimit ? new TooLittleMemory(e) : e;
    } catch (OutOfMemoryError e) {
      throw new TooLittleMemory(e);
    }
    if (replayed == null) {
      return null;
    }
    NameNode namenode = replayed.namenode();
    try {
      namenode.verify();
    } catch (AssertionError e) {
      throw new IOException("the records do not fit together: " + e.getMessage(), e);
    }
    return new LogCheck(
        replayed.begin(),
        replayed.present().last(),
        replayed.present().tornBytes(),
        namenode.tree().size() - namenode.tree().spread().shares().size(),
        namenode.leases().size(),
        namenode.datanodes().present().size(),
        namenode.smallValues().used(),
        namenode.budget().used(),
        namenode.datanodes().usage());
  }

  private static NameNodeOptions options(Configuration conf, Lineage lineage) {
    Configuration.Builder builder = Configuration.builder();
    String origin = "the log";
    conf.texts().forEach((key, value) -> builder.set(key, value, origin));
    builder.set(ClusterKeys.CLUSTER_NAME.name(), lineage.cluster().toString(), origin);
    builder.set(ClusterKeys.USER.name(), lineage.user().toString(), origin);
    builder.set(NameNodeKeys.BLOCK_SIZE.name(), String.valueOf(lineage.blockSize()), origin);
    // Those of the namenode may be more than this process has.
    builder.set(
        NameNodeKeys.SMALL_VALUES.name(), String.valueOf(DirectMemory.mostBytes() / 2), origin);
    return NameNodeOptions.of(builder.build(), lineage.index(), lineage.count());
  }
}
