/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.conf;

import io.crail.common.config.ConfigException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** The built-in policies, and the search for other ones. */
final class BlockSelections {
  private static final List<BlockSelection.Provider> BUILT_IN =
      List.of(
          new Policy("roundrobin", random -> roundRobin()),
          new Policy("random", random -> candidates -> random.nextInt(candidates.count())),
          new Policy("sequential", random -> candidates -> 0),
          new Policy("mostfree", random -> BlockSelections::mostFree),
          new Policy("freeroftwo", random -> candidates -> freerOfTwo(candidates, random)));

  private BlockSelections() {}

  private record Policy(String name, Function<RandomGenerator, BlockSelection> maker)
      implements BlockSelection.Provider {
    @Override
    public BlockSelection create(RandomGenerator random) {
      return maker.apply(random);
    }
  }

  /**
   * The policy of a name.
   *
   * @throws ConfigException that names the policies there are
   */
  static BlockSelection.Provider find(String name) {
    TreeMap<String, BlockSelection.Provider> known = new TreeMap<>();
    BUILT_IN.forEach(provider -> known.put(provider.name(), provider));
    for (BlockSelection.Provider provider :
        ServiceLoader.load(
            BlockSelection.Provider.class, BlockSelection.Provider.class.getClassLoader())) {
      known.putIfAbsent(provider.name(), provider);
    }
    BlockSelection.Provider found = known.get(name);
    if (found == null) {
      throw new ConfigException(
          "key '"
              + NameNodeKeys.BLOCK_SELECTION.name()
              + "' names the policy '"
              + name
              + "'; there are: "
              + known.keySet());
    }
    return found;
  }

  private static BlockSelection roundRobin() {
    AtomicInteger next = new AtomicInteger();
    return candidates -> Integer.remainderUnsigned(next.getAndIncrement(), candidates.count());
  }

  /**
   * Nearly as even as the one with most, but of three or more, many at once do not all find the
   * same one.
   */
  private static int freerOfTwo(BlockSelection.Candidates candidates, RandomGenerator random) {
    int count = candidates.count();
    int one = random.nextInt(count);
    if (count == 1) {
      return one;
    }
    int other = (one + 1 + random.nextInt(count - 1)) % count;
    return candidates.freeBytes(other) > candidates.freeBytes(one) ? other : one;
  }

  private static int mostFree(BlockSelection.Candidates candidates) {
    int best = 0;
    for (int i = 1; i < candidates.count(); i++) {
      if (candidates.freeBytes(i) > candidates.freeBytes(best)) {
        best = i;
      }
    }
    return best;
  }
}
