/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.node.Names;
import io.crail.protocol.part.TextLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/**
 * Numbers for the names of owners and groups, so that a node keeps a few bits instead of a name. A
 * name keeps its number while a node has it, and longer until another name needs its slot. The
 * number then differs in its upper bits, so that a client that knows the old number does not take
 * one name for the other. Thread-safe.
 */
public final class UserNames {
  /** The number of the namenode's own user. */
  public static final int OWN = 0;

  /** Bits of a number: the slot, and above it how often the slot has got another name. */
  public static final int NUMBER_BITS = Names.SLOT_BITS + 10;

  private static final int SLOTS = 1 << Names.SLOT_BITS;

  /** The last slots are for users who create nodes, so that names from requests leave them some. */
  private static final int SLOTS_OF_REQUESTS = SLOTS / 4 * 3;

  private final HeapBudget budget;
  private final ObjIntConsumer<Utf8> onNumber;
  private final Map<Utf8, UserName> byText = new HashMap<>();
  // Changed under the monitor. A name that is held can be read without it.
  private volatile UserName[] bySlot = new UserName[16];
  private int count;
  // Where the search for a name that no node has continues.
  private int hand = 1;

  /**
   * Creates the table with the name of the namenode's own user.
   *
   * @param onNumber gets each name with its number, before anything has the number; who had its
   *     slot before has lost it
   */
  public UserNames(String own, HeapBudget budget, ObjIntConsumer<Utf8> onNumber) {
    this.budget = budget;
    this.onNumber = onNumber;
    add(Utf8.of(own), 0);
    // It is never dropped, and not counted.
    bySlot[0].hold();
  }

  /**
   * The name, held for a node that is going to have it.
   *
   * @param known the name as it was got before; null for none
   * @param isCreator whether it is that of a user who creates a node, and not one from a request
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when the name is not valid; with
   *     {@link ErrorCode#LIMIT_EXCEEDED} when nodes have all numbers, or there is no heap for it
   */
  UserName hold(Utf8 text, UserName known, boolean isCreator) throws CrailException {
    if (known != null && (known.number() == OWN || known.hold())) {
      return known;
    }
    synchronized (this) {
      UserName name = byText.get(text);
      if (name == null) {
        name = make(text, isCreator ? SLOTS : SLOTS_OF_REQUESTS);
      }
      if (name.number() != OWN) {
        // This always succeeds: names are dropped under this monitor.
        name.hold();
      }
      return name;
    }
  }

  /** The name of the namenode's own user. */
  UserName own() {
    return bySlot[OWN];
  }

  /** True when the name has a number. */
  synchronized boolean knows(Utf8 text) {
    return byText.containsKey(text);
  }

  /** Whether a name has the number. */
  public synchronized boolean knows(int number) {
    return slot(number) < count && bySlot[slot(number)].number() == number;
  }

  /** The name with a number, held for a node; null when the number is of another time. */
  public UserName hold(int number) {
    UserName name = bySlot[slot(number)];
    if (number == OWN) {
      return name;
    }
    if (!name.hold()) {
      return null;
    }
    if (name.number() != number) {
      name.release();
      return null;
    }
    return name;
  }

  /**
   * The name that another namenode has sent, held for a node; see {@link #text}.
   *
   * @throws CrailException as {@link SessionUser#hold(Utf8)} does
   */
  public UserName holdText(Utf8 text) throws CrailException {
    return text.length() == 0 ? own() : hold(text, null, false);
  }

  /** The name of a number, for another namenode; empty for {@link #OWN}. */
  public Utf8 text(int number) {
    return number == OWN ? Utf8.EMPTY : bySlot[slot(number)].text();
  }

  /** Gives a name back that was held for a node. */
  public void release(int number) {
    if (number != OWN) {
      bySlot[slot(number)].release();
    }
  }

  private UserName make(Utf8 text, int mostSlots) throws CrailException {
    String wrong = TextLimits.checkUser(text);
    if (wrong != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "name of a user or group '" + text + "': " + wrong);
    }
    if (!budget.hasRoom(UserName.footprint(text))) {
      throw budget.refusal("user or group '" + text + "'");
    }
    if (count < mostSlots) {
      return add(text, count);
    }
    int slot = dropOne();
    if (slot == OWN) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "'" + text + "': there are nodes of " + count + " users and groups");
    }
    return add(text, bySlot[slot].number() + SLOTS & (1 << NUMBER_BITS) - 1);
  }

  private UserName add(Utf8 text, int number) {
    onNumber.accept(text, number);
    return put(text, number);
  }

  private UserName put(Utf8 text, int number) {
    UserName name = new UserName(text, number);
    UserName[] slots = bySlot;
    int slot = slot(number);
    if (slot == slots.length) {
      slots = Arrays.copyOf(slots, 2 * slot);
    }
    slots[slot] = name;
    bySlot = slots;
    count = Math.max(count, slot + 1);
    byText.put(text, name);
    budget.add(UserName.footprint(text));
    return name;
  }

  /**
   * Gives a name the number that a record says.
   *
   * @return false when the number is impossible, or a node has the name that has its slot
   */
  public synchronized boolean restore(int number, Utf8 text) {
    int slot = slot(number);
    if (slot > count || number == OWN) {
      return number == OWN;
    }
    UserName former = slot < count ? bySlot[slot] : null;
    if (former != null && !former.drop() || byText.containsKey(text)) {
      return false;
    }
    if (former != null) {
      byText.remove(former.text());
      budget.give(UserName.footprint(former.text()));
    }
    put(text, number);
    return true;
  }

  /** Drops a name that no node has, and returns its slot; {@link #OWN} when there is none. */
  private int dropOne() {
    for (int i = 0; i < count; i++) {
      int slot = hand;
      hand = hand + 1 == count ? 1 : hand + 1;
      UserName name = bySlot[slot];
      if (slot != OWN && name.drop()) {
        byText.remove(name.text());
        budget.give(UserName.footprint(name.text()));
        return slot;
      }
    }
    return OWN;
  }

  private static int slot(int number) {
    return number & SLOTS - 1;
  }

  /** The names from a number's slot on, as many as fit into one answer. */
  public synchronized Names.Response from(int number) {
    List<Names.Name> page = new ArrayList<>();
    int length = 0;
    for (int i = slot(number); i < count; i++) {
      Names.Name name = new Names.Name(bySlot[i].number(), bySlot[i].text());
      length += name.wireLength();
      if (length > Names.MAX_NAMES_LENGTH) {
        break;
      }
      page.add(name);
    }
    return new Names.Response(page);
  }

  /** Visits all names with their numbers, in the order of their slots. */
  public synchronized void forEach(ObjIntConsumer<Utf8> visitor) {
    for (int i = 0; i < count; i++) {
      visitor.accept(bySlot[i].text(), bySlot[i].number());
    }
  }

  /** Bytes of heap of all names; for tests. */
  public synchronized long footprint() {
    return byText.keySet().stream().mapToLong(UserName::footprint).sum();
  }

  /** How often nodes have names other than {@link #OWN}, as owner or as group; for tests. */
  public synchronized long held() {
    long held = 0;
    for (int i = 1; i < count; i++) {
      held += bySlot[i].nodes();
    }
    return held;
  }
}
