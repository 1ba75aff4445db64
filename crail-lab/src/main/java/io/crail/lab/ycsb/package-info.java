/* SPDX-License-Identifier: Apache-2.0 */
/** YCSB with Crail and with its peers. */
package io.crail.lab.ycsb;
