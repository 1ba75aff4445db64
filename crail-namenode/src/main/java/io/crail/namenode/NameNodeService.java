/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.activity.ClientActivity.Kind;
import io.crail.namenode.query.DatanodeReports;
import io.crail.namenode.query.ExtentFinder;
import io.crail.namenode.query.NodeLister;
import io.crail.namenode.rule.DatanodeRule;
import io.crail.namenode.rule.NewNode;
import io.crail.namenode.rule.ShareRule;
import io.crail.namenode.tree.Node;
import io.crail.namenode.user.Logins;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.LoginHandler;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.OperationServer;
import io.crail.protocol.Outcome;
import io.crail.protocol.SingleHandler;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.StepResult;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Binds each operation of the table to a method of the {@link NameNode}. Stateless. */
final class NameNodeService {
  // Up to this many leases a renewal is served like a short request, so that no writer loses its
  // leases while the renewal waits for its turn.
  private static final int FEW_LEASES = 64;

  // A logger of its own, so that its level or file can be set apart from others.
  private static final Logger SLOW = LoggerFactory.getLogger("io.crail.namenode.slow");

  private NameNodeService() {}

  /**
   * The service of a namenode.
   *
   * @param log where the changes are written; null if they are not
   * @param leadership says how the peers stand
   * @param logins who may log in
   * @param transportStatistics gives the statistics of the transport's server
   */
  static OperationServer create(
      NameNode namenode,
      NameNodeLog log,
      Leadership leadership,
      Logins logins,
      Supplier<Map<String, Long>> transportStatistics) {
    OperationServer.Builder builder =
        new LoginHandler(logins.mechanisms(), new Greeter(namenode, logins))
            .addTo(
                OperationServer.builder(
                    NameNodeOperations.all(),
                    NameNodeOperations.HELLO,
                    NameNodeOperations.LOGIN,
                    NameNodeOperations.ASK_PEER))
            .handle(
                NameNodeOperations.PING, (request, session) -> new Ping.Response(request.data()))
            .handle(
                NameNodeOperations.LEAD,
                (request, session) -> {
                  if (request.peer() != Lead.NONE && !session.caller().may(Right.OPERATE)) {
                    throw ErrorCode.ACCESS_DENIED.exception("to move the lead is for operators");
                  }
                  return leadership.lead(request);
                })
            .handle(NameNodeOperations.ASK_PEER, (request, session) -> leadership.ask(request))
            .onClosed(session -> closed(namenode, logins, session))
            .onServed(counting())
            .reportSlow(
                namenode.options().slowNanos(),
                new RateLimitedLog(SLOW, namenode.clock(), 10),
                namenode.clock());
    if (log != null) {
      builder.commit(log.log(), log.log()::refusal);
    }
    addChanges(builder, namenode, namenode.rules());
    addQueries(builder, namenode);
    addDatanodes(builder, namenode.rules().datanodes(), namenode.datanodes());
    addShares(builder, namenode.rules().shares());
    NameNodeDump dump = new NameNodeDump(namenode, builder::counters, transportStatistics);
    return builder
        .handleLong(
            NameNodeOperations.USAGE,
            (request, session) ->
                usage(
                    namenode, log, builder::counters, transportStatistics.get(), session.caller()))
        .handleLong(
            NameNodeOperations.DUMP,
            (request, session) -> dump.page(request.cursor(), session.caller()))
        .build();
  }

