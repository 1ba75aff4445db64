/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The contents that may be found under a name. It is one content, or several while an operation is
 * in progress and after an operation with an unknown outcome. The contents are in the order in
 * which they follow each other: after one of them was found, none before it can be found any more.
 * Immutable.
 *
 * @param possible the contents in order; never empty
 * @param attempted how many of the last contents belong to an operation in progress
 * @param doubtSince the count of quiet times when an outcome became unknown, or -1
 * @param namenodeLoss how often the name's namenode had lost everything, as far as the owner knew
 * @param datanodeLoss how often datanodes had lost everything when the bytes were written
 * @param partner another name, when only one of the two can have the file; or -1
 * @param life in which life of a shared container the name was used, by {@link Life}; 0 elsewhere
 * @param former contents that were possible before the last changes, in order, if these were not
 *     long ago: a namenode whose answers do not wait for its log may lose the changes
 * @param changedMillis when the last of these changes was known, in milliseconds since 1970
 */
public record NameState(
    List<Content> possible,
    int attempted,
    long doubtSince,
    long namenodeLoss,
    long datanodeLoss,
    int partner,
    long life,
    List<Content> former,
    long changedMillis) {
  /** The most contents at a time. */
  public static final int MAX_POSSIBLE = 8;

  /** The most former contents. */
  private static final int MAX_FORMER = 6;

  /** A change that is longer ago than this before the next one is never lost with it. */
  private static final long FORMER_MILLIS = 10_000;

  private static final int FIELDS = 9;

  /** The most longs of an encoded state. */
  static final int MAX_LONGS = FIELDS + (MAX_POSSIBLE + MAX_FORMER) * Content.MAX_LONGS;

  /** The state before the first operation: the name does not exist. */
  public static final NameState NEW =
      new NameState(List.of(Content.ABSENT), 0, -1, 0, 0, -1, 0, List.of(), 0);

  /** The index when a content was found that is not possible. */
  public static final int NONE = -1;

  /** Checks the arguments. */
  public NameState {
    possible = List.copyOf(possible);
    former = List.copyOf(former);
    if (possible.isEmpty() || possible.size() > MAX_POSSIBLE) {
      throw new IllegalArgumentException(possible.size() + " possible contents");
    }
  }

  /** True when only one content is possible. */
  public boolean isKnown() {
    return possible.size() == 1 && doubtSince < 0 && attempted == 0;
  }

  /** True when an outcome is unknown, so that no operation may build on it. */
  public boolean isDoubtful() {
    return doubtSince >= 0;
  }

  /** The known content, or the last one. */
  public Content last() {
    return possible.get(possible.size() - 1);
  }

  /** An operation begins. It will bring these contents, one after the other. */
  public NameState attempt(Content... after) {
    List<Content> more = new ArrayList<>(possible);
    more.addAll(List.of(after));
    return new NameState(
        more,
        attempted + after.length,
        doubtSince,
        namenodeLoss,
        datanodeLoss,
        partner,
        life,
        former,
        changedMillis);
  }

  /** What may be there again if changes are lost from now on, which others follow. */
  private List<Content> formerWith(List<Content> replaced, long nowMillis) {
    List<Content> all = new ArrayList<>();
    if (nowMillis - changedMillis < FORMER_MILLIS) {
      all.addAll(former);
    }
    all.addAll(replaced);
    List<Content> distinct = all.stream().distinct().toList();
    return distinct.subList(Math.max(0, distinct.size() - MAX_FORMER), distinct.size());
  }

  /** The namenode has lost the last changes, and none of this name. */
  public NameState kept(long losses) {
    return new NameState(
        possible,
        attempted,
        doubtSince,
        losses,
        datanodeLoss,
        partner,
        life,
        former,
        changedMillis);
  }

  /** The namenode has lost the last changes, perhaps some of this name. */
  public NameState rolledBack(long quiet, long losses) {
    List<Content> all = new ArrayList<>(former);
    all.addAll(possible);
    List<Content> distinct = all.stream().distinct().toList();
    int first = Math.max(0, distinct.size() - MAX_POSSIBLE);
    return new NameState(
        distinct.subList(first, distinct.size()),
        0,
        quiet,
        losses,
        0,
        partner,
        life,
        former,
        changedMillis);
  }

  /**
   * The operation took place.
   *
   * @param namenodes how often the namenode had lost everything before the operation began
   * @param datanodes how often datanodes had lost everything before the oldest byte was written
   */
  public NameState done(Content content, long namenodes, long datanodes) {
    long now = System.currentTimeMillis();
    return new NameState(
        List.of(content), 0, -1, namenodes, datanodes, -1, life, formerWith(possible, now), now);
  }

  /** The operation did not take place, and never will. */
  public NameState undone() {
    List<Content> left = possible.subList(0, possible.size() - attempted);
    return new NameState(
        left, 0, doubtSince, namenodeLoss, datanodeLoss, partner, life, former, changedMillis);
  }

  /**
   * It is unknown whether the operation took place or still will.
   *
   * @param quiet the count of quiet times now
   */
  public NameState unknown(long quiet, int partnerName) {
    return new NameState(
        possible, 0, quiet, namenodeLoss, datanodeLoss, partnerName, life, former, changedMillis);
  }

  /** The namenode has lost everything. */
  public NameState lost(long quiet, long losses) {
    List<Content> more = new ArrayList<>(possible);
    if (last().isPresent()) {
      more.add(Content.ABSENT);
    }
    return new NameState(
        more, 0, quiet, losses, datanodeLoss, partner, life, former, changedMillis);
  }

  /** The name's shared container was made anew, and nothing was done to the name since. */
  public NameState anew(Life now, long losses) {
    return new NameState(List.of(Content.ABSENT), 0, -1, losses, 0, -1, now.number(), List.of(), 0);
  }

  /**
   * The name's shared container was removed, and perhaps made anew, while an operation was in
   * progress or in doubt. The operation may have come before that, or come after it.
   *
   * @param last the latest life in which it can have come
   */
  public NameState overtaken(long quiet, Life last, long losses) {
    List<Content> more = new ArrayList<>(List.of(Content.ABSENT));
    possible.stream().filter(Content::isPresent).distinct().forEach(more::add);
    return new NameState(
        more, 0, quiet, losses, datanodeLoss, -1, last.number(), former, changedMillis);
  }

  /** The index of the first content without a file, or NONE. */
  public int findAbsent() {
    for (int i = 0; i < possible.size(); i++) {
      if (!possible.get(i).isPresent()) {
        return i;
      }
    }
    return NONE;
  }

  /** The index of the first content that matches a whole file, or NONE. */
  public int find(ByteBuffer bytes) {
    return find(bytes, null);
  }

  /**
   * The index of the first content that matches a whole file and its marks, or NONE.
   *
   * @param marks those that were found; null when nothing is known of them
   */
  public int find(ByteBuffer bytes, Marks marks) {
    for (int i = 0; i < possible.size(); i++) {
      Content content = possible.get(i);
      if (content.mayHaveLength(bytes.limit())
          && content.mismatch(bytes, 0) == null
          && (marks == null || content.marks().agreesWith(marks))) {
        return i;
      }
    }
    return NONE;
  }

  /** True when all contents that match a whole file have the same marks. */
  public boolean hasOneOf(ByteBuffer bytes) {
    return possible.stream()
            .filter(each -> each.mayHaveLength(bytes.limit()) && each.mismatch(bytes, 0) == null)
            .map(Content::marks)
            .distinct()
            .count()
        <= 1;
  }

  /** True when the lifetime of a node that may be there may be over. */
  public boolean mayHaveEnded(long nowMillis) {
    return possible.stream().anyMatch(each -> each.marks().mayHaveEnded(nowMillis));
  }

  /** The index of the first content that may have this length, or NONE. */
  public int findLength(long length) {
    for (int i = 0; i < possible.size(); i++) {
      if (possible.get(i).mayHaveLength(length)) {
        return i;
      }
    }
    return NONE;
  }

  /** Describes why a whole file matches no content. */
  public String explain(ByteBuffer bytes) {
    return explain(bytes, null);
  }

  /** Describes why a whole file with such marks, if they are known, matches no content. */
  public String explain(ByteBuffer bytes, Marks marks) {
    StringBuilder text = new StringBuilder("found " + bytes.limit() + " bytes");
    text.append(marks == null ? "" : ", " + marks);
    if (bytes.limit() > 0) {
      text.append(" that begin with ").append(Units.describe(bytes, 0));
    }
    for (Content content : possible) {
      text.append("; expected ").append(content);
      if (content.mayHaveLength(bytes.limit())) {
        String mismatch = content.mismatch(bytes, 0);
        text.append(": ").append(mismatch == null ? "other marks" : mismatch);
      }
    }
    return text.toString();
  }

  /** A content was found, so none before it can be found any more. */
  public NameState found(int index) {
    if (index <= 0) {
      return this;
    }
    List<Content> left = possible.subList(index, possible.size());
    long now = System.currentTimeMillis();
    return new NameState(
        left,
        Math.min(attempted, left.size() - 1),
        doubtSince,
        namenodeLoss,
        datanodeLoss,
        partner,
        life,
        formerWith(possible.subList(0, index), now),
        now);
  }

  /** A content was found when no operation could be in progress any more. */
  public NameState settled(Content content) {
    long now = System.currentTimeMillis();
    return new NameState(
        List.of(content),
        0,
        -1,
        namenodeLoss,
        datanodeLoss,
        -1,
        life,
        formerWith(possible, now),
        now);
  }

  void encode(LongBuffer target) {
    target.put(attempted).put(doubtSince).put(namenodeLoss).put(datanodeLoss).put(partner);
    target.put(life).put(changedMillis).put(former.size());
    former.forEach(content -> content.encode(target));
    target.put(possible.size());
    possible.forEach(content -> content.encode(target));
  }

  static NameState decode(LongBuffer source) {
    int attempted = (int) source.get();
    long doubtSince = source.get();
    long namenodeLoss = source.get();
    long datanodeLoss = source.get();
    int partner = (int) source.get();
    long life = source.get();
    long changedMillis = source.get();
    List<Content> former = decodeAll(source);
    List<Content> possible = decodeAll(source);
    return new NameState(
        possible,
        attempted,
        doubtSince,
        namenodeLoss,
        datanodeLoss,
        partner,
        life,
        former,
        changedMillis);
  }

  private static List<Content> decodeAll(LongBuffer source) {
    List<Content> contents = new ArrayList<>();
    for (long left = source.get(); left > 0; left--) {
      contents.add(Content.decode(source));
    }
    return contents;
  }
}
