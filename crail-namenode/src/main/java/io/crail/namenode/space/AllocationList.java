/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.space.NodeSpace.Allocation;
import java.util.Arrays;
import java.util.List;

/**
 * The extents of a node that has several. The list only grows. A node that is truncated or gets
 * other space gets a new list. A reader sees the extents that existed when it read their number.
 */
public final class AllocationList extends NodeSpace {
  private volatile Allocation[] items;
  // Written last and read first, so that the items below it are visible.
  private volatile int count;

  AllocationList(Allocation first, Allocation second) {
    items = new Allocation[] {first, second};
    count = 2;
    commit(first.size());
  }

  private AllocationList(Allocation[] items, long size) {
    this(items, items.length, size);
  }

  private AllocationList(Allocation[] items, int count, long size) {
    this.items = items;
    this.count = count;
    commit(size);
  }

  /** These extents, at least one, with a size. */
  static NodeSpace of(List<Allocation> extents, long size) {
    if (extents.size() > 1) {
      return new AllocationList(extents.toArray(new Allocation[0]), size);
    }
    extents.get(0).commit(size);
    return extents.get(0);
  }

  /**
   * The first {@code count} extents of {@code space}, which hold all bytes of a size; null when
   * {@code count} is 0.
   */
  public static NodeSpace prefix(NodeSpace space, int count, long size) {
    if (count == 0) {
      return null;
    }
    if (count == 1) {
      Allocation only = space.at(0);
      only.commit(size);
      return only;
    }
    Allocation[] items = new Allocation[count];
    for (int i = 0; i < count; i++) {
      items[i] = space.at(i);
    }
    return new AllocationList(items, size);
  }

  /** The extents of {@code space} with another one instead of the last. */
  public static NodeSpace withLast(NodeSpace space, Allocation last) {
    int count = space.count();
    if (count == 1) {
      last.commit(space.size());
      return last;
    }
    Allocation[] items = new Allocation[count];
    for (int i = 0; i < count - 1; i++) {
      items[i] = space.at(i);
    }
    items[count - 1] = last;
    return new AllocationList(items, space.size());
  }

  /** Extents that no node has yet, or null, and one more. */
  public static NodeSpace taken(NodeSpace taken, Allocation next) {
    if (taken != null && taken.small() != null) {
      throw new AssertionError("a node has " + taken);
    }
    return append(taken, next);
  }

  /** The extents of {@code space}, which may be null, and one more, with the same size. */
  static NodeSpace append(NodeSpace space, Allocation next) {
    if (space == null) {
      return next;
    }
    if (space instanceof Allocation first) {
      return new AllocationList(first, next);
    }
    if (space instanceof AllocationList list) {
      list.add(next);
      return list;
    }
    if (space instanceof MovingBytes moving) {
      moving.extents(append(moving.extents(), next));
      return moving;
    }
    return new MovingBytes(space.small(), next);
  }

  /**
   * The extents of {@code space}, which may be null, and behind its bytes those of {@code added},
   * which begin with byte 0 and hold {@code size} bytes. The rest of the last extent of the first
   * stays unused. The former list is not added to any more.
   */
  static NodeSpace joined(NodeSpace space, NodeSpace added, long size) {
    long end = space == null ? 0 : space.size();
    int before = space == null ? 0 : space.count();
    if (before == 0) {
      added.commit(size);
      return added;
    }
    AllocationList joined = new AllocationList(itemsOf(space), before, end + size);
    Allocation last = space.at(before - 1);
    if (last.fileEnd() > end) {
      // To readers of the former list, which has no byte after that end, both are the same.
      joined.items[before - 1] = last.cutAt(end);
    }
    for (int i = 0; i < added.count(); i++) {
      joined.add(added.at(i).behind(end));
    }
    return joined;
  }

  /** Of a list the array itself: its next one continues in it, so that many appends are cheap. */
  private static Allocation[] itemsOf(NodeSpace space) {
    return space instanceof AllocationList list ? list.items : new Allocation[] {space.at(0)};
  }

  /** The extents of {@code space}, one of which is replaced by other extents for the same bytes. */
  static NodeSpace replacing(NodeSpace space, int index, NodeSpace others) {
    int more = others.count() - 1;
    Allocation[] items = new Allocation[space.count() + more];
    for (int i = 0; i < items.length; i++) {
      if (i < index) {
        items[i] = space.at(i);
      } else {
        items[i] = i <= index + more ? others.at(i - index) : space.at(i - more);
      }
    }
    if (items.length == 1) {
      items[0].commit(space.size());
      return items[0];
    }
    return new AllocationList(items, space.size());
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public Allocation at(int index) {
    return items[index];
  }

  private void add(Allocation next) {
    int present = count;
    if (present == items.length) {
      items = Arrays.copyOf(items, present * 2);
    }
    items[present] = next;
    count = present + 1;
  }
}