  /** Operations that change nodes: a rule for each. */
  private static void addChanges(
      OperationServer.Builder builder, NameNode namenode, NameNode.Rules rules) {
    builder
        .handle(
            NameNodeOperations.CREATE,
            (batch, index) -> {
              NewNode made = attachment(batch.session()).made();
              made.readCreate(batch.buffer(), batch.bodyOffset(index));
              return made;
            },
            (request, batch, index, responses) ->
                NewNodeAnswers.created(
                    create(request, batch.session()),
                    request.token() != 0,
                    batch.correlationId(index),
                    responses),
            new SpaceWork<NewNode>(namenode, NewNode::valueLength, true))
        .handle(
            NameNodeOperations.PUT,
            (batch, index) -> {
              NewNode made = attachment(batch.session()).made();
              made.readPut(batch.buffer(), batch.bodyOffset(index));
              return made;
            },
            (request, batch, index, responses) ->
                NewNodeAnswers.put(
                    create(request, batch.session()),
                    request.token() != 0,
                    batch.correlationId(index),
                    responses),
            new SpaceWork<NewNode>(namenode, NewNode::valueLength, true))
        .handle(
            NameNodeOperations.STAGE,
            (batch, index) -> {
              NewNode made = attachment(batch.session()).made();
              made.readStage(batch.buffer(), batch.bodyOffset(index));
              return made;
            },
            (request, batch, index, responses) ->
                NewNodeAnswers.put(
                    create(request, batch.session()), true, batch.correlationId(index), responses),
            new SpaceWork<NewNode>(namenode, NewNode::valueLength, true))
        .handle(
            NameNodeOperations.SET_SIZE,
            (request, session) ->
                new SetSize.Response(
                    rules
                        .size()
                        .setSize(
                            request, session.caller(), attachment(session).activity()::committed)),
            new SpaceWork<SetSize.Request>(namenode, request -> request.value().length(), false))
        .handleOrHold(
            NameNodeOperations.OPERATE,
            (request, session) -> {
              if (rules.limits().isFor(request)) {
                SessionUser user = new SessionUser(namenode.users(), session.caller());
                return rules
                    .limits()
                    .operate(
                        request,
                        () ->
                            rules
                                .compound()
                                .operate(
                                    request, namenode.createRule(user)::createIn, bytes -> {}));
              }
              ClientSession client = attachment(session);
              Operate.Response response =
                  rules
                      .compound()
                      .operate(request, client.creates()::createIn, client.activity()::committed);
              return namenode.tree().spread().owned().containsKey(response.id())
                  ? rules.spread().operated(request, response)
                  : Outcome.now(response);
            },
            new SpaceWork<Operate.Request>(namenode, request -> 0, true))
        .handleOrHold(
            NameNodeOperations.CREATE_SPREAD,
            (request, session) -> {
              SessionUser user = new SessionUser(namenode.users(), session.caller());
              return rules
                  .spread()
                  .create(request, session.caller(), namenode.createRule(user)::create);
            })
        .handleOrHold(
            NameNodeOperations.REMOVE,
            (request, session) -> rules.spread().remove(request),
            Remove.Request::recursive)
        .handle(
            NameNodeOperations.RENAME,
            (request, session) ->
                new Rename.Response(
                    rules
                        .rename()
                        .rename(
                            request.source(),
                            request.target(),
                            request.replace(),
                            session.caller())),
            new SpaceWork<Rename.Request>(namenode, request -> 0, false))
        .handleOrHold(
            NameNodeOperations.SET_ATTRIBUTES,
            (request, session) -> {
              NodeInfo node = rules.attributes().setAttributes(request, attachment(session).user());
              SetAttributes.Response response = new SetAttributes.Response(node);
              return node.isSpread()
                  ? rules.spread().attributesChanged(node.id(), response)
                  : Outcome.now(response);
            })
        .handle(
            NameNodeOperations.EXTEND,
            (request, session) -> rules.extend().extend(request, session.caller()),
            new SpaceWork<Extend.Request>(namenode, request -> 0, true))
        .handle(
            NameNodeOperations.REPLACE_EXTENT,
            (request, session) -> rules.replace().replace(request, session.caller()),
            new SpaceWork<ReplaceExtent.Request>(namenode, request -> 0, true))
        .handle(
            NameNodeOperations.BEGIN_MOVE,
            (request, session) -> rules.move().begin(request, session.caller()),
            new SpaceWork<BeginMove.Request>(namenode, request -> 0, true))
        .handle(
            NameNodeOperations.COMMIT_MOVE,
            (request, session) -> rules.move().commit(request, session.caller()))
        .handle(
            NameNodeOperations.ACQUIRE_LEASE,
            (request, session) -> rules.leases().acquire(request, session.caller()))
        .handleLong(
            NameNodeOperations.RENEW_LEASES,
            (request, session) -> rules.leases().renew(request, session.caller()),
            request -> request.leases().size() > FEW_LEASES);
  }

