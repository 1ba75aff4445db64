/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.protocol.Operation.Routing;
import io.crail.protocol.cluster.AnnounceSpace;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.login.Right;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * The table of the metadata service: each operation is one line. Client, server, routing, repeats,
 * counters and documentation follow from it. Numbers are permanent.
 */
public final class NameNodeOperations {
  private static final Map<Integer, Operation<?, ?>> TABLE = new LinkedHashMap<>();

  private static final boolean CHANGES = true;
  private static final boolean READS = false;

  /** Says that somebody is there, as often as it is sent, and changes no node. */
  private static final boolean SIGN_OF_LIFE = false;

  public static final Operation<Hello.Request, Hello.Response> HELLO =
      add(
          1,
          "hello",
          Right.ANY,
          Hello.Request.CODEC,
          Hello.Response.CODEC,
          READS,
          named(),
          "opens a connection");
  public static final Operation<Create.Request, Create.Response> CREATE =
      add(
          2,
          "create",
          Right.USE,
          Create.Request.CODEC,
          Create.Response.CODEC,
          CHANGES,
          byPath(Create.Request::path, Create.Request::by),
          "creates a node");
  public static final Operation<Lookup.Request, Lookup.Response> LOOKUP =
      add(
          3,
          "lookup",
          Right.USE,
          Lookup.Request.CODEC,
          Lookup.Response.CODEC,
          READS,
          byPath(Lookup.Request::path, Lookup.Request::by),
          "finds a node by its path");
  public static final Operation<SetSize.Request, SetSize.Response> SET_SIZE =
      add(
          4,
          "set-size",
          Right.USE,
          SetSize.Request.CODEC,
          SetSize.Response.CODEC,
          CHANGES,
          byId(SetSize.Request::id),
          "makes written bytes visible, may end the write lease");
  public static final Operation<Remove.Request, Remove.Response> REMOVE =
      add(
          5,
          "remove",
          Right.USE,
          Remove.Request.CODEC,
          Remove.Response.CODEC,
          CHANGES,
          byPath(Remove.Request::path, Remove.Request::by),
          "removes a node or a subtree");
  public static final Operation<Rename.Request, Rename.Response> RENAME =
      add(
          6,
          "rename",
          Right.USE,
          Rename.Request.CODEC,
          Rename.Response.CODEC,
          CHANGES,
          byPath(Rename.Request::source, Rename.Request::by),
          "gives a node another name");
  public static final Operation<FindExtents.Request, FindExtents.Response> FIND_EXTENTS =
      add(
          7,
          "find-extents",
          Right.USE,
          FindExtents.Request.CODEC,
          FindExtents.Response.CODEC,
          READS,
          byId(FindExtents.Request::id),
          "finds where a node's bytes lie");
  public static final Operation<Extend.Request, Extend.Response> EXTEND =
      add(
          8,
          "extend",
          Right.USE,
          Extend.Request.CODEC,
          Extend.Response.CODEC,
          CHANGES,
          byId(Extend.Request::id),
          "allocates space for a writer");
  public static final Operation<AcquireLease.Request, AcquireLease.Response> ACQUIRE_LEASE =
      add(
          9,
          "acquire-lease",
          Right.USE,
          AcquireLease.Request.CODEC,
          AcquireLease.Response.CODEC,
          CHANGES,
          byId(AcquireLease.Request::id),
          "takes the write lease of a node");
  public static final Operation<RenewLeases.Request, RenewLeases.Response> RENEW_LEASES =
      add(
          10,
          "renew-leases",
          Right.USE,
          RenewLeases.Request.CODEC,
          RenewLeases.Response.CODEC,
          SIGN_OF_LIFE,
          named(),
          "renews write leases of a client, returns which are lost");
  public static final Operation<ListNodes.Request, ListNodes.Response> LIST_NODES =
      add(
          11,
          "list-nodes",
          Right.USE,
          ListNodes.Request.CODEC,
          ListNodes.Response.CODEC,
          READS,
          byId(ListNodes.Request::id),
          "lists a page of a container's children");
  public static final Operation<Locations.Request, Locations.Response> LOCATIONS =
      add(
          12,
          "locations",
          Right.USE,
          Locations.Request.CODEC,
          Locations.Response.CODEC,
          READS,
          byId(Locations.Request::id),
          "returns where a range of a node is, for schedulers");
  public static final Operation<RegisterDatanode.Request, RegisterDatanode.Response>
      REGISTER_DATANODE =
          add(
              13,
              "register-datanode",
              Right.LEND,
              RegisterDatanode.Request.CODEC,
              RegisterDatanode.Response.CODEC,
              SIGN_OF_LIFE,
              named(),
              "makes a datanode known");
  public static final Operation<RegisterRegion.Request, RegisterRegion.Response> REGISTER_REGION =
      add(
          14,
          "register-region",
          Right.LEND,
          RegisterRegion.Request.CODEC,
          RegisterRegion.Response.CODEC,
          CHANGES,
          named(),
          "lends a region to a namenode");
  public static final Operation<KeepAlive.Request, KeepAlive.Response> KEEP_ALIVE =
      add(
          15,
          "keep-alive",
          Right.LEND,
          KeepAlive.Request.CODEC,
          KeepAlive.Response.CODEC,
          SIGN_OF_LIFE,
          named(),
          "reports that a datanode is alive");
  public static final Operation<RemoveDatanode.Request, RemoveDatanode.Response> REMOVE_DATANODE =
      add(
          16,
          "remove-datanode",
          Right.OPERATE,
          RemoveDatanode.Request.CODEC,
          RemoveDatanode.Response.CODEC,
          CHANGES,
          named(),
          "takes a datanode out of service");
  public static final Operation<DescribeDatanode.Request, DescribeDatanode.Response>
      DESCRIBE_DATANODE =
          add(
              17,
              "describe-datanode",
              Right.USE,
              DescribeDatanode.Request.CODEC,
              DescribeDatanode.Response.CODEC,
              READS,
              byNumber(DescribeDatanode.Request::datanode),
              "describes a datanode and its regions");
  public static final Operation<ListDatanodes.Request, ListDatanodes.Response> LIST_DATANODES =
      add(
          18,
          "list-datanodes",
          Right.USE,
          ListDatanodes.Request.CODEC,
          ListDatanodes.Response.CODEC,
          READS,
          named(),
          "lists datanode ids");
  public static final Operation<Usage.Request, Usage.Response> USAGE =
      add(
          19,
          "usage",
          Right.USE,
          Usage.Request.CODEC,
          Usage.Response.CODEC,
          READS,
          named(),
          "counts nodes and space");
  public static final Operation<Ping.Request, Ping.Response> PING =
      add(
          20,
          "ping",
          Right.ANY,
          Ping.Request.CODEC,
          Ping.Response.CODEC,
          READS,
          named(),
          "answers");
  public static final Operation<Dump.Request, Dump.Response> DUMP =
      add(
          21,
          "dump",
          Right.OPERATE,
          Dump.Request.CODEC,
          Dump.Response.CODEC,
          READS,
          named(),
          "writes tree and space as text");
  public static final Operation<Names.Request, Names.Response> NAMES =
      add(
          22,
          "names",
          Right.USE,
          Names.Request.CODEC,
          Names.Response.CODEC,
          READS,
          named(),
          "returns the names of owners and groups");
  public static final Operation<SetAttributes.Request, SetAttributes.Response> SET_ATTRIBUTES =
      add(
          23,
          "set-attributes",
          Right.USE,
          SetAttributes.Request.CODEC,
          SetAttributes.Response.CODEC,
          CHANGES,
          byPath(SetAttributes.Request::path, SetAttributes.Request::by),
          "sets permission bits, owner, group and times of a node");
  public static final Operation<ReplaceExtent.Request, Extend.Response> REPLACE_EXTENT =
      add(
          24,
          "replace-extent",
          Right.USE,
          ReplaceExtent.Request.CODEC,
          Extend.Response.CODEC,
          CHANGES,
          byId(ReplaceExtent.Request::id),
          "gives a writer other space than what it cannot write to");

