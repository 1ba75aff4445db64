/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.error.CrailException;
import io.crail.compound.Lifetime;
import io.crail.namenode.NameNode;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Names;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.UserAttribute;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The metadata as the records of changes say it: only what they contain, and what their
 * documentation says that follows. Each record becomes bytes and back first. If a part of the state
 * changes without a record, or a record comes in the wrong order, the model differs from the
 * namenode.
 */
final class ChangeModel implements ChangeSink {
  private static final int NO_FLAGS = 0;

  private static final List<String> STATES = List.of("active", "draining", "dead", "forgotten");

  /** What a record says of a small value. */
  private static final List<String> VALUES = List.of("", " value", " moving", " longer");

  private static final List<String> ALL_KINDS =
      List.of(
          "Attributes",
          "Contents",
          "Contents joined",
          "Contents longer",
          "Contents moved",
          "Contents moved back",
          "Contents moving",
          "Contents value",
          "Contents whole",
          "Datanode active",
          "Datanode dead",
          "Datanode draining",
          "Datanode ending",
          "Datanode forgotten",
          "Grant",
          "Host",
          "LentRegion",
          "LimitChange",
          "Link",
          "Link in place",
          "Link named",
          "Link named in place",
          "Link staged",
          "Link to come",
          "Rename",
          "Rename heir",
          "Rename over",
          "ReserveChange",
          "Unlink",
          "User");

  /** A node of the model. */
  private static final class Entry {
    private long parent;
    private String name = "";
    private int type;
    private int storageClass;
    private String host = "";
    private String owner = "";
    private String group = "";
    private int permissions;
    private long modified;
    private long accessed;
    private int flags = NO_FLAGS;
    private long size;
    private long token;
    private long client;
    private boolean ending;
    private SmallValue value = SmallValue.NONE;
    private List<NodeExtras> extras = List.of();
    private String limits = "";
    private final TreeMap<Long, Change.Held> extents = new TreeMap<>();
    // The node that is to replace this one, and the one that this is to replace.
    private long heir;
    private long present;
    // No name leads to it.
    private boolean isStaged;
    private final List<Long> children = new ArrayList<>();

    @Override
    public String toString() {
      return String.join(
          " ",
          name,
          "in " + parent,
          "type " + type,
          "class " + storageClass,
          "host " + host,
          "of " + owner + " and " + group,
          "permissions " + permissions,
          "modified " + modified,
          "accessed " + accessed,
          "flags " + flags,
          "size " + size,
          "lease " + token + " of " + client + (ending ? " ending" : ""),
          "value " + value.hashCode(),
          "extras " + extras,
          "limits " + limits,
          "extents " + extents.values(),
          "children " + children);
    }
  }

  /** A datanode of the model. */
  private static final class Lender {
    private SpaceChange.Datanode datanode;
    private final TreeMap<Integer, SpaceChange.LentRegion> regions = new TreeMap<>();

    @Override
    public String toString() {
      List<Region> lent = regions.values().stream().map(SpaceChange.LentRegion::region).toList();
      return text(datanode.state(), datanode.stopped(), datanode.description(), lent);
    }

    static String text(
        int state,
        boolean stopped,
        RegisterDatanode.Description description,
        List<Region> regions) {
      return "state " + state + (stopped ? " stopped " : " ") + description + " lends " + regions;
    }
  }

  private final Map<Long, Entry> entries = new HashMap<>();
  // Those whose lifetime has been put off by accesses.
  private final Set<Long> accessed = new HashSet<>();
  // By slot.
  private final Map<Integer, SpaceChange.User> users = new TreeMap<>();
  private final Map<Integer, String> hosts = new TreeMap<>(Map.of(HostNames.ANY, ""));
  private final Map<Integer, Lender> lenders = new TreeMap<>();
  // Places that were granted for a copy, and former places of what was moved.
  private final Set<Place> granted = new HashSet<>();
  private final Set<Place> moved = new HashSet<>();
  // What was below a removed container may still change until it is taken apart, without effect.
  private final Set<Long> gone = new HashSet<>();
  private final Map<String, Integer> kinds = new TreeMap<>();

