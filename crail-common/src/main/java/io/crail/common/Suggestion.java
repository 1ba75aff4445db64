/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Finds the known word that was probably meant by an unknown one. Stateless. */
public final class Suggestion {
  /** A shorter word is the beginning of too many. */
  private static final int LEAST_BEGINNING = 3;

  private Suggestion() {}

  /**
   * Returns a hint for an error message.
   *
   * @param word the word as it was written; its letter case does not matter
   * @param known the words that there are
   * @return {@code ; did you mean 'word'?}, or nothing when no known word is near
   */
  public static String of(String word, Collection<String> known) {
    String lower = word.toLowerCase(Locale.ROOT);
    String best = null;
    int bestDistance = Math.max(2, word.length() / 4);
    for (String candidate : known) {
      // The distance is at least the difference in length, which costs nothing to compare.
      if (Math.abs(candidate.length() - word.length()) >= bestDistance) {
        continue;
      }
      int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    if (best == null && word.length() >= LEAST_BEGINNING) {
      List<String> longer =
          known.stream().filter(each -> each.toLowerCase(Locale.ROOT).startsWith(lower)).toList();
      best = longer.size() == 1 ? longer.get(0) : null;
    }
    return best == null ? "" : "; did you mean '" + best + "'?";
  }

  /**
   * The fewest letters to insert, drop, replace or swap with their neighbour; no letter is changed
   * twice.
   */
  private static int distance(String a, String b) {
    int[] beforeLast = new int[b.length() + 1];
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(replaced, Math.min(last[j], current[j - 1]) + 1);
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          current[j] = Math.min(current[j], beforeLast[j - 2] + 1);
        }
      }
      beforeLast = last;
      last = current;
    }
    return last[b.length()];
  }
}
