/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import java.util.List;

/** Crail's own metrics. Dashboards and alerts of users rely on their names. */
public enum Metric {
  /** Both kinds of servers. */
  READY(Type.GAUGE, "crail_ready", "1 if /ready answers with 200, else 0"),
  /** Namenode. */
  OPERATION_SECONDS(
      Type.HISTOGRAM,
      "crail_namenode_operation_seconds",
      "Time that the namenode worked on a request, by operation. Requests that a client has sent"
          + " together count with their share. Time in queues and on the network is not part of it",
      "operation"),
  /** Namenode. */
  ERRORS(
      Type.COUNTER,
      "crail_namenode_errors",
      "Requests that were answered with an error, by operation and error; an error that was never"
          + " met is not there",
      "operation",
      "error"),
  /** Namenode. */
  FAILED_LISTS(
      Type.COUNTER,
      "crail_namenode_failed_lists",
      "Lists of steps that were not done since a step failed, by the error of that step:"
          + " condition_failed for a guard that does not hold is always there, another error once it"
          + " was met",
      "error"),
  /** Namenode. */
  NODES(
      Type.GAUGE,
      "crail_namenode_nodes",
      "Nodes in its part of the tree, by type; those of removed subtrees until they are taken"
          + " apart",
      "type"),
  /** Namenode. */
  WRITE_LEASES(Type.GAUGE, "crail_namenode_write_leases", "Write leases that clients hold"),
  /** Namenode. */
  LEASE_CLIENTS(
      Type.GAUGE, "crail_namenode_lease_clients", "Clients that are remembered for their leases"),
  /** Namenode. */
  AWAITED_WRITERS(
      Type.GAUGE,
      "crail_namenode_awaited_writers",
      "Writers of removed nodes, whose space waits for them"),
  /** Namenode. */
  SMALL_VALUE_BYTES(
      Type.GAUGE,
      "crail_namenode_small_value_bytes",
      "Memory outside the heap that small values take, in bytes"),
  /** Namenode. */
  SMALL_VALUE_LIMIT_BYTES(
      Type.GAUGE,
      "crail_namenode_small_value_limit_bytes",
      "Memory above which the namenode keeps no more small values, in bytes"),
  /** Namenode. */
  MEMORY_BYTES(
      Type.GAUGE,
      "crail_namenode_memory_bytes",
      "Heap taken by all that the namenode keeps, in bytes"),
  /** Namenode. */
  MEMORY_LIMIT_BYTES(
      Type.GAUGE,
      "crail_namenode_memory_limit_bytes",
      "Heap above which the namenode refuses to keep more, in bytes"),
  /** Namenode. */
  LOCATED_BYTES(
      Type.COUNTER,
      "crail_namenode_located_bytes",
      "Bytes whose places clients were given, to read them; those of small values came with the"
          + " answer"),
  /** Namenode. */
  COMMITTED_BYTES(
      Type.COUNTER,
      "crail_namenode_committed_bytes",
      "Bytes that clients have made visible, by a sync, a close or a put"),
  /** Namenode. */
  EXPIRED_NODES(
      Type.COUNTER,
      "crail_namenode_expired_nodes",
      "Nodes removed at the end of their lifetime; what was below them does not count"),
  /** Namenode. */
  SUCCESSOR(
      Type.GAUGE,
      "crail_namenode_successor",
      "1 if an earlier start of the namenode had space of its datanodes: all nodes of that one are"
          + " gone"),
  /** Namenode with a log. */
  LOG_RECORDS(
      Type.COUNTER,
      "crail_namenode_log_records",
      "Records of its log, since that was begun; a namenode without a log has none of these"),
  /** Namenode with a log. */
  LOG_FINAL_RECORDS(
      Type.COUNTER,
      "crail_namenode_log_final_records",
      "Those of them that are on the disk, or with standbys that the peers have agreed on: answers"
          + " wait for this"),
  /** Namenode with a log. */
  LOG_RECORDS_BEHIND(
      Type.GAUGE,
      "crail_namenode_log_records_behind",
      "Records that a start reads besides the last snapshot"),
  /** Namenode with a log. */
  LOG_BYTES_BEHIND(
      Type.GAUGE,
      "crail_namenode_log_behind_bytes",
      "Bytes of the log that a start reads besides the last snapshot"),
  /** Namenode with a log. */
  LOG_WAITING_BYTES(
      Type.GAUGE,
      "crail_namenode_log_waiting_bytes",
      "Bytes of records that are not on their way to the disk yet, or with standbys to the other"
          + " peers; if there are too many, changes are refused"),
  /** Namenode with a log. */
  LOG_REFUSES(
      Type.GAUGE,
      "crail_namenode_log_refuses",
      "1 while changes are refused, since the disk of the log is full or too slow, or the standbys"
          + " are too slow, else 0"),
  /** Namenode with a log. */
  LOG_FORCES(
      Type.COUNTER,
      "crail_namenode_log_forces",
      "How often the log has waited until the disk had what was written"),
  /** Namenode with a log. */
  LOG_FORCE_SECONDS(
      Type.COUNTER,
      "crail_namenode_log_force_seconds",
      "How long it has waited for that, all together"),
  /** Namenode with a log. */
  SNAPSHOTS(
      Type.COUNTER,
      "crail_namenode_snapshots",
      "Snapshots that have taken the place of a part of the log"),
  /** Namenode with a log. */
  FAILED_SNAPSHOTS(
      Type.COUNTER,
      "crail_namenode_failed_snapshots",
      "Snapshots that could not be made; its log says why, and it tries again"),
  /** Namenode with a log. */
  SNAPSHOT_TIMESTAMP(
      Type.GAUGE,
      "crail_namenode_snapshot_timestamp_seconds",
      "When the last snapshot was made, since 1970; 0 if there is none"),
  /** Namenode with a log. */
  SNAPSHOT_SECONDS(
      Type.GAUGE,
      "crail_namenode_snapshot_seconds",
      "How long it took to make the last snapshot; 0 if this start has made none"),
  /** Namenode with standbys. */
  PEER_LEADS(
      Type.GAUGE,
      "crail_namenode_peer_leads",
      "1 if this peer of a namenode with standbys leads, so it serves; 0 if it is a standby. A"
          + " namenode without standbys has none of these"),
  /** Namenode with standbys. */
  PEER_LEADER(
      Type.GAUGE,
      "crail_namenode_peer_leader",
      "Which peer leads, from 0, as this one knows; not there while it knows none"),
  /** Namenode with standbys. */
  PEER_TERM(Type.GAUGE, "crail_namenode_peer_term", "The present term, which each election begins"),
  /** Namenode with standbys. */
  PEER_ELECTIONS(
      Type.COUNTER,
      "crail_namenode_peer_elections",
      "Elections whose winner this peer has learned; also when the lead was moved"),
  /** Namenode with standbys. */
  PEER_TAKE_OVER_SECONDS(
      Type.GAUGE,
      "crail_namenode_peer_take_over_seconds",
      "How long no peer had served when this one began to, the last time; not there if it has not"
          + " served since its start"),
  /** Namenode with standbys. */
  PEER_RECORDS(
      Type.COUNTER,
      "crail_namenode_peer_records",
      "Records of the log that the peers have agreed on, and that this one has"),
  /** Namenode with standbys. */
  PEER_COPY_WAITING_BYTES(
      Type.GAUGE,
      "crail_namenode_peer_copy_waiting_bytes",
      "Bytes of records that are not on their way into this peer's copy of the log yet; no answer"
          + " waits for the copy"),
  /** Namenode with standbys, a standby. */
  STANDBY_BEHIND_ENTRIES(
      Type.GAUGE,
      "crail_namenode_standby_behind_entries",
      "Entries that the peers have agreed on, as this standby has heard, and that it has not made"
          + " yet; only at standbys"),
  /** Namenode with standbys, a standby. */
  STANDBY_SILENCE_SECONDS(
      Type.GAUGE,
      "crail_namenode_standby_silence_seconds",
      "Time since this standby has heard the leader, or has lost it; only at standbys"),
  /** Namenode with standbys, the one that leads. */
  PEER_REACHED(
      Type.GAUGE,
      "crail_namenode_peer_reached",
      "1 if a peer has answered lately, else 0; only at the leader, as all that follow",
      "peer"),
  /** Namenode with standbys, the one that leads. */
  PEER_JOINING(
      Type.GAUGE,
      "crail_namenode_peer_joining",
      "1 if a peer has lost its directories and does not count until it has joined anew, else 0",
      "peer"),
  /** Namenode with standbys, the one that leads. */
  PEER_SILENCE_SECONDS(
      Type.GAUGE,
      "crail_namenode_peer_silence_seconds",
      "Time since a peer has answered the leader",
      "peer"),
  /** Namenode with standbys, the one that leads. */
  PEER_BEHIND_ENTRIES(
      Type.GAUGE,
      "crail_namenode_peer_behind_entries",
      "Entries that were agreed on and that a peer does not have yet; not there until it has said"
          + " which it has",
      "peer"),
  /** Namenode with standbys, the one that leads. */
  PEER_BEHIND_SECONDS(
      Type.GAUGE,
      "crail_namenode_peer_behind_seconds",
      "Time since the first of these entries was agreed on; 0 if there is none",
      "peer"),
  /** Namenode with standbys, the one that leads. */
  PEER_LEASE(
      Type.GAUGE,
      "crail_namenode_peer_lease",
      "1 while no other peer can lead, so that answers leave at once, else 0"),
  /** Namenode with standbys, the one that leads. */
  PEER_ENTRIES_UNDER_WAY(
      Type.GAUGE,
      "crail_namenode_peer_entries_under_way",
      "Entries that were sent to the peers, and are not agreed on yet"),
  /** Namenode with standbys, the one that leads. */
  PEER_SENT_ENTRIES(
      Type.COUNTER,
      "crail_namenode_peer_sent_entries",
      "Entries that were sent to the peers, each with the records of many changes"),
  /** Namenode with standbys, the one that leads. */
  PEER_SENT_BYTES(
      Type.COUNTER,
      "crail_namenode_peer_sent_bytes",
      "Bytes of these entries, which go to each of the other peers"),
  /** Namenode. */
  CAPACITY_BYTES(
      Type.GAUGE, "crail_namenode_capacity_bytes", "Bytes that datanodes lend to it", "class"),
  /** Namenode. */
  FREE_BYTES(Type.GAUGE, "crail_namenode_free_bytes", "Bytes that a node can get now", "class"),
  /** Namenode. */
  USED_BYTES(Type.GAUGE, "crail_namenode_used_bytes", "Bytes that belong to nodes", "class"),
  /** Namenode. */
  WAITING_BYTES(
      Type.GAUGE,
      "crail_namenode_waiting_bytes",
      "Bytes that wait for the end of leases: freed, or reserved for copies",
      "class"),
  /** Namenode. */
  LOST_BYTES(
      Type.GAUGE,
      "crail_namenode_lost_bytes",
      "Bytes that belong to nodes and are lost with their datanodes",
      "class"),
  /** Namenode. */
  LARGEST_FREE_BYTES(
      Type.GAUGE,
      "crail_namenode_largest_free_extent_bytes",
      "The largest extent that can be given out now",
      "class"),
  /** Namenode. */
  DATANODES(
      Type.GAUGE,
      "crail_namenode_datanodes",
      "Datanodes as this namenode sees them, by the states of the reports: online, draining,"
          + " impaired, offline; lost, if nodes have lost bytes there. Each namenode counts all of"
          + " them",
      "state"),
  /** Namenode. */
  TRANSPORT(
      Type.GAUGE,
      "crail_namenode_transport",
      "Figures of the transport: open connections, those among them whose requests wait for their"
          + " turn, answers that are held back until an event, and the memory that it holds for"
          + " peers, now and at most; over RDMA only the memory of answers that are held back",
      "figure"),
  /** Namenode. */
  WAITED_SECONDS(
      Type.COUNTER,
      "crail_namenode_waited_seconds",
      "Time that connections waited for their turn, or until they took answers or answers that"
          + " are held back could leave, all together: how much clients were held back"),
  /** Namenode. */
  CONNECTIONS_ENDED(
      Type.COUNTER,
      "crail_namenode_connections_ended",
      "Connections that the namenode has ended, by reason; not over RDMA",
      "reason"),
  /** Datanode. */
  LENT_BYTES(Type.GAUGE, "crail_datanode_lent_bytes", "Bytes that it lends"),
  /** Datanode. */
  REGISTERED(
      Type.GAUGE,
      "crail_datanode_registered",
      "1 if the namenode knew it and all of its regions at its last answer, else 0",
      "namenode"),
  /** Datanode. */
  SILENCE_SECONDS(
      Type.GAUGE,
      "crail_datanode_silence_seconds",
      "Time since the last good answer of the namenode to a sign of life",
      "namenode"),
  /** Datanode of the tier nvmf. */
  TARGET_REACHED(
      Type.GAUGE,
      "crail_datanode_target_reached",
      "1 if it reaches the target whose namespaces it lends, 0 while that is lost; tier nvmf only",
      "target"),
  /** Datanode of the tiers tcp and rdma. */
  DATA_CONNECTIONS(
      Type.GAUGE, "crail_datanode_connections", "Open data connections; tiers tcp and rdma"),
  /** Datanode of the tier tcp. */
  HELD_BYTES(
      Type.GAUGE,
      "crail_datanode_held_bytes",
      "Memory that it holds for answers that do not leave, its only queue; tier tcp only"),
  /** Datanode of the tier tcp. */
  TRANSFERS(
      Type.COUNTER,
      "crail_datanode_transfers",
      "Reads and writes that were served; tier tcp only",
      "direction"),
  /** Datanode of the tier tcp. */
  TRANSFERRED_BYTES(
      Type.COUNTER,
      "crail_datanode_transferred_bytes",
      "Bytes that were read and written; tier tcp only",
      "direction"),
  /** Datanode of the tier tcp. */
  REFUSALS(
      Type.COUNTER,
      "crail_datanode_refused",
      "Requests that were refused, by error; a protocol error also ends the connection; an error"
          + " that was never met is not there; tier tcp only",
      "error");

  /** How the values of a metric behave. */
  public enum Type {
    /** It goes up and down. */
    GAUGE(""),
    /** It only grows, from the start of the process on. */
    COUNTER("_total"),
    /** Counts and a sum, which only grow. */
    HISTOGRAM("");

    private final String suffix;

    Type(String suffix) {
      this.suffix = suffix;
    }
  }

  private final Type type;
  private final String name;
  private final String help;
  private final List<String> labels;

  Metric(Type type, String name, String help, String... labels) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.labels = List.of(labels);
  }

  /** How its values behave. */
  public Type type() {
    return type;
  }

  /** The name by which queries find it; that of a histogram has suffixes of its own in addition. */
  public String fullName() {
    return name + type.suffix;
  }

  /** What it means. */
  public String help() {
    return help;
  }

  /** The names of its labels. */
  public List<String> labels() {
    return labels;
  }

  MetricMetadata metadata() {
    return new MetricMetadata(name, help);
  }

  Labels labels(List<String> values) {
    return Labels.of(labels, values);
  }
}
