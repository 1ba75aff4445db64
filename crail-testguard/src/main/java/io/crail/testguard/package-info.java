/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watches over the tests of all modules that have it on their test class path: JUnit finds it there
 * by itself.
 */
package io.crail.testguard;