  /** How many records of each kind there were. */
  synchronized Map<String, Integer> kinds() {
    return kinds;
  }

  /** The kinds of which there were fewer. */
  synchronized List<String> kindsBelow(int least) {
    return ALL_KINDS.stream().filter(kind -> kinds.getOrDefault(kind, 0) < least).toList();
  }

  private String kind(Change change) {
    String name = change.getClass().getSimpleName();
    if (change instanceof Change.Link link) {
      if (link.whole() >= 0) {
        return name + (link.replaces() == 0 ? " staged" : " to come");
      }
      return name
          + (isStaged(link.contents().id()) ? " named" : "")
          + (link.replaces() == 0 ? "" : " in place");
    }
    if (change instanceof Change.Rename rename) {
      return name + (rename.replaces() == 0 ? "" : " over") + (rename.heir() == 0 ? "" : " heir");
    }
    if (change instanceof SpaceChange.Datanode datanode) {
      String state = STATES.get(datanode.state());
      return name + " " + (state.equals("draining") && datanode.stopped() ? "ending" : state);
    }
    if (change instanceof Change.Contents contents && contents.moved() != 0) {
      return name + (contents.moved() == Change.Contents.MOVED ? " moved" : " moved back");
    }
    if (change instanceof Change.Contents contents) {
      return contents.replaces() == 0
          ? name + VALUES.get(contents.value())
          : name + (isStaged(contents.replaces()) ? " joined" : " whole");
    }
    return name;
  }

  private boolean isStaged(long id) {
    Entry entry = entries.get(id);
    return entry != null && entry.isStaged;
  }

  /** Begins with a namenode that has only the root. */
  synchronized void begin(NameNode namenode) {
    entries.put(namenode.tree().rootId(), entry(namenode, namenode.tree().root(), names(namenode)));
  }

  @Override
  public synchronized void changed(Change change) {
    kinds.merge(kind(change), 1, Integer::sum);
    Change read = reread(change);
    if (!read.equals(change)) {
      throw new AssertionError(read + " instead of " + change);
    }
    if (concernsWhatIsGone(read)) {
      return;
    }
    switch (read.number()) {
      case 1 -> link((Change.Link) read);
      case 2 -> unlink((Change.Unlink) read);
      case 3 -> rename((Change.Rename) read);
      case 4 -> attributes((Change.Attributes) read);
      case 5 -> contents((Change.Contents) read);
      case 6 -> grant((Change.Grant) read);
      case 7 -> name((SpaceChange.User) read);
      case 8 -> name((SpaceChange.Host) read);
      case 9 -> datanode((SpaceChange.Datanode) read);
      case 10 -> region((SpaceChange.LentRegion) read);
      case 11 -> share((ShareChange) read);
      case 12 -> limit((LimitChange) read);
      case 13 -> reserve((ReserveChange) read);
      case 15 -> kept((SpaceChange.Kept) read);
      default -> throw new AssertionError(read);
    }
  }

  private void reserve(ReserveChange numbers) {
    entries.keySet().stream()
        .filter(id -> id > numbers.nodeIds())
        .forEach(
            id -> {
              throw new AssertionError("node " + id + " above " + numbers);
            });
  }

  private boolean concernsWhatIsGone(Change change) {
    if (change instanceof Change.Link link && gone.contains(link.parent())) {
      endStaged(link.contents().id());
      gone.add(link.contents().id());
      return true;
    }
    if (change instanceof Change.Contents contents && gone.contains(contents.id())) {
      endStaged(contents.replaces());
      return true;
    }
    return change instanceof LimitChange limit && gone.contains(limit.contents().id())
        || change instanceof Change.Unlink unlink && gone.contains(unlink.id())
        || change instanceof Change.Attributes attributes && gone.contains(attributes.id());
  }

