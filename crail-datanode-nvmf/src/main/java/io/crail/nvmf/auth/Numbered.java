/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

/** A choice of DH-HMAC-CHAP that has a number in messages. */
interface Numbered {
  /** Its number. */
  int id();

  /** The one of a number; null when there is none. */
  static <E extends Enum<E> & Numbered> E of(Class<E> type, int id) {
    for (E each : type.getEnumConstants()) {
      if (each.id() == id) {
        return each;
      }
    }
    return null;
  }
}
