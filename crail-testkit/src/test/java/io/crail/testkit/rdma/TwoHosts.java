/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** For tests of what is between the two hosts of the test machine, or of their soft-RoCE. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@DisabledIfSystemProperty(
    named = RdmaHost.OWN_DEVICE,
    matches = ".*",
    disabledReason = "needs the two hosts of bin/rdma-vm")
public @interface TwoHosts {}
