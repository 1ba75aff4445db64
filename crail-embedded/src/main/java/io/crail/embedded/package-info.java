/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A whole cluster inside one process, for tests of programs that use Crail and for tools without a
 * configured cluster. It needs no test framework.
 */
package io.crail.embedded;
