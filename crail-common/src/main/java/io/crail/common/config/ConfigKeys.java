/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.util.List;

/**
 * The keys of one room. A room that declares keys provides an implementation through {@link
 * java.util.ServiceLoader}, so that a configuration knows every key on the class path and can
 * refuse a misspelt one. The names of those of Crail also stand in {@code keys.txt}, which 'ci/docs
 * --update' writes.
 */
public interface ConfigKeys {
  /** The heading of these keys in the reference page. */
  String title();

  /** All keys of the room, in the order of the reference page. */
  List<ConfigKey<?>> keys();
}