  public static final Operation<Put.Request, Put.Response> PUT =
      add(
          25,
          "put",
          Right.USE,
          Put.Request.CODEC,
          Put.Response.CODEC,
          CHANGES,
          byPath(Put.Request::path, Put.Request::by),
          "creates a key-value with all its bytes");
  public static final Operation<Examine.Request, Examine.Response> EXAMINE =
      add(
          26,
          "examine",
          Right.OPERATE,
          Examine.Request.CODEC,
          Examine.Response.CODEC,
          READS,
          named(),
          "looks for nodes whose bytes cannot be read, and for write leases");
  public static final Operation<BeginMove.Request, BeginMove.Response> BEGIN_MOVE =
      add(
          27,
          "begin-move",
          Right.OPERATE,
          BeginMove.Request.CODEC,
          BeginMove.Response.CODEC,
          CHANGES,
          byId(BeginMove.Request::id),
          "reserves space for a copy of an extent at another datanode");
  public static final Operation<CommitMove.Request, CommitMove.Response> COMMIT_MOVE =
      add(
          28,
          "commit-move",
          Right.OPERATE,
          CommitMove.Request.CODEC,
          CommitMove.Response.CODEC,
          CHANGES,
          byId(CommitMove.Request::id),
          "puts the copy of an extent in its place");
  public static final Operation<ListExtents.Request, ListExtents.Response> LIST_EXTENTS =
      add(
          29,
          "list-extents",
          Right.OPERATE,
          ListExtents.Request.CODEC,
          ListExtents.Response.CODEC,
          READS,
          named(),
          "lists the extents of nodes at a datanode");
  public static final Operation<ReportDatanodes.Request, ReportDatanodes.Response>
      REPORT_DATANODES =
          add(
              30,
              "report-datanodes",
              Right.USE,
              ReportDatanodes.Request.CODEC,
              ReportDatanodes.Response.CODEC,
              READS,
              named(),
              "returns the state of each datanode");
  public static final Operation<DrainDatanode.Request, DrainDatanode.Response> DRAIN_DATANODE =
      add(
          31,
          "drain-datanode",
          Right.OPERATE,
          DrainDatanode.Request.CODEC,
          DrainDatanode.Response.CODEC,
          CHANGES,
          named(),
          "begins or cancels the drain of a datanode, or returns how far it is");
  public static final Operation<Login.Request, Hello.Response> LOGIN =
      add(
          32,
          "login",
          Right.ANY,
          Login.Request.CODEC,
          Hello.Response.CODEC,
          READS,
          named(),
          "carries a further message of a connection's login");
  public static final Operation<Create.Request, Create.Response> CREATE_SPREAD =
      add(
          33,
          "create-spread",
          Right.USE,
          Create.Request.CODEC,
          Create.Response.CODEC,
          CHANGES,
          byPath(Create.Request::path, Create.Request::by),
          "creates a directory or table whose children are spread over all namenodes");
  public static final Operation<SetShare.Request, SetShare.Response> SET_SHARE =
      add(
          34,
          "set-share",
          Right.SHARE,
          SetShare.Request.CODEC,
          SetShare.Response.CODEC,
          CHANGES,
          named(),
          "sets the state of a namenode's share of a spread directory");
  public static final Operation<CheckShares.Request, CheckShares.Response> CHECK_SHARES =
      add(
          35,
          "check-shares",
          Right.SHARE,
          CheckShares.Request.CODEC,
          CheckShares.Response.CODEC,
          CHANGES,
          named(),
          "drops shares of spread directories that are gone, returns which are missing");
  public static final Operation<LendQuota.Request, LendQuota.Response> LEND_QUOTA =
      add(
          42,
          "lend-quota",
          Right.SHARE,
          LendQuota.Request.CODEC,
          LendQuota.Response.CODEC,
          CHANGES,
          named(),
          "sets what shares of spread directories may use of limits, returns what they use");
  public static final Operation<ReportActivity.Request, ReportActivity.Response> REPORT_ACTIVITY =
      add(
          36,
          "report-activity",
          Right.OPERATE,
          ReportActivity.Request.CODEC,
          ReportActivity.Response.CODEC,
          READS,
          named(),
          "returns what clients do, and which nodes are looked up most");
  public static final Operation<Operate.Request, Operate.Response> OPERATE =
      add(
          37,
          "operate",
          Right.USE,
          Operate.Request.CODEC,
          Operate.Response.CODEC,
          CHANGES,
          byPath(Operate.Request::path, Operate.Request::by),
          "performs a list of guards, changes and reads on one node at once");
  public static final Operation<Operate.Request, Operate.Response> OPERATE_READ =
      add(
          38,
          "operate-read",
          Right.USE,
          Operate.Request.CODEC,
          Operate.Response.CODEC,
          READS,
          byPath(Operate.Request::path, Operate.Request::by),
          "performs a list of guards and reads on one node at once");
  public static final Operation<AnnounceSpace.Request, AnnounceSpace.Response> ANNOUNCE_SPACE =
      add(
          39,
          "announce-space",
          Right.OPERATE,
          AnnounceSpace.Request.CODEC,
          AnnounceSpace.Response.CODEC,
          SIGN_OF_LIFE,
          named(),
          "says that datanodes are started when space runs out");
  public static final Operation<ListShares.Request, ListShares.Response> LIST_SHARES =
      add(
          40,
          "list-shares",
          Right.OPERATE,
          ListShares.Request.CODEC,
          ListShares.Response.CODEC,
          READS,
          named(),
          "returns the spread directories that a namenode owns, and its shares of others");
  public static final Operation<Put.Request, Put.Response> STAGE =
      add(
          41,
          "stage",
          Right.USE,
          Put.Request.CODEC,
          Put.Response.CODEC,
          CHANGES,
          byPath(Put.Request::path, Put.Request::by),
          "gets space for bytes that a list of steps will link to a key");
  public static final Operation<Lead.Request, Lead.Response> LEAD =
      add(
          43,
          "lead",
          Right.USE,
          Lead.Request.CODEC,
          Lead.Response.CODEC,
          READS,
          named(),
          "returns how the peers of a namenode stand, and may have another one serve");
  public static final Operation<AskPeer.Request, AskPeer.Response> ASK_PEER =
      add(
          44,
          "ask-peer",
          Right.ANY,
          AskPeer.Request.CODEC,
          AskPeer.Response.CODEC,
          READS,
          named(),
          "returns what a peer has, to another one that has lost its directory; no hello is needed");

