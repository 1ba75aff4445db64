/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Each job finds a row that is lost, doubled, changed or in the wrong place. */
class ResultChecksTest {
  private static final long SEED = 7;
  private static final int ROWS = 1000;
  private static final int PARTS = 4;

  /** The sorted output of the sort benchmark. */
  private final List<List<Tuple2<byte[], byte[]>>> sorted = sorted();

  private static List<List<Tuple2<byte[], byte[]>>> sorted() {
    List<Tuple2<byte[], byte[]>> rows = new ArrayList<>();
    LongStream.range(0, ROWS).forEach(number -> rows.add(TeraRow.of(SEED, number)));
    KeyRanges ranges = new KeyRanges(rows.stream().map(Tuple2::_1).toList(), PARTS);
    assertEquals(PARTS, ranges.numPartitions());
    List<List<Tuple2<byte[], byte[]>>> parts = new ArrayList<>();
    for (int part = 0; part < PARTS; part++) {
      parts.add(new ArrayList<>());
    }
    rows.forEach(row -> parts.get(ranges.getPartition(row._1())).add(row));
    for (List<Tuple2<byte[], byte[]>> part : parts) {
      part.sort((one, other) -> new KeyOrder().compare(one._1(), other._1()));
      assertTrue(Math.abs(part.size() - ROWS / PARTS) <= 1, "parts are of one size");
    }
    return parts;
  }

  private static Totals expected() {
    Totals totals = Totals.NONE;
    for (int number = 0; number < ROWS; number++) {
      Tuple2<byte[], byte[]> row = TeraRow.of(SEED, number);
      totals = totals.plusRow(row._1(), row._2());
    }
    return totals;
  }

  private void checkSorted() throws WrongResultException {
    SortedPart.require(
        sorted.stream().map(part -> SortedPart.of(part.iterator())).toList(), expected());
  }

  private void assertSortedFails(String why) {
    WrongResultException thrown = assertThrows(WrongResultException.class, this::checkSorted);
    assertTrue(thrown.getMessage().contains(why), thrown.getMessage());
  }

  @Test
  void aRightSortPasses() throws Exception {
    checkSorted();
    sorted.add(1, new ArrayList<>());
    checkSorted();
  }

  @Test
  void aSortFindsALostRow() {
    sorted.get(2).remove(17);
    assertSortedFails("999 sorted rows instead of 1000");
  }

  @Test
  void aSortFindsADoubledRow() {
    sorted.get(0).add(3, sorted.get(0).get(3));
    assertSortedFails("1001 sorted rows instead of 1000");
  }

  @Test
  void aSortFindsARowLostAndAnotherDoubled() {
    sorted.get(3).set(5, sorted.get(3).get(4));
    assertSortedFails("checksum");
  }

  @Test
  void aSortFindsAChangedByte() {
    sorted.get(1).get(9)._2()[TeraRow.VALUE_BYTES - 1]++;
    assertSortedFails("checksum");
  }

  @Test
  void aSortFindsRowsOutOfOrderInAPart() {
    Collections.swap(sorted.get(1), 20, 21);
    assertSortedFails("1 rows of part 1 are out of order");
  }

  @Test
  void aSortFindsPartsOutOfOrder() {
    Collections.swap(sorted, 1, 2);
    assertSortedFails("part 2 begins with");
  }

  @Test
  void aKeyComparesAsUnsignedBytes() {
    byte[] low = {0x7f};
    byte[] high = {(byte) 0x80};
    assertTrue(new KeyOrder().compare(low, high) < 0);
    // A key that begins a range belongs to it.
    KeyRanges ranges = new KeyRanges(List.of(low, high), 2);
    assertEquals(0, ranges.getPartition(low));
    assertEquals(1, ranges.getPartition(high));
  }

  @Test
  void rowsAreOfTheSizeOfTheBenchmarkAndAllDifferent() {
    Tuple2<byte[], byte[]> row = TeraRow.of(SEED, 1);
    assertEquals(TeraRow.BYTES, row._1().length + row._2().length);
    assertEquals(100, TeraRow.BYTES);
    assertArrayEquals(row._1(), TeraRow.of(SEED, 1)._1());
    assertTrue(!Arrays.equals(row._1(), TeraRow.of(SEED, 2)._1()));
    assertTrue(!Arrays.equals(row._2(), TeraRow.of(SEED, 2)._2()));
    assertTrue(!Arrays.equals(row._1(), TeraRow.of(SEED + 1, 1)._1()));
  }

