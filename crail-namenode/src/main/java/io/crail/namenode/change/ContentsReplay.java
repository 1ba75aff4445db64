/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.LeaseWriter;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SpaceWriter;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The part of {@link Replay} that makes bytes, writers and extras of nodes. For one thread. */
final class ContentsReplay {
  private static final long NO_CLIENT = 0;

  private final State state;
  private final Tree tree;
  private final Applier applier;
  private final TreeWriter nodes;
  private final SpaceWriter space;
  private final LeaseWriter<Node> leases;
  private final int namenodes;

  /** Staged nodes without a writer: as a rule the next records end them. */
  private final Set<Node> abandoned = new HashSet<>();

  private long skipped;

  ContentsReplay(State state, Applier applier, int namenodes) {
    this.namenodes = namenodes;
    this.state = state;
    this.tree = state.tree();
    this.applier = applier;
    this.nodes = new TreeWriter(tree);
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.leases = new LeaseWriter<>(state.leases());
  }

  /** Refuses a record that does not fit those before it. */
  static void require(boolean holds, Change change, String why) throws CrailException {
    if (!holds) {
      throw ErrorCode.INTERNAL.exception(change + ": " + why);
    }
  }

  /** As the other method; the number belongs to the reason. */
  static void require(boolean holds, Change change, String why, long number) throws CrailException {
    if (!holds) {
      throw ErrorCode.INTERNAL.exception(change + ": " + why + number);
    }
  }

  /**
   * Skips what a request did to a node after a container above it was removed.
   *
   * @param id that of the node that is not there
   * @throws CrailException with {@link ErrorCode#INTERNAL} when it never was
   */
  void skip(long id, Change change) throws CrailException {
    boolean isOwn = Long.remainderUnsigned(id - tree.rootId(), namenodes) == 0;
    require(!isOwn || id <= tree.lastId(), change, "there was no node ", id);
    skipped++;
  }

  /** How many records had no effect. */
  long skipped() {
    return skipped;
  }

  /** Ends a staged node that has become a part of what is below a removed container. */
  void endStaged(long id, long millis) {
    Node node = tree.find(id);
    if (node != null && node.isStaged()) {
      endStaged(node, millis);
    }
  }

  /** Ends a staged node. */
  void endStaged(Node node, long millis) {
    abandoned.remove(node);
    applier.endStaged(node, millis);
  }

  /** Notes what a staged node is without, if it has no writer. */
  void noteStaged(Node node) {
    if (node.lease() == null) {
      abandoned.add(node);
    }
  }

  /**
   * Lets staged nodes without a writer end. The record that ended the lease of one came from the
   * same request as that of its end, and the log has ended between the two. Its end needs a record,
   * since a later one says who gets its space. So it gets a lease that runs out, of no client.
   */
  void endAbandoned() {
    for (Node node : abandoned) {
      if (node.isStaged() && node.lease() == null && tree.find(node.id()) == node) {
        WriteLease<Node> lease = leases.restore(node, NO_CLIENT, node.id());
        leases.endLater(lease);
        nodes.lease(node, lease);
      }
    }
    abandoned.clear();
  }

  /**
   * Lets the next writers of all nodes continue in other space, since somebody may write behind the
   * bytes of one that has no writer here.
   */
  void sealAll() {
    tree.walk(
        0,
        Long.MAX_VALUE,
        node -> {
          seal(node);
          return true;
        });
  }

  private void seal(Node node) {
    NodeSpace own = node.space();
    int count = own == null || node.lease() != null ? 0 : own.count();
    Allocation last = count == 0 ? null : own.at(count - 1);
    if (last != null && last.fileOffset() < own.size() && own.size() < last.fileEnd()) {
      nodes.space(node, AllocationList.withLast(own, last.sealedAt(own.size())));
    }
  }

