/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import org.junit.jupiter.api.Tag;

/** The RDMA tier as it is unless told otherwise. */
@Tag("rdma")
class RdmaTierTest extends RdmaTierContract {}
