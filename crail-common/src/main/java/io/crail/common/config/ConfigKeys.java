/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.util.List;

/**
 * The keys of one module. A module that declares keys provides an implementation through {@link
 * java.util.ServiceLoader}. So a configuration knows every key on the class path and can refuse a
 * misspelt one. The names of Crail's own keys are also in {@code keys.txt}, which 'ci/docs
 * --update' writes; the word {@code secret} stands after those whose values are never shown.
 */
public interface ConfigKeys {
  /** {@return the heading of these keys in the reference page} */
  String title();

  /** {@return all keys of the module, in the order of the reference page} */
  List<ConfigKey<?>> keys();
}
