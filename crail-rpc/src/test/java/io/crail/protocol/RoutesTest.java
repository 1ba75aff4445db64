/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Routes.Lesson;
import io.crail.protocol.part.SpreadHint;
import io.crail.protocol.part.SpreadPath;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a client learns of spread directories, and the ways that its requests take. */
class RoutesTest {
  private long nanos;
  private final Routes routes =
      new Routes(
          new Clock() {
            @Override
            public long nanoTime() {
              return nanos;
            }

            @Override
            public long currentTimeMillis() {
              return 0;
            }
          });

  /** The lesson from a refusal of the owner, or of a share. */
  private Lesson refused(ErrorCode code, long id, String path) {
    Utf8 text = Utf8.of(path + "/x");
    return routes.after(
        code.exception(new SpreadHint(id, Utf8.of(path)).toString()),
        code == ErrorCode.SPREAD ? text : SpreadPath.of(id, path.length(), text));
  }

  private void assertPlain(String path) {
    Utf8 text = Utf8.of(path);
    assertSame(text, routes.of(text));
  }

  private void assertFrom(long id, String directory, String path) {
    assertEquals(SpreadPath.of(id, directory.length(), Utf8.of(path)), routes.of(Utf8.of(path)));
  }

  @Test
  void onlyWhatIsBelowADirectoryBeginsThere() {
    assertPlain("/a/b/c");
    routes.add(Utf8.of("/a/b"), 7);
    assertFrom(7, "/a/b", "/a/b/c");
    assertFrom(7, "/a/b", "/a/b/c/d/e");
    for (String path : new String[] {"/", "/a", "/a/b", "/a/bb/c", "/a/c/b", "/b/a/b/c", "/ab/c"}) {
      assertPlain(path);
    }
    routes.add(Utf8.of("/a/b"), 8);
    assertFrom(8, "/a/b", "/a/b/c");
  }

  @Test
  void aRefusalNamesTheDirectoryOnTheWay() {
    assertEquals(Lesson.ELSEWHERE, refused(ErrorCode.SPREAD, 7, "/a"));
    assertFrom(7, "/a", "/a/x");
    assertEquals(Lesson.NONE, refused(ErrorCode.NODE_NOT_FOUND, 7, "/a"));
    Utf8 text = Utf8.of("/a/x");
    assertEquals(Lesson.NONE, routes.after(ErrorCode.SPREAD.exception("nonsense"), text));
    assertEquals(Lesson.AGAIN, routes.after(ErrorCode.BEING_REMOVED.exception("7 /a"), text));
    assertEquals(Lesson.OWNER, refused(ErrorCode.BEING_REMOVED, 7, "/a"));
    assertFrom(7, "/a", "/a/x");
  }

  @Test
  void anOldRefusalDoesNotForgetANewDirectory() {
    routes.add(Utf8.of("/a"), 8);
    assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
    assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
    assertFrom(8, "/a", "/a/x");
  }

  @Test
  void aShareThatIsMissingIsAskedForAfterAPause() {
    refused(ErrorCode.SPREAD, 7, "/a");
    assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
    // Other children are reached meanwhile.
    assertFrom(7, "/a", "/a/x");
    assertEquals(Lesson.AGAIN, refused(ErrorCode.SPREAD, 7, "/a"));
    assertEquals(Lesson.ELSEWHERE, refused(ErrorCode.SPREAD, 9, "/b"));
    nanos += TimeUnit.SECONDS.toNanos(1);
    assertEquals(Lesson.ELSEWHERE, refused(ErrorCode.SPREAD, 7, "/a"));
    assertFrom(7, "/a", "/a/x");
  }

  @Test
  void aDirectoryThatItsOwnerDoesNotNameIsForgotten() {
    refused(ErrorCode.SPREAD, 7, "/a");
    for (int i = 0; i < 5; i++) {
      assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
      assertFrom(7, "/a", "/a/x");
      assertEquals(Lesson.AGAIN, refused(ErrorCode.SPREAD, 7, "/a"));
    }
    assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
    assertEquals(Lesson.OWNER, refused(ErrorCode.NO_SHARE, 7, "/a"));
    assertPlain("/a/x");
  }

  @Test
  void manyDirectoriesAreKeptApart() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    Map<String, Long> model = new HashMap<>();
    for (int i = 1; i < 4_000; i++) {
      String path = "/d" + random.nextInt(500);
      Long known = model.get(path);
      if (known != null && random.nextInt(3) == 0) {
        routes.forget(Utf8.of(path), known);
        model.remove(path);
      } else {
        routes.add(Utf8.of(path), i);
        model.put(path, (long) i);
      }
      String some = "/d" + random.nextInt(500);
      if (model.containsKey(some)) {
        assertFrom(model.get(some), some, some + "/x");
      } else {
        assertPlain(some + "/x");
      }
    }
  }

  @Test
  void tooManyDirectoriesAreForgotten() {
    for (int i = 0; i <= Routes.MOST; i++) {
      routes.add(Utf8.of("/d" + i), i + 1);
    }
    assertPlain("/d0/x");
    assertFrom(Routes.MOST + 1, "/d" + Routes.MOST, "/d" + Routes.MOST + "/x");
  }
}