  /** Notes that a client may access space of a node that is not there. */
  void mayBeAccessed(Change.Contents contents) {
    Quarantine.Writer writer =
        contents.token() == 0
            ? null
            : new Quarantine.Writer(contents.id(), contents.token(), contents.client());
    for (Change.Held held : contents.extents()) {
      space.mayBeAccessed(held.extent(), held.allocated(), writer);
    }
  }

  /** Notes that a client may write to space that it was granted. The copy has to begin anew. */
  void mayBeAccessed(Change.Grant grant) {
    Change.Held held = grant.extent();
    space.mayBeAccessed(
        held.extent(),
        held.allocated(),
        grant.token() == 0
            ? null
            : new Quarantine.Writer(grant.grant(), grant.token(), grant.client()));
  }

  /** Takes from a quota what was admitted before; a negative number gives back. */
  static void take(Quota quota, long bytes, long names) {
    if (quota != null) {
      quota.give(-bytes, -names);
    }
  }

  /** The extras that a record says; null for none. */
  NodeExtras extras(Change.Contents contents, Node node) throws CrailException {
    boolean isExtended = (contents.flags() & NodeInfo.EXTENDED) != 0;
    boolean has = contents.attributes() != Change.Contents.NO_EXTRAS;
    require(has == isExtended, contents, "flags ", contents.flags());
    if (!has) {
      return null;
    }
    require(contents.extras().size() == 1, contents, "there are no extras");
    NodeExtras extras = contents.extras().get(0);
    if (contents.attributes() == Change.Contents.NEW_ATTRIBUTES) {
      return extras;
    }
    boolean isKnown = contents.attributes() == Change.Contents.SAME_ATTRIBUTES && node != null;
    require(isKnown, contents, "attributes ", contents.attributes());
    return extras.withAttributes(tree.extras().of(node).attributes());
  }

  /** The lease that a record says for a node that has none, or another one; null for none. */
  WriteLease<Node> lease(Change.Contents contents, Node node) throws CrailException {
    if (contents.token() == 0) {
      return null;
    }
    WriteLease<Node> lease = leases.restore(node, contents.client(), contents.token());
    // Whether it has asked for space is in no record.
    lease.spaceInUse();
    if (contents.ending()) {
      leases.endLater(lease);
    }
    return lease;
  }

  void apply(Change.Contents contents) throws CrailException {
    Node node = tree.find(contents.id());
    if (node == null) {
      // It was in a removed container, or was replaced. Its writer does not know that yet.
      skip(contents.id(), contents);
      mayBeAccessed(contents);
      endStaged(contents.replaces(), contents.modifiedMillis());
      return;
    }
    NodeExtras extras = extras(contents, node);
    Node other = contents.replaces() == 0 ? null : tree.find(contents.replaces());
    require(other != null || contents.replaces() == 0, contents, "the other node is not there");
    if (other != null && other.isStaged()) {
      append(node, other, contents, extras);
      return;
    }
    if (extras != null) {
      state.budget().add(extras.footprint());
      nodes.extras(node, extras);
    }
    WriteLease<Node> lease = node.lease();
    NodeSpace former = node.space();
    int same = sameListed(contents, former);
    List<Allocation> freed = same >= 0 || former == null ? List.of() : new ArrayList<>();
    NodeSpace next =
        same >= 0 ? grown(contents, node, former, same) : space(contents, former, freed);
    if (same >= 0) {
      nodes.space(node, next);
    } else if (next != null || former != null) {
      SmallBytes before = former == null ? null : former.small();
      take(Container.quotaOf(node), Quota.bytesOf(next) - Quota.bytesOf(former), 0);
      nodes.space(node, next);
      if (before != null && (next == null || next.small() != before)) {
        space.succeed(before, next == null ? null : next.small());
      }
      Quarantine.Writer writer = lease == null ? null : Applier.writer(lease);
      if (contents.moved() == Change.Contents.NOT_MOVED) {
        freed.forEach(extent -> space.release(extent, 0, writer, false));
      } else {
        freed.forEach(space::releaseMoved);
      }
    }
    if (lease == null || lease.token() != contents.token()) {
      if (lease != null) {
        leases.end(lease);
        cutOff(former, node.space(), lease);
      }
      nodes.lease(node, lease(contents, node));
    } else if (contents.ending() && !lease.isEnding()) {
      leases.endLater(lease);
    }
    nodes.flags(node, contents.flags());
    nodes.attributes(node, node.attributes(), contents.modifiedMillis(), node.accessedMillis());
    if (node.isStaged()) {
      noteStaged(node);
    }
    if (other != null) {
      require(tree.pending().of(other) == node, contents, "it replaces another node");
      applier.takePlace(node, other);
    }
  }

