/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import org.junit.jupiter.api.function.Executable;

/** Assertions about errors: the code decides, the detail names the thing. */
public final class Refusals {
  private Refusals() {}

  public static void refused(ErrorCode code, Executable action) {
    CrailException e = assertThrows(CrailException.class, action);
    assertEquals(code, e.code(), e.getMessage());
  }

  public static void refused(ErrorCode code, String named, Executable action) {
    CrailException e = assertThrows(CrailException.class, action);
    assertEquals(code, e.code(), e.getMessage());
    assertTrue(e.detail().contains(named), e.getMessage());
  }
}
