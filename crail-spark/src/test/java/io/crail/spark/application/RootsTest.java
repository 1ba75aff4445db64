/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RootsTest {
  @Test
  void rootsSpreadOverTheNamenodes() {
    assertEquals(List.of("/spark-a-1.0"), Roots.of("a-1", 1));
    List<String> roots = Roots.of("a-1", 2);
    assertEquals(8, roots.size());
    roots.forEach(root -> assertEquals(Optional.of("a-1"), Roots.applicationOf(root)));
    assertEquals(Optional.empty(), Roots.applicationOf("/spark-a-1"));
    assertEquals(Optional.empty(), Roots.applicationOf("/other"));
  }

  @Test
  void eachNamenodeHasAsManyRoots() {
    for (int namenodes = 2; namenodes <= 16; namenodes++) {
      for (String application : List.of("a-1", "b-20261126-102030-0102", "c")) {
        List<String> roots = Roots.of(application, namenodes);
        assertEquals(4 * namenodes, Set.copyOf(roots).size());
        assertEquals(roots, Roots.of(application, namenodes));
        for (int i = 0; i < roots.size(); i++) {
          int at = UnansweringNamenodes.namenodeOf(roots.get(i), namenodes);
          assertEquals(i % namenodes, at, roots.get(i));
          assertEquals(Optional.of(application), Roots.applicationOf(roots.get(i)));
        }
      }
    }
  }

  @Test
  void aNameWithoutATimeIsTaken() {
    assertEquals(Optional.empty(), Roots.began("old-0011223344556677"));
    assertEquals(Optional.empty(), Roots.began("bad-20269926-102030-00"));
  }
}
