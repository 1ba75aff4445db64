/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.error.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests which errors come with a cure. */
class PathErrorsTest {
  private static String text(ErrorCode code, String detail) throws Exception {
    return PathErrors.text("/a/b", code.exception(detail));
  }

  @ParameterizedTest
  @EnumSource(names = {"TIMED_OUT", "UNAVAILABLE"})
  void aServerThatDoesNotAnswerIsLookedForWithCommands(ErrorCode code) throws Exception {
    assertEquals(
        code.text() + ": datanode d:1; 'crail ping' and 'crail datanodes' show who answers",
        text(code, "datanode d:1"));
  }

  @Test
  void aFullStoreAndLostDataHaveTheirCommands() throws Exception {
    assertEquals(
        "no space: class 0; 'crail df' shows what is free", text(ErrorCode.NO_SPACE, "class 0"));
    assertEquals(
        "data is lost: d:1; compute it again, 'crail rm' removes what is left",
        text(ErrorCode.DATA_LOST, "d:1"));
  }

  @Test
  void aMissingParentIsMadeByACommand() throws Exception {
    assertEquals(
        "its parent does not exist; make it: crail mkdir -p /a",
        text(ErrorCode.PARENT_NOT_FOUND, "/a/b"));
  }

  @Test
  void aDetailThatIsThePathIsNotRepeated() throws Exception {
    assertEquals(ErrorCode.NOT_EMPTY.text(), text(ErrorCode.NOT_EMPTY, "/a/b"));
  }
}