  /** If a lease ran out and the last extent was sealed then, its holder must not write there. */
  private void cutOff(NodeSpace former, NodeSpace next, WriteLease<Node> lease) {
    int last = next == null ? -1 : next.count() - 1;
    boolean isKept = last >= 0 && former != null && last < former.count();
    if (isKept && next.end() < former.at(last).fileEnd()) {
      space.cutOff(next.at(last), lease.client().clientId());
    }
  }

  /** The extents of a staged node go behind those of a node. */
  private void append(Node node, Node staged, Change.Contents contents, NodeExtras extras)
      throws CrailException {
    require(extras != null, contents, "there are no extras");
    long more = contents.size() - node.size();
    NodeSpace extents = staged.space();
    require(more > 0 && extents != null && extents.end() >= more, contents, "too long");
    state.budget().add(extras.footprint());
    applier.append(
        node,
        staged,
        more,
        AllocationList.prefix(extents, extents.indexOf(more - 1) + 1, more),
        extras,
        contents.modifiedMillis());
    requireWhole(contents, node.space());
    state.budget().add(extras.footprint());
    nodes.extras(node, extras);
    nodes.flags(node, contents.flags());
  }

  /**
   * How many of the listed extents a node has already, if all that it has stays: then any others
   * are behind it. So a record costs as much as it lists, however long a file is; -1 otherwise.
   */
  private static int sameListed(Change.Contents contents, NodeSpace former) {
    int count = former == null ? 0 : former.count();
    if (count == 0
        || former.small() != null
        || contents.value() != Change.Contents.NO_VALUE
        || former.at(count - 1).fileOffset() >= contents.end()) {
      return -1;
    }
    List<Change.Held> listed = contents.extents();
    int first = former.indexOf(contents.from());
    int same = 0;
    while (first + same < count && former.at(first + same).fileOffset() < contents.to()) {
      if (same == listed.size()
          || !Change.Held.of(former.at(first + same)).equals(listed.get(same))) {
        return -1;
      }
      same++;
    }
    return same == listed.size() || first + same == count ? same : -1;
  }

  /** The space of a node that gets the listed extents behind those that it has. */
  private NodeSpace grown(Change.Contents contents, Node node, NodeSpace former, int same)
      throws CrailException {
    NodeSpace next = former;
    long more = 0;
    for (int i = same; i < contents.extents().size(); i++) {
      Allocation extent = claim(contents, contents.extents().get(i));
      requireAt(next.end(), extent, contents);
      next = space.append(next, extent);
      more += extent.allocatedLength();
    }
    requireWhole(contents, next);
    space.commit(next, contents.size());
    take(Container.quotaOf(node), more, 0);
    return next;
  }

  private Allocation claim(Change.Contents contents, Change.Held held) throws CrailException {
    Allocation claimed = space.claim(held.extent(), held.allocated());
    if (claimed == null) {
      throw ErrorCode.INTERNAL.exception(contents + ": " + held.extent() + " is not free");
    }
    return claimed;
  }