  /** Staged bytes become a part of what is below a removed container. */
  private void endStaged(long id) {
    if (isStaged(id)) {
      end(id);
    }
  }

  private void name(SpaceChange.User user) {
    SpaceChange.User former = users.put(slot(user.user()), user);
    if (former != null) {
      for (Entry entry : entries.values()) {
        if (entry.owner.equals(former.name().toString())
            || entry.group.equals(former.name().toString())) {
          throw new AssertionError(former + " is replaced but has nodes");
        }
      }
    }
  }

  private static int slot(int user) {
    return user & (1 << Names.SLOT_BITS) - 1;
  }

  private String user(int number) {
    SpaceChange.User user = users.get(slot(number));
    if (user == null || user.user() != number) {
      throw new AssertionError("user " + number + " has no name, but " + user);
    }
    return user.name().toString();
  }

  private void name(SpaceChange.Host host) {
    if (hosts.put(host.host(), host.name().toString()) != null) {
      throw new AssertionError("named twice: " + host);
    }
  }

  private String host(int number) {
    String name = hosts.get(number);
    if (name == null) {
      throw new AssertionError("host " + number + " has no name");
    }
    return name;
  }

  private void datanode(SpaceChange.Datanode datanode) {
    host(datanode.host());
    if (datanode.state() == SpaceChange.Datanode.FORGOTTEN) {
      lenders.remove(datanode.id());
      for (Entry entry : entries.values()) {
        entry.extents.values().forEach(this::requireLent);
      }
    } else {
      lenders.computeIfAbsent(datanode.id(), id -> new Lender()).datanode = datanode;
    }
  }

  private void kept(SpaceChange.Kept kept) {
    host(kept.host());
    Lender lender = lenders.get(kept.id());
    lender.datanode =
        new SpaceChange.Datanode(
            kept.id(),
            kept.host(),
            lender.datanode.state(),
            lender.datanode.stopped(),
            kept.description());
  }

  private void region(SpaceChange.LentRegion lentRegion) {
    lenders.get(lentRegion.datanode()).regions.put(lentRegion.region().index(), lentRegion);
  }

  /** Space must be of a region that its datanode has lent. */
  private void requireLent(Change.Held held) {
    Place place = held.extent().place();
    Lender lender = lenders.get(place.datanode());
    SpaceChange.LentRegion region = lender == null ? null : lender.regions.get(place.region());
    if (region == null
        || place.generation() <= region.generation()
        || place.offset() + held.allocated() > region.region().length()) {
      throw new AssertionError(held + " is of " + lender);
    }
  }

  private void grant(Change.Grant grant) {
    requireLent(grant.extent());
    granted.add(grant.extent().extent().place());
  }

  @SuppressWarnings("unchecked")
  private static Change reread(Change change) {
    Codec<Change> codec;
    try {
      codec = (Codec<Change>) ChangeRecords.codec(change.number());
    } catch (CrailException e) {
      throw new AssertionError(change.toString(), e);
    }
    int length = codec.length(change);
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(change, bytes, 0);
    try {
      return codec.decode(bytes, 0, length);
    } catch (CrailException e) {
      throw new AssertionError(change.toString(), e);
    }
  }

  private Entry require(long id) {
    Entry entry = entries.get(id);
    if (entry == null) {
      throw new AssertionError("a change of node " + id + ", which is not there");
    }
    return entry;
  }