  @Test
  void rangesAreTogetherAllRows() {
    for (long rows : new long[] {1, 3, 4, 10, 1001}) {
      List<Long> made = new ArrayList<>();
      for (RowRange range : RowRange.cut(rows, PARTS)) {
        range.make(number -> number).forEachRemaining(made::add);
      }
      assertEquals(LongStream.range(0, rows).boxed().toList(), made);
    }
  }

  /** Rows by their keys, as a right shuffle gives them. */
  private static Map<Long, List<byte[]>> groups(long rows, long keys) {
    Map<Long, List<byte[]>> groups = new TreeMap<>();
    for (long number = 0; number < rows; number++) {
      Tuple2<Long, byte[]> row = GroupBy.row(number, keys);
      groups.computeIfAbsent(row._1(), key -> new ArrayList<>()).add(row._2());
    }
    return groups;
  }

  private static GroupCount count(Map<Long, List<byte[]>> groups, long rows, long keys) {
    Iterator<Tuple2<Long, Iterable<byte[]>>> part =
        groups.entrySet().stream()
            .map(group -> new Tuple2<>(group.getKey(), (Iterable<byte[]>) group.getValue()))
            .iterator();
    return GroupCount.of(part, rows, keys);
  }

  @Test
  void groupsFindWhatIsWrong() throws Exception {
    long rows = 103;
    long keys = 10;
    GroupCount right = count(groups(rows, keys), rows, keys);
    count(groups(rows, keys), rows, keys).require(right);
    Map<Long, List<byte[]>> lost = groups(rows, keys);
    lost.get(3L).remove(0);
    assertFails(lost, right, "1 groups have rows too many or too few");
    Map<Long, List<byte[]>> doubled = groups(rows, keys);
    doubled.get(4L).add(doubled.get(4L).get(1));
    assertFails(doubled, right, "1 groups have rows too many or too few");
    Map<Long, List<byte[]>> none = groups(rows, keys);
    none.remove(9L);
    assertFails(none, right, "9 groups instead of 10");
    Map<Long, List<byte[]>> exchanged = groups(rows, keys);
    byte[] other = exchanged.get(5L).set(0, exchanged.get(6L).get(0));
    exchanged.get(6L).set(0, other);
    assertFails(exchanged, right, "checksum");
    GroupCount twice = right.plus(count(Map.of(), rows, keys));
    twice.require(right);
    GroupCount apart = right.plus(count(Map.of(0L, List.of()), rows, keys));
    assertThrows(WrongResultException.class, () -> apart.require(right));
  }

  private static void assertFails(Map<Long, List<byte[]>> groups, GroupCount right, String why) {
    WrongResultException thrown =
        assertThrows(WrongResultException.class, () -> count(groups, 103, 10).require(right));
    assertTrue(thrown.getMessage().contains(why), thrown.getMessage());
  }

  @Test
  void aJoinFindsARowWithAnotherPartner() throws Exception {
    List<Tuple2<Long, Tuple2<byte[], byte[]>>> rows = new ArrayList<>();
    LongStream.range(0, 40).forEach(number -> rows.add(Join.joined(number, 10)));
    Totals right = Join.totals(rows.iterator());
    Collections.reverse(rows);
    Join.totals(rows.iterator()).require(right, "joined rows");
    Tuple2<Long, Tuple2<byte[], byte[]>> row = rows.get(7);
    rows.set(7, new Tuple2<>(row._1(), new Tuple2<>(rows.get(8)._2()._1(), row._2()._2())));
    WrongResultException thrown =
        assertThrows(
            WrongResultException.class,
            () -> Join.totals(rows.iterator()).require(right, "joined rows"));
    assertTrue(thrown.getMessage().contains("joined rows have the checksum"), thrown.getMessage());
    rows.remove(7);
    assertThrows(
        WrongResultException.class,
        () -> Join.totals(rows.iterator()).require(right, "joined rows"));
  }

  @Test
  void readsOfABroadcastAreFirstOrCachedOrNeither() throws Exception {
    List<BroadcastRead> reads =
        List.of(
            new BroadcastRead(1, 150, 160, 9),
            new BroadcastRead(1, 100, 140, 9),
            new BroadcastRead(1, 120, 141, 9),
            new BroadcastRead(2, 100, 107, 9));
    List<Long> first = new ArrayList<>();
    List<Long> cached = new ArrayList<>();
    BroadcastRead.sort(reads, 9, first, cached);
    assertEquals(List.of(40L, 7L), first);
    assertEquals(List.of(10L), cached);
    assertThrows(WrongResultException.class, () -> BroadcastRead.sort(reads, 8, first, cached));
  }
}
