/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.lang.reflect.Field;
import java.util.Map;

/** What a process knows of shuffles. */
public final class KnownShuffles {
  private KnownShuffles() {}

  /** {@return whether tasks of this process have written or read a shuffle that it still knows} */
  public static boolean includes(int shuffle) throws ReflectiveOperationException {
    ShuffleManager42 manager = ShuffleManager42.current();
    Object sort = field(ShuffleManager42.class, manager, "sort");
    Object outputs = field(manager.fetcher().getClass(), manager.fetcher(), "outputs");
    return knows(sort, "taskIdMapsForShuffle", shuffle) || knows(outputs, "indexBytes", shuffle);
  }

  private static boolean knows(Object owner, String map, int shuffle)
      throws ReflectiveOperationException {
    return ((Map<?, ?>) field(owner.getClass(), owner, map)).containsKey(shuffle);
  }

  private static Object field(Class<?> type, Object owner, String name)
      throws ReflectiveOperationException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }
}
