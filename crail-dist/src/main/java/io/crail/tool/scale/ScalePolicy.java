/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static io.crail.tool.scale.ScaleObservation.NEVER;

import io.crail.common.ByteText;
import io.crail.tool.scale.ScaleDecision.Kind;
import io.crail.tool.scale.ScaleDecision.Numbers;
import io.crail.tool.scale.ScaleMember.Part;
import io.crail.tool.scale.ScaleMember.Standing;
import io.crail.tool.scale.ScaleObservation.Ending;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Decides how many datanodes there are to be: a pure function. Each namenode has its part of every
 * datanode, and a writer is refused when one part is full; so the use is that of the fullest part.
 */
final class ScalePolicy {
  /** Above this use a store may refuse writers, so it does not show how much is wanted. */
  private static final double FULL = 0.95;

  private final ScaleLimits limits;

  ScalePolicy(ScaleLimits limits) {
    this.limits = limits;
  }

  /** Decides. */
  ScaleDecision decide(ScaleObservation seen) {
    List<ScaleMember> serving = seen.serving();
    Numbers numbers = numbers(seen, serving);
    long low = isLow(seen, serving) ? firstOf(seen.lowMillis(), seen.nowMillis()) : NEVER;
    Answer answer = new Answer(numbers, low);
    int coming = serving.size() + seen.starting();
    int room = limits.most() - seen.alive() - seen.starting();
    if (coming < limits.least() && seen.isWhole()) {
      return answer.add(limits.least() - coming, room, "fewer than --least " + limits.least());
    }
    String high = high(seen, serving, numbers);
    if (!high.isEmpty()) {
      return up(seen, answer, high, Math.min(wanted(serving) - coming, coming), room);
    }
    if (!seen.isWhole()) {
      return answer.hold("not all namenodes answer, or one has just started");
    }
    return low == NEVER ? answer.hold("within the limits") : down(seen, answer, low);
  }

  private static long firstOf(long earlier, long now) {
    return earlier == NEVER ? now : earlier;
  }

  private static ScaleDecision up(
      ScaleObservation seen, Answer answer, String high, int more, int room) {
    if (seen.ending() == Ending.DRAINS) {
      return answer.of(Kind.UNDO, 0, Optional.empty(), high);
    }
    return more <= 0 ? answer.hold(high + ", enough are starting") : answer.add(more, room, high);
  }

  private ScaleDecision down(ScaleObservation seen, Answer answer, long low) {
    Optional<ScaleMember> emptiest = emptiest(seen.serving());
    long window = limits.downWindowMillis();
    long now = seen.nowMillis();
    if (seen.ending() != Ending.NONE || seen.starting() > 0) {
      return answer.hold("another step is under way");
    } else if (now - low < window) {
      return answer.hold("low for " + (now - low) / 1000 + " s of " + window / 1000 + " s");
    } else if (seen.addedMillis() != NEVER && now - seen.addedMillis() < window) {
      return answer.hold("low, but added " + (now - seen.addedMillis()) / 1000 + " s ago");
    }
    String reason =
        String.format(
            Locale.ROOT,
            "%.0f %% without it, below %.0f %%, for %d s",
            100 * useWithout(seen, emptiest.orElseThrow()),
            100 * limits.low(),
            (now - low) / 1000);
    return answer.of(Kind.DRAIN, 0, emptiest, reason);
  }

  private boolean isLow(ScaleObservation seen, List<ScaleMember> serving) {
    return emptiest(serving).map(each -> mayLeave(seen, each)).orElse(false);
  }

  /** Whether the others are enough without a datanode, as long as all stays as it is. */
  boolean mayLeave(ScaleObservation seen, ScaleMember member) {
    List<ScaleMember> serving = seen.serving();
    int others = serving.size() - 1;
    double lowRate = limits.rate() * limits.low() / limits.high();
    return serving.contains(member)
        && others >= limits.least()
        && useWithout(seen, member) < limits.low()
        && (limits.rate() == 0 || rate(serving) < lowRate * others);
  }

