# SPDX-License-Identifier: Apache-2.0
# Installs the programs with which Crail is compared, or under which it is measured. Sourced by bash,
# not part of the tarball. Needs common.sh and build.sh.

# install_peers: installs Redis, iperf3 and taskset as root on a Debian; otherwise it does nothing.
install_peers() {
  local missing=()
  command -v redis-server >/dev/null || missing+=(redis)
  command -v iperf3 >/dev/null || missing+=(iperf3)
  command -v taskset >/dev/null || missing+=(util-linux)
  if [ ${#missing[@]} -eq 0 ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    return 0
  fi
  say "crail: installing ${missing[*]} to compare with ..."
  if ! DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
    "${missing[@]}" </dev/null >&2; then
    say "crail: could not install ${missing[*]}; going on without"
  fi
}

# fetch_hdfs: sets $hdfs to a directory with all jars of HDFS; fails when there is none.
fetch_hdfs() {
  local log=$dist_target/hdfs.log next
  hdfs=$dist_target/hdfs-$(property hadoop.version)
  [ ! -d "$hdfs" ] || return 0
  say "crail: fetching HDFS ..."
  setup
  next=$(mktemp -d "$dist_target/fetching-XXXXXX")
  if ! maven -q -f crail-lab/src/hdfs/pom.xml -Dhadoop.version="$(property hadoop.version)" \
    -Djunit.version="$(property junit.version)" \
    dependency:copy-dependencies -DoutputDirectory="$next" >"$log" 2>&1; then
    rm -rf "$next"
    say "crail: HDFS could not be fetched; all output is in $log"
    return 1
  fi
  mv -T "$next" "$hdfs"
}

# fetch_spark: sets $spark to a directory with all jars of Spark in jars/; fails when there is none.
fetch_spark() {
  local log=$dist_target/spark.log next
  spark=$dist_target/spark-$(property spark.version)
  [ ! -d "$spark/jars" ] || return 0
  say "crail: fetching Spark ..."
  setup
  mkdir -p "$spark"
  next=$(mktemp -d "$dist_target/fetching-XXXXXX")
  if ! maven -q -f crail-dist/src/spark/pom.xml -Dspark.version="$(property spark.version)" \
    -Dspark.target="$spark" dependency:copy-dependencies -DoutputDirectory="$next" >"$log" 2>&1; then
    rm -rf "$next"
    say "crail: Spark could not be fetched; all output is in $log"
    return 1
  fi
  mv -T "$next" "$spark/jars"
}