  /** Operations that only read. */
  private static void addQueries(OperationServer.Builder builder, NameNode namenode) {
    ExtentFinder extents = new ExtentFinder(namenode.tree(), namenode.clock());
    NodeLister lister = new NodeLister(namenode.tree(), namenode.locks());
    builder
        .handleBatch(
            NameNodeOperations.LOOKUP,
            (batch, from, to, responses) ->
                attachment(batch.session())
                    .lookups()
                    .serve(batch, from, to, responses, batch.session().caller()))
        .handleBatch(
            NameNodeOperations.FIND_EXTENTS,
            (batch, from, to, responses) ->
                extents.serve(
                    batch,
                    from,
                    to,
                    responses,
                    batch.session().caller(),
                    attachment(batch.session()).activity()))
        .handle(
            NameNodeOperations.OPERATE_READ,
            (request, session) -> {
              Operate.Response response =
                  namenode.rules().compound().operate(request, null, bytes -> {});
              attachment(session).activity().located(response.id(), bytesOf(response));
              return response;
            })
        .handleLong(
            NameNodeOperations.LOCATIONS,
            (request, session) -> extents.locations(request, session.caller()))
        .handleLong(
            NameNodeOperations.LIST_NODES,
            (request, session) -> lister.list(request, session.caller()))
        .handleLong(
            NameNodeOperations.NAMES, (request, session) -> namenode.users().from(request.number()))
        .handleLong(
            NameNodeOperations.EXAMINE,
            (request, session) -> NameNodeExamination.page(namenode, request, session.caller()))
        .handleLong(
            NameNodeOperations.LIST_EXTENTS,
            (request, session) -> NameNodeExtents.page(namenode, request, session.caller()))
        .handleLong(
            NameNodeOperations.LIST_SHARES,
            (request, session) -> namenode.standings().list(request))
        .handleLong(
            NameNodeOperations.REPORT_ACTIVITY,
            (request, session) -> NameNodeActivity.page(namenode, request, session.caller()));
  }

  /** Operations of datanodes, and about them. */
  private static void addDatanodes(
      OperationServer.Builder builder, DatanodeRule datanodes, DatanodeReports reports) {
    builder
        .handle(
            NameNodeOperations.REGISTER_DATANODE,
            (request, session) -> {
              RequestChecks.check(request.description());
              reports.requireOwn(reports.find(request.description().uuid()), session.caller());
              int id = datanodes.register(request, session.caller());
              datanodes.cameBy(id, attachment(session), session.caller());
              return new RegisterDatanode.Response(id);
            })
        .handleLong(
            NameNodeOperations.REGISTER_REGION,
            (request, session) -> {
              reports.requireOwn(reports.find(request.datanode()), session.caller());
              return new RegisterRegion.Response(datanodes.register(request, session.caller()));
            })
        .handle(
            NameNodeOperations.KEEP_ALIVE,
            (request, session) -> {
              reports.requireOwn(reports.find(request.datanode()), session.caller());
              datanodes.haveCutOff(request);
              datanodes.served(request);
              KeepAlive.Response answer = datanodes.keepAlive(request, session.caller());
              // Only now: another process may have its place.
              datanodes.cameBy(request.datanode(), attachment(session), session.caller());
              return answer;
            })
        .handle(
            NameNodeOperations.REMOVE_DATANODE,
            (request, session) -> datanodes.remove(request, session.caller()))
        .handle(
            NameNodeOperations.DRAIN_DATANODE,
            (request, session) -> datanodes.drain(request, session.caller()))
        .handle(
            NameNodeOperations.ANNOUNCE_SPACE, (request, session) -> datanodes.announce(request))
        .handleLong(
            NameNodeOperations.DESCRIBE_DATANODE,
            (request, session) -> reports.describe(request, session.caller()))
        .handleLong(
            NameNodeOperations.LIST_DATANODES,
            (request, session) ->
                new ListDatanodes.Response(
                    reports.list(request.after(), ListDatanodes.MAX_IDS, session.caller())))
        .handleLong(
            NameNodeOperations.REPORT_DATANODES,
            (request, session) -> reports.page(request.after(), session.caller()));
  }

  /** Operations of other namenodes. */
  private static void addShares(OperationServer.Builder builder, ShareRule shares) {
    builder
        .handle(NameNodeOperations.SET_SHARE, (request, session) -> shares.set(request))
        .handleLong(NameNodeOperations.CHECK_SHARES, (request, session) -> shares.check(request))
        .handle(NameNodeOperations.LEND_QUOTA, (request, session) -> shares.lend(request));
  }