  private void link(Change.Link link) {
    Change.Contents contents = link.contents();
    Entry entry = new Entry();
    Entry before = entries.put(contents.id(), entry);
    if (before != null && !before.isStaged) {
      throw new AssertionError("linked twice: " + link);
    }
    entry.parent = link.parent();
    entry.name = link.name().toString();
    entry.type = link.type();
    entry.storageClass = link.storageClass();
    entry.host = host(link.host());
    attributes(entry, link.attributes());
    entry.accessed = link.accessedMillis();
    if (before != null) {
      entry.extents.putAll(before.extents);
    }
    contents(contents);
    Entry parent = require(link.parent());
    entry.isStaged = link.replaces() == 0 && link.whole() >= 0;
    if (entry.isStaged) {
      return;
    }
    if (link.replaces() == 0) {
      parent.children.add(contents.id());
      parent.modified = contents.modifiedMillis();
    } else if (link.whole() < 0) {
      replace(link.replaces(), contents.id());
    } else {
      Entry present = require(link.replaces());
      end(present.heir);
      present.heir = contents.id();
      entry.present = link.replaces();
    }
  }

  private void share(ShareChange share) {
    if (share.state() == SetShare.GONE) {
      end(share.id());
      return;
    }
    Entry entry = entries.get(share.id());
    if (entry == null) {
      entry = new Entry();
      entry.accessed = share.modifiedMillis();
      gone.remove(share.id());
      entries.put(share.id(), entry);
    }
    entry.type = share.type();
    entry.storageClass = share.storageClass();
    entry.host = host(share.host());
    attributes(entry, share.attributes());
    entry.flags = share.flags();
    entry.modified = share.modifiedMillis();
    if ((share.flags() & NodeInfo.EXTENDED) != 0) {
      Lifetime ofChildren = new Lifetime(share.childMillis(), share.childIdle());
      entry.extras = List.of(NodeExtras.NONE.withLifetimeOfChildren(ofChildren));
    }
  }

  private void limit(LimitChange limit) {
    require(limit.contents().id()).limits = limit.bytes() + " bytes " + limit.names() + " names";
    contents(limit.contents());
  }

  private void replace(long old, long id) {
    Entry entry = require(id);
    Entry parent = require(entry.parent);
    parent.children.set(parent.children.indexOf(old), id);
    parent.modified = entry.modified;
    end(old);
  }

  /** Ends a node with the one that was to replace it, and all that is below it. */
  private void end(long id) {
    if (id == 0) {
      return;
    }
    Entry entry = require(id);
    end(entry.heir);
    entries.remove(id);
    gone.add(id);
    entry.children.forEach(this::end);
  }

  private void unlink(Change.Unlink unlink) {
    Entry entry = require(unlink.id());
    if (entry.present != 0) {
      require(entry.present).heir = 0;
    } else if (!entry.isStaged) {
      Entry parent = require(entry.parent);
      parent.children.remove(unlink.id());
      parent.modified = unlink.millis();
    }
    end(unlink.id());
  }

  private void rename(Change.Rename rename) {
    Entry entry = require(rename.id());
    Entry from = require(entry.parent);
    Entry to = require(rename.parent());
    if (entry.heir != rename.heir()) {
      throw new AssertionError(rename + ", but the heir is " + entry.heir);
    }
    if (rename.heir() != 0) {
      Entry heir = require(rename.heir());
      heir.present = 0;
      entry.heir = 0;
      from.children.add(rename.heir());
      from.modified = heir.modified;
    }
    boolean stays = from == to && rename.replaces() == 0;
    if (!stays) {
      from.children.remove(rename.id());
      from.modified = rename.millis();
    }
    entry.parent = rename.parent();
    entry.name = rename.name().toString();
    if (rename.replaces() != 0) {
      to.children.set(to.children.indexOf(rename.replaces()), rename.id());
      end(rename.replaces());
    } else if (!stays) {
      to.children.add(rename.id());
    }
    to.modified = rename.millis();
  }

  private void attributes(Change.Attributes attributes) {
    Entry entry = require(attributes.id());
    attributes(entry, attributes.attributes());
    entry.modified = attributes.modifiedMillis();
    entry.accessed = attributes.accessedMillis();
  }

