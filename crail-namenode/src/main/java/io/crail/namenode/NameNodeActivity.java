/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.namenode.activity.Activity;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.activity.ClientActivity.Kind;
import io.crail.namenode.activity.HotNodes;
import io.crail.namenode.tree.Node;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What clients do, in pages. Stateless. */
final class NameNodeActivity {
  /** The most connections that a page looks at, since other requests wait while it is made. */
  static final int MOST_CONNECTIONS = 1024;

  private static final Set<Operation<?, ?>> LOOKUPS =
      Set.of(
          NameNodeOperations.LOOKUP,
          NameNodeOperations.FIND_EXTENTS,
          NameNodeOperations.LIST_NODES,
          NameNodeOperations.LOCATIONS,
          NameNodeOperations.OPERATE_READ);

  private static final Set<Operation<?, ?>> CHANGES =
      Set.of(
          NameNodeOperations.CREATE,
          NameNodeOperations.CREATE_SPREAD,
          NameNodeOperations.PUT,
          NameNodeOperations.STAGE,
          NameNodeOperations.OPERATE,
          NameNodeOperations.SET_SIZE,
          NameNodeOperations.EXTEND,
          NameNodeOperations.REPLACE_EXTENT,
          NameNodeOperations.ACQUIRE_LEASE,
          NameNodeOperations.BEGIN_MOVE,
          NameNodeOperations.COMMIT_MOVE,
          NameNodeOperations.SET_ATTRIBUTES,
          NameNodeOperations.RENAME,
          NameNodeOperations.REMOVE);

  private NameNodeActivity() {}

  /** What an operation counts as. */
  static Kind kind(Operation<?, ?> operation) {
    if (LOOKUPS.contains(operation)) {
      return Kind.LOOKUP;
    }
    return CHANGES.contains(operation) ? Kind.CHANGE : Kind.OTHER;
  }

  /** The same by the number of the operation. */
  static Kind[] kinds() {
    int most = NameNodeOperations.all().keySet().stream().mapToInt(each -> each).max().orElse(0);
    Kind[] kinds = new Kind[most + 1];
    NameNodeOperations.all().forEach((number, operation) -> kinds[number] = kind(operation));
    return kinds;
  }

  /**
   * One page.
   *
   * @param caller who asks
   */
  static ReportActivity.Response page(
      NameNode namenode, ReportActivity.Request request, Caller caller) {
    return new ReportActivity.Response(
        namenode.clock().nanoTime(),
        clients(namenode.activity(), request.after()),
        nodes(namenode, Math.min(request.nodes(), ReportActivity.MAX_NODES)));
  }

  /**
   * A page of clients. One with more connections than a page looks at is shown with those that it
   * has looked at.
   */
  private static List<ReportActivity.Client> clients(Activity activity, long after) {
    List<ReportActivity.Client> page = new ArrayList<>();
    Sum sum = null;
    int length = 0;
    int looked = 0;
    for (ClientActivity each : activity.after(after)) {
      boolean isNext = sum == null || sum.first.clientId() != each.clientId();
      if (isNext && sum != null) {
        ReportActivity.Client client = sum.client();
        length += client.wireLength();
        if (length > ReportActivity.MAX_CLIENTS_LENGTH) {
          return page;
        }
        page.add(client);
      }
      if (looked++ == MOST_CONNECTIONS) {
        if (isNext || !page.isEmpty()) {
          return page;
        }
        break;
      }
      sum = isNext ? new Sum(each) : sum;
      sum.add(each);
    }
    if (sum != null && length + sum.client().wireLength() <= ReportActivity.MAX_CLIENTS_LENGTH) {
      page.add(sum.client());
    }
    return page;
  }

  /** The connections of a client together. */
  private static final class Sum {
    private final ClientActivity first;
    private final Map<Kind, Long> requests = new EnumMap<>(Kind.class);
    private int connections;
    private long located;
    private long committed;

    Sum(ClientActivity first) {
      this.first = first;
    }

    void add(ClientActivity connection) {
      connections++;
      for (Kind kind : Kind.values()) {
        requests.merge(kind, connection.requests(kind), Long::sum);
      }
      located += connection.locatedBytes();
      committed += connection.committedBytes();
    }

    ReportActivity.Client client() {
      return new ReportActivity.Client(
          first.clientId(),
          connections,
          requests.get(Kind.LOOKUP),
          requests.get(Kind.CHANGE),
          requests.get(Kind.OTHER),
          located,
          committed,
          first.user(),
          first.host());
    }
  }

  /** The nodes that are looked up most; those that are gone are left out. */
  private static List<ReportActivity.Node> nodes(NameNode namenode, int most) {
    List<ReportActivity.Node> nodes = new ArrayList<>();
    if (most == 0) {
      return nodes;
    }
    for (HotNodes.Hot each : namenode.activity().hotNodes().hottest()) {
      Node node = namenode.tree().find(each.id());
      if (node != null && !namenode.tree().isDetached(node)) {
        Utf8 path = Utf8.of(node.path());
        // During a rename it may be neither the old path nor the new one, and too long.
        if (path.length() <= NodePath.MAX_LENGTH) {
          nodes.add(new ReportActivity.Node(each.id(), Math.round(1000 * each.perSecond()), path));
        }
      }
      if (nodes.size() == most) {
        break;
      }
    }
    return nodes;
  }
}
