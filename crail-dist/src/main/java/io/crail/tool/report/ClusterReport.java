/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import java.time.Instant;
import java.util.List;

/**
 * All of a cluster, as far as its namenodes answer.
 *
 * @param cluster its name; empty when no namenode answers
 * @param at when they were asked, by this host's clock
 * @param namenodes all namenodes, in the order of {@code crail.namenode.address}
 * @param datanodes all datanodes, those that are gone as long as files have bytes there
 * @param classes the space of each storage class that has datanodes, ascending
 * @param objects files, directories, tables and so on, without the root
 * @param leases write leases
 * @param smallValueBytes memory of the namenodes that small values take
 */
public record ClusterReport(
    String cluster,
    Instant at,
    List<NamenodeReport> namenodes,
    List<DatanodeReport> datanodes,
    List<ClassUsage> classes,
    long objects,
    int leases,
    long smallValueBytes) {
  /** Copies the lists. */
  public ClusterReport {
    namenodes = List.copyOf(namenodes);
    datanodes = List.copyOf(datanodes);
    classes = List.copyOf(classes);
  }

  /** The namenodes that answer. */
  public List<NamenodeReport> answering() {
    return namenodes.stream().filter(NamenodeReport::answers).toList();
  }

  /** The peers of namenodes with standbys. */
  public List<NamenodeReport.Peer> peers() {
    return namenodes.stream().flatMap(each -> each.peers().stream()).toList();
  }

  /** The namenodes whose parts are missing here, each with the reason. */
  public List<String> missing() {
    return namenodes.stream()
        .filter(each -> !each.answers())
        .map(each -> each.name() + " (" + each.problem() + ")")
        .toList();
  }

  /** The datanodes that lend space or did so lately; not those that are gone. */
  public List<DatanodeReport> members() {
    return datanodes.stream().filter(each -> each.state() != DatanodeState.LOST).toList();
  }

  /**
   * The datanode at an address.
   *
   * @throws CrailException with UNKNOWN_DATANODE when there is none
   */
  public DatanodeReport require(DatanodeAddress address) throws CrailException {
    return address
        .among(members())
        .orElseThrow(
            () ->
                ErrorCode.UNKNOWN_DATANODE.exception(
                    address + "; " + address.near(members()) + "'crail datanodes' lists all"));
  }

  /** How many datanodes are in use, and have sent a sign of life lately to some namenode. */
  public int onlineDatanodes() {
    return count(false);
  }

  /** How many datanodes are being removed, and have sent a sign of life lately. */
  public int drainingDatanodes() {
    return count(true);
  }

  private int count(boolean draining) {
    return (int)
        datanodes.stream()
            .filter(each -> each.silentAt().size() < each.namenodes().size())
            .filter(each -> each.draining() == draining)
            .count();
  }

  /** The datanodes in numbers, such as {@code 2 of 3 datanodes online, 1 draining}. */
  public static String datanodes(int online, int draining, int all) {
    return online
        + " of "
        + all
        + " datanodes online"
        + (draining == 0 ? "" : ", " + draining + " draining");
  }

  /** The space of all classes. */
  public long capacityBytes() {
    return classes.stream().mapToLong(ClassUsage::capacityBytes).sum();
  }

  /** What can be given out now, in all classes. */
  public long freeBytes() {
    return classes.stream().mapToLong(ClassUsage::freeBytes).sum();
  }
}