  /** The bytes that a compound operation has read. */
  private static long bytesOf(Operate.Response response) {
    long bytes = 0;
    for (StepResult result : response.results()) {
      bytes += result.data().length();
    }
    return bytes;
  }

  private static OperationServer.RunListener counting() {
    Kind[] kinds = NameNodeActivity.kinds();
    return (session, operation, requests) -> {
      ClientSession client = attachment(session);
      // A refused handshake has none.
      if (client != null) {
        client.activity().served(kinds[operation], requests);
      }
    };
  }

  /**
   * Makes space for a request as long as there is work that may help. Memory for a small value is
   * made before the request is served, because a refusal would reach the writer. Space is made
   * after the request has found none, since it has taken nothing then; so is room in a quota, where
   * removed nodes are still to be taken apart.
   *
   * @param valueLength bytes of a request's small value, 0 for none
   * @param allocates whether the request allocates space
   */
  private record SpaceWork<Q>(NameNode namenode, ToIntFunction<Q> valueLength, boolean allocates)
      implements SingleHandler.Work<Q> {
    @Override
    public boolean isNeeded(Q request, CrailException refusal) {
      int length = valueLength.applyAsInt(request);
      return (length > 0 && !namenode.smallValues().needsNoMore(length))
          || (refusal != null
              && (refusal.code() == ErrorCode.QUOTA_EXCEEDED
                  || (allocates && isShortage(refusal.code()))));
    }

    private static boolean isShortage(ErrorCode code) {
      return code == ErrorCode.NO_SPACE || code == ErrorCode.SPACE_TO_COME;
    }

    @Override
    public boolean doSome() {
      return namenode.makeSpace();
    }
  }

  /** Opens connections. */
  private record Greeter(NameNode namenode, Logins logins) implements LoginHandler.Host {
    @Override
    public void check(Hello.Request request) throws CrailException {
      NameNode.check(request);
    }

    @Override
    public Hello.Response welcome(Claim claim, Caller caller, Session session)
        throws CrailException {
      Hello.Response description = namenode.describe();
      SessionUser user = new SessionUser(namenode.users(), caller);
      ClientActivity activity =
          namenode.activity().begin(caller.client(), claim.host(), caller.principal().name());
      if (caller.principal().role() == Principal.Role.CLIENT) {
        namenode.activity().list(activity);
      }
      long patience = TimeUnit.MILLISECONDS.toNanos(claim.patienceMillis());
      session.remember(
          namenode.replies().opened(caller.principal(), caller.client(), claim.peer(), patience));
      session.attach(ClientSession.of(namenode, user, activity));
      // Last: from here on, the end of the connection ends it.
      logins.begin(caller);
      return description;
    }
  }

  private static void closed(NameNode namenode, Logins logins, Session session) {
    if (session.replies() != null) {
      namenode.replies().closed(session.replies());
    }
    ClientSession attachment = attachment(session);
    if (attachment == null) {
      return;
    }
    namenode.activity().end(attachment.activity());
    logins.end(attachment.user().caller());
    if (attachment.user().caller().principal().role() == Principal.Role.DATANODE) {
      namenode.rules().datanodes().ended(attachment);
    }
  }

  private static Usage.Response usage(
      NameNode namenode,
      NameNodeLog log,
      Function<Operation<?, ?>, OperationCounters> counts,
      Map<String, Long> transport,
      Caller caller) {
    long requests = 0;
    long nanos = 0;
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      OperationCounters counters = counts.apply(operation);
      requests += counters.count();
      nanos += counters.nanos();
    }
    return namenode.usage(
        requests,
        nanos,
        transport.getOrDefault(ConnectionScheduler.WAITED, 0L),
        log == null ? List.of() : List.of(log.standing().usage()),
        caller);
  }

  private static Node create(NewNode request, Session session) throws CrailException {
    ClientSession client = attachment(session);
    Node node = client.creates().create(request);
    client.activity().committed(node.size());
    return node;
  }

  private static ClientSession attachment(Session session) {
    return (ClientSession) session.attachment();
  }
}
