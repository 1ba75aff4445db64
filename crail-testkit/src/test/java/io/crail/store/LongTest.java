/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** A class whose like runs always, and that runs where there is time for all of them. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "more of the same on an emulated machine: only among the long tests")
@interface LongTest {}