  private void attributes(Entry entry, long attributes) {
    entry.permissions = Node.permissions(attributes);
    entry.owner = user(Node.owner(attributes));
    entry.group = user(Node.group(attributes));
  }

  private void contents(Change.Contents contents) {
    Entry entry = require(contents.id());
    contents.extents().forEach(this::requireLent);
    if (contents.moved() != Change.Contents.NOT_MOVED) {
      Change.Held now = contents.extents().get(0);
      Change.Held before = entry.extents.get(now.extent().fileOffset());
      boolean isMoved = contents.moved() == Change.Contents.MOVED;
      if (!(isMoved ? granted : moved).remove(now.extent().place())) {
        throw new AssertionError("moved to unknown space: " + contents);
      }
      if (isMoved) {
        moved.add(before.extent().place());
      }
    }
    final long formerSize = entry.size;
    entry.size = contents.size();
    entry.modified = contents.modifiedMillis();
    entry.flags = contents.flags();
    entry.token = contents.token();
    entry.client = contents.client();
    entry.ending = contents.ending();
    entry
        .extents
        .values()
        .removeIf(
            held ->
                held.extent().fileOffset() >= contents.end()
                    || held.extent().fileEnd() > contents.from()
                        && held.extent().fileOffset() < contents.to());
    contents.extents().forEach(held -> entry.extents.put(held.extent().fileOffset(), held));
    entry.extras =
        switch (contents.attributes()) {
          case Change.Contents.NO_EXTRAS -> List.of();
          case Change.Contents.NEW_ATTRIBUTES -> contents.extras();
          default -> {
            NodeExtras extras = contents.extras().get(0);
            List<UserAttribute> before = entry.extras.get(0).attributes();
            yield List.of(extras.withAttributes(before));
          }
        };
    if (entry.extras.stream().anyMatch(extras -> extras.idleMillis() > 0)) {
      accessed.add(contents.id());
    }
    entry.value =
        switch (contents.value()) {
          case Change.Contents.SAME_VALUE -> entry.value;
          case Change.Contents.LONGER_VALUE -> {
            // Twice, since a record may be applied again.
            SmallValue once = joined(entry.value, contents);
            yield joined(once, contents);
          }
          default -> contents.bytes();
        };
    if (isStaged(contents.replaces())) {
      for (Change.Held held : require(contents.replaces()).extents.values()) {
        long at = held.extent().fileOffset() + formerSize;
        if (at < contents.end()) {
          Extent moved = new Extent(at, held.extent().length(), held.extent().place());
          entry.extents.put(at, new Change.Held(moved, held.allocated()));
        }
      }
      end(contents.replaces());
    } else if (contents.replaces() != 0) {
      require(contents.replaces()).heir = 0;
      entry.present = 0;
      replace(contents.replaces(), contents.id());
    }
  }

  private static SmallValue joined(SmallValue before, Change.Contents contents) {
    ByteBuffer all = ByteBuffer.allocate((int) contents.size());
    all.put(before.bytes(), 0, all.capacity() - contents.bytes().length());
    return SmallValue.of(all.put(contents.bytes().bytes()).array());
  }