  /** What leaves first: the least has to be moved. */
  private static Optional<ScaleMember> emptiest(List<ScaleMember> serving) {
    return serving.stream()
        .min(
            Comparator.comparingLong(ScaleMember::usedBytes)
                .thenComparing(ScaleMember::address)
                .thenComparing(ScaleMember::uuid));
  }

  /** The use when the data of a datanode, and of all that are being drained, are at the others. */
  private static double useWithout(ScaleObservation seen, ScaleMember member) {
    List<ScaleMember> others = new ArrayList<>(seen.serving());
    others.remove(member);
    List<ScaleMember> sources = new ArrayList<>(seen.with(Standing.DRAINS));
    sources.addAll(seen.serving());
    return use(sources, others);
  }

  /** The greatest use at any namenode of data of some datanodes in space of others. */
  private static double use(List<ScaleMember> sources, List<ScaleMember> targets) {
    double greatest = 0;
    for (int index = 0; index < parts(sources); index++) {
      double used = sum(sources, index).usedBytes();
      double lent = sum(targets, index).lentBytes();
      greatest = Math.max(greatest, lent == 0 ? (used == 0 ? 0 : 1) : used / lent);
    }
    return greatest;
  }

  private static int parts(List<ScaleMember> members) {
    return members.stream().mapToInt(each -> each.parts().size()).max().orElse(0);
  }

  private static Part sum(List<ScaleMember> members, int index) {
    long lent = 0;
    long used = 0;
    for (ScaleMember each : members) {
      if (index < each.parts().size()) {
        lent += each.parts().get(index).lentBytes();
        used += each.parts().get(index).usedBytes();
      }
    }
    return new Part(lent, used);
  }

  private static double rate(List<ScaleMember> members) {
    return members.stream().mapToDouble(ScaleMember::rate).sum();
  }

  private String high(ScaleObservation seen, List<ScaleMember> serving, Numbers numbers) {
    if (numbers.use() > limits.high()) {
      return String.format(Locale.ROOT, "above %.0f %%", 100 * limits.high());
    }
    // The copies of an own drain count as bytes of clients.
    return limits.rate() > 0
            && seen.ending() != Ending.DRAINS
            && rate(serving) > (double) limits.rate() * serving.size()
        ? "above " + ByteText.of(limits.rate()) + "/s each"
        : "";
  }

  /** How many datanodes like those that serve bring use and rate to the target. */
  private int wanted(List<ScaleMember> serving) {
    if (use(serving, serving) > FULL) {
      return 2 * serving.size();
    }
    double wanted = 0;
    for (int index = 0; index < parts(serving); index++) {
      Part all = sum(serving, index);
      if (all.lentBytes() > 0) {
        double each = (double) all.lentBytes() / serving.size();
        wanted = Math.max(wanted, all.usedBytes() / (limits.target() * each));
      }
    }
    if (limits.rate() > 0) {
      wanted = Math.max(wanted, rate(serving) / (limits.rate() * limits.target() / limits.high()));
    }
    return (int) Math.min(Integer.MAX_VALUE / 2, Math.ceil(wanted));
  }

  private static Numbers numbers(ScaleObservation seen, List<ScaleMember> serving) {
    return new Numbers(
        use(serving, serving),
        serving.stream().mapToLong(ScaleMember::usedBytes).sum(),
        serving.stream().mapToLong(ScaleMember::lentBytes).sum(),
        serving.size(),
        seen.starting(),
        seen.with(Standing.DRAINS).size(),
        serving.isEmpty() ? 0 : (long) (rate(serving) / serving.size()));
  }

  /** What all decisions on an observation have in common. */
  private record Answer(Numbers numbers, long lowMillis) {
    ScaleDecision of(Kind kind, int count, Optional<ScaleMember> member, String reason) {
      return new ScaleDecision(kind, count, member, reason, numbers, lowMillis);
    }

    ScaleDecision hold(String reason) {
      return of(Kind.HOLD, 0, Optional.empty(), reason);
    }

    ScaleDecision add(int wanted, int room, String reason) {
      return room <= 0
          ? hold(reason + ", but there are --most already")
          : of(Kind.ADD, Math.min(wanted, room), Optional.empty(), reason);
    }
  }
}