  private NameNodeOperations() {}

  /** All operations by number, in ascending order. */
  public static Map<Integer, Operation<?, ?>> all() {
    return Collections.unmodifiableMap(TABLE);
  }

  private static <Q, R> Operation<Q, R> add(
      int number,
      String name,
      Right right,
      Codec<Q> request,
      Codec<R> response,
      boolean changes,
      Routing<Q> routing,
      String sentence) {
    Operation<Q, R> operation =
        new Operation<>(number, name, right, request, response, changes, routing, sentence);
    if (TABLE.put(number, operation) != null) {
      throw new AssertionError("operation number given twice: " + number);
    }
    return operation;
  }

  private static <Q> Routing<Q> byPath(
      Function<Q, Utf8> path, BiFunction<Q, UnaryOperator<Utf8>, Q> by) {
    return new Routing<>(
        "by path", path, (request, count) -> NodePath.namenodeOf(path.apply(request), count), by);
  }

  private static <Q> Routing<Q> byId(ToLongFunction<Q> id) {
    return new Routing<>(
        "by node id",
        null,
        (request, count) -> (int) Long.remainderUnsigned(id.applyAsLong(request), count),
        null);
  }

  private static <Q> Routing<Q> byNumber(ToIntFunction<Q> number) {
    return new Routing<>(
        "by datanode id",
        null,
        (request, count) -> Integer.remainderUnsigned(number.applyAsInt(request), count),
        null);
  }

  private static <Q> Routing<Q> named() {
    return new Routing<>("named by the caller", null, null, null);
  }
}