  /** A node of the namenode in the form of the model. */
  private static Entry entry(NameNode namenode, Node node, Map<Integer, String> names) {
    Entry entry = new Entry();
    entry.parent = node.parent() == null ? 0 : node.parent().id();
    entry.name = Change.nameOf(node).toString();
    entry.type = node.typeNumber();
    entry.storageClass = node.storageClass();
    entry.owner = names.get(node.owner());
    entry.group = names.get(node.group());
    entry.permissions = node.permissions();
    entry.modified = node.modifiedMillis();
    entry.accessed = node.accessedMillis();
    entry.flags = node.flags();
    entry.size = node.size();
    WriteLease<Node> lease = node.lease();
    if (lease != null) {
      entry.token = lease.token();
      entry.client = lease.client().clientId();
      entry.ending = lease.isEnding();
    }
    NodeSpace space = node.space();
    for (int i = 0; space != null && i < space.count(); i++) {
      Change.Held held = Change.Held.of(space.at(i));
      entry.extents.put(held.extent().fileOffset(), held);
    }
    if (space != null && space.small() != null) {
      entry.value = SmallValue.of(space.small().bytes());
    }
    if (node.hasExtras()) {
      entry.extras = List.of(namenode.tree().extras().of(node));
    }
    if (node instanceof Container container) {
      if (container.hasOwnQuota()) {
        Quota.Limits limits = container.quota().usage().limits();
        entry.limits = limits.bytes() + " bytes " + limits.names() + " names";
      }
      container.visitFrom(
          0,
          child -> {
            entry.children.add(child.id());
            return true;
          });
    }
    return entry;
  }

  /** The names of users and groups by number. */
  private static Map<Integer, String> names(NameNode namenode) {
    Map<Integer, String> names = new TreeMap<>();
    // There are few, so they are all in the first page.
    namenode
        .users()
        .from(0)
        .names()
        .forEach(name -> names.put(name.number(), name.text().toString()));
    return names;
  }

  private void verifyDatanodes(NameNode namenode) {
    Map<Integer, String> found = new TreeMap<>();
    for (DatanodeSpace datanode : namenode.datanodes().all()) {
      String host = host(datanode.host());
      if (!host.equals(datanode.description().host().toString())) {
        throw new AssertionError(datanode + " has the host " + host);
      }
      found.put(
          datanode.id(),
          Lender.text(
              datanode.state().number(),
              datanode.isStopped(),
              datanode.description(),
              datanode.regions()));
    }
    Map<Integer, String> expected = new TreeMap<>();
    lenders.forEach((id, lender) -> expected.put(id, lender.toString()));
    if (!expected.equals(found)) {
      throw new AssertionError("datanodes by records " + expected + ", not " + found);
    }
  }

  /** Compares all nodes with those of a namenode in which nothing happens now. */
  synchronized void verify(NameNode namenode) {
    verifyDatanodes(namenode);
    Map<Integer, String> names = names(namenode);
    Map<Integer, String> expectedNames = new TreeMap<>();
    users.values().forEach(user -> expectedNames.put(user.user(), user.name().toString()));
    if (!names.equals(expectedNames)) {
      throw new AssertionError("users " + names + ", by records " + expectedNames);
    }
    Map<Long, String> found = new TreeMap<>();
    namenode
        .tree()
        .walk(
            0,
            Long.MAX_VALUE,
            node -> {
              // Others are being taken apart, which follows from a removal.
              if (!namenode.tree().isDetached(node)) {
                Entry entry = entry(namenode, node, names);
                entry.host = host(node.host());
                if (accessed.contains(node.id()) && entries.containsKey(node.id())) {
                  // Accesses have no records.
                  entry.accessed = entries.get(node.id()).accessed;
                }
                found.put(node.id(), entry.toString());
              }
              return true;
            });
    Map<Long, String> expected = new TreeMap<>();
    entries.forEach(
        (id, entry) -> {
          // What is staged in a removed container has no place in the tree.
          if (!entry.isStaged || entries.containsKey(entry.parent)) {
            expected.put(id, entry.toString());
          }
        });
    if (!expected.equals(found)) {
      StringBuilder text = new StringBuilder("the records say otherwise:");
      expected.forEach(
          (id, entry) -> {
            if (!entry.equals(found.get(id))) {
              text.append("\n  ").append(id).append(" by records ").append(entry);
              text.append("\n  ").append(id).append(" in the tree ").append(found.get(id));
            }
          });
      found.keySet().removeAll(expected.keySet());
      throw new AssertionError(text + (found.isEmpty() ? "" : "\n  without records " + found));
    }
  }
}