  /**
   * The space of a node after a change.
   *
   * @param former its space before; null for none
   * @param freed gets the extents that it has no longer; null where it had none
   */
  NodeSpace space(Change.Contents contents, NodeSpace former, List<Allocation> freed)
      throws CrailException {
    if (former == null) {
      return first(contents);
    }
    List<Allocation> extents = new ArrayList<>();
    Map<Place, Allocation> replaced = new LinkedHashMap<>();
    for (int i = 0; i < former.count(); i++) {
      Allocation extent = former.at(i);
      boolean isListed = extent.fileEnd() > contents.from() && extent.fileOffset() < contents.to();
      boolean isKept = !isListed && extent.fileOffset() < contents.end();
      if (isKept) {
        extents.add(extent);
      } else {
        replaced.put(extent.place(), extent);
      }
    }
    // Extents at the same place are kept, though they may hold fewer bytes.
    List<Change.Held> taken = new ArrayList<>();
    for (Change.Held held : contents.extents()) {
      Allocation same = replaced.get(held.extent().place());
      if (same == null || same.allocatedLength() != held.allocated()) {
        taken.add(held);
      } else {
        replaced.remove(held.extent().place());
        extents.add(same.extent().equals(held.extent()) ? same : space.same(same, held.extent()));
      }
    }
    for (Change.Held held : taken) {
      extents.add(claim(contents, held));
    }
    extents.sort((one, two) -> Long.compare(one.fileOffset(), two.fileOffset()));
    if (freed != null) {
      freed.addAll(replaced.values());
    }
    return whole(contents, former, extents);
  }

  /** The space of a node that has had none. */
  private NodeSpace first(Change.Contents contents) throws CrailException {
    int count = contents.extents().size();
    List<Allocation> extents = count == 0 ? List.of() : new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      extents.add(claim(contents, contents.extents().get(i)));
    }
    return whole(contents, null, extents);
  }

  private NodeSpace whole(Change.Contents contents, NodeSpace former, List<Allocation> extents)
      throws CrailException {
    long end = 0;
    for (int i = 0; i < extents.size(); i++) {
      Allocation extent = extents.get(i);
      requireAt(end, extent, contents);
      end = extent.fileEnd();
    }
    NodeSpace next = space.restored(value(contents, former), extents, contents.size());
    requireWhole(contents, next);
    return next;
  }

  /** Refuses an extent that does not follow the one before it, or holds more than its space. */
  private static void requireAt(long end, Allocation extent, Change.Contents contents)
      throws CrailException {
    boolean fits =
        extent.fileOffset() == end
            && extent.length() > 0
            && extent.length() <= extent.allocatedLength();
    require(fits, contents, "an extent does not follow ", end);
  }

  /** Refuses a size or an end that the bytes of a node do not have. */
  static void requireWhole(Change.Contents contents, NodeSpace space) throws CrailException {
    long end = space == null ? 0 : space.end();
    SmallBytes small = space == null ? null : space.small();
    boolean isSize =
        small == null
            ? contents.size() >= 0 && contents.size() <= end
            : contents.size() == small.length();
    require(isSize && contents.end() == end, contents, "its bytes end with ", end);
  }

  private SmallBytes value(Change.Contents contents, NodeSpace former) throws CrailException {
    SmallBytes before = former == null ? null : former.small();
    byte[] bytes = contents.bytes().bytes();
    switch (contents.value()) {
      case Change.Contents.NO_VALUE:
        return null;
      case Change.Contents.SAME_VALUE:
        require(before != null, contents, "there is no value");
        return before;
      case Change.Contents.NEW_VALUE:
        break;
      case Change.Contents.LONGER_VALUE:
        long kept = contents.size() - bytes.length;
        boolean has = before != null && kept >= 0 && kept <= before.length();
        require(has, contents, "there is no such value");
        byte[] all = Arrays.copyOf(before.bytes(), (int) contents.size());
        System.arraycopy(bytes, 0, all, (int) kept, bytes.length);
        bytes = all;
        break;
      default:
        throw ErrorCode.INTERNAL.exception(contents + ": value " + contents.value());
    }
    require(bytes.length > 0, contents, "a value without bytes");
    SmallBytes value = space.restoredValue(bytes);
    if (value == null) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "there is less memory for small values than the namenode had before");
    }
    return value;
  }
}
