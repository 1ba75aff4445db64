# SPDX-License-Identifier: Apache-2.0
# Builds a clone so that it can run. Sourced by bash, not part of the tarball. Needs $root and
# common.sh.

dist_target=$root/crail-dist/target

# setup: makes sure that there are a JDK and Maven. On a Debian it installs them as root; otherwise
# it ends the script and prints the command to install them. Sets $build_java.
setup() {
  local missing=() log
  build_java=$(find_java 17 99 javac) || missing+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || missing+=(maven)
  command -v flock >/dev/null || missing+=(util-linux)
  command -v find >/dev/null || missing+=(findutils)
  if [ ${#missing[@]} -eq 0 ]; then
    return 0
  fi
  if ! command -v apt-get >/dev/null; then
    die "needs a JDK (17 or newer), Maven (3.6.3 or newer), flock and find; missing here, by" \
      "their Debian names: ${missing[*]}"
  fi
  if [ "$(id -u)" != 0 ]; then
    die "needs ${missing[*]}; install with: sudo apt-get install ${missing[*]}"
  fi
  say "crail: installing ${missing[*]} ..."
  log=$(mktemp)
  if ! {
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update && apt-get -q -y --no-install-recommends install "${missing[@]}"
  } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    die "could not install ${missing[*]}; all output is in $log"
  fi
  rm -f "$log"
  build_java=$(find_java 17 99 javac) || die "there is still no JDK of version 17 or newer"
}

# setup_shellcheck: installs shellcheck in the same way. Without it, only the syntax of scripts is
# checked.
setup_shellcheck() {
  if command -v shellcheck >/dev/null || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    return 0
  fi
  say "crail: installing shellcheck ..."
  (
    export DEBIAN_FRONTEND=noninteractive
    timeout 120 apt-get -q update && timeout 300 apt-get -q -y --no-install-recommends install shellcheck
  ) >/dev/null 2>&1 </dev/null || say "crail: shellcheck could not be installed"
}

# native_missing: prints the Debian names of the missing packages without which the native library
# for RDMA cannot be built.
native_missing() {
  local missing=()
  command -v cc >/dev/null || missing+=(gcc)
  command -v make >/dev/null || missing+=(make)
  has_header stdlib.h || missing+=(libc6-dev)
  has_header infiniband/verbs.h || missing+=(libibverbs-dev)
  has_header rdma/rdma_cma.h || missing+=(librdmacm-dev)
  echo "${missing[*]}"
}

has_header() {
  command -v cc >/dev/null && cc -E -x c - -o /dev/null <<<"#include <$1>" 2>/dev/null
}

# setup_native: the same as setup for the native library. Does not end the script when packages are
# missing, since everything except RDMA works without them. Sets $native_lacks to the missing ones.
setup_native() {
  local missing log tried=$dist_target/.native-tried
  native_lacks=$(native_missing)
  if [ -z "$native_lacks" ] || [ -e "$tried" ] || [ "$(id -u)" != 0 ] \
    || ! command -v apt-get >/dev/null; then
    return 0
  fi
  read -ra missing <<<"$native_lacks"
  say "crail: installing ${missing[*]} for RDMA ..."
  log=$(mktemp)
  if (
    export DEBIAN_FRONTEND=noninteractive
    timeout 120 apt-get -q update \
      && timeout 300 apt-get -q -y --no-install-recommends install "${missing[@]}"
  ) >"$log" 2>&1 </dev/null; then
    native_lacks=$(native_missing)
  fi
  # Only once, since a machine without a network would try again at each build.
  if [ -n "$native_lacks" ]; then
    mkdir -p "$dist_target"
    mv "$log" "$tried"
  else
    rm -f "$log"
  fi
}

# build_native: builds the native library if that is possible, otherwise says why not.
build_native() {
  local log=$dist_target/native.log
  setup_native
  if [ -n "$native_lacks" ]; then
    say "crail: building without RDMA, which needs: $native_lacks"
  elif ! make_native all >"$log" 2>&1; then
    say "crail: building without RDMA: its native library failed to build; all output is in $log"
  fi
}

# build_spdk: builds the native library of the initiator on SPDK where pkg-config finds SPDK. It
# is optional, so without SPDK this prints nothing.
build_spdk() {
  local log=$dist_target/spdk.log
  if has_spdk && ! make_spdk all >"$log" 2>&1; then
    say "crail: building without SPDK: its native library failed to build; all output is in $log"
  fi
}

# has_spdk: whether there is SPDK of a release that is new enough.
has_spdk() {
  local flags
  [ -z "$(native_missing)" ] && command -v pkg-config >/dev/null \
    && flags=$(pkg-config --cflags spdk_nvme spdk_env_dpdk 2>/dev/null) || return 1
  # shellcheck disable=SC2086
  cc -E -x c $flags -o /dev/null - 2>/dev/null <<'END'
#include <spdk/version.h>
#if SPDK_VERSION < SPDK_VERSION_NUM(25, 9, 0)
#error too old
#endif
END
}

# make_spdk <target> ...
make_spdk() {
  JAVA_HOME=${build_java%/bin/java} make -s -C "$root/crail-nvmf-spdk" "$@" </dev/null
}

# make_native <target> ...
make_native() {
  JAVA_HOME=${build_java%/bin/java} make -s -C "$root/crail-verbs" "$@" </dev/null
}

# maven <arguments>: runs Maven with the JDK that setup found, in the root of the clone. Without the second
# compiler it takes two thirds of the processors' time.
maven() {
  (
    cd "$root" || exit
    export JAVA_HOME=${build_java%/bin/java}
    export MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}"
    mvn -B -ntp "$@" </dev/null
  )
}

# property <name>: prints a property of the build.
property() {
  sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" "$root/pom.xml"
}

# commit: prints which commit is checked out, and whether files differ from it; nothing outside of git.
commit() {
  git -C "$root" describe --always --abbrev=12 --exclude='*' --dirty 2>/dev/null || true
}

# newer_sources <stamp>: true when a file that the build reads has changed after the stamp. A
# removed file changes the time of its directory.
newer_sources() {
  [ -n "$(cd "$root" && find pom.xml .mvn crail-*/pom.xml crail-*/Makefile crail-*/src/main \
    -newer "$1" -print -quit 2>&1)" ]
}

is_built() {
  [ -e "$dist_target/crail/.built" ] && ! newer_sources "$dist_target/crail/.built"
}

# tests_are_built: whether the build included the tests' classes, and no test has changed since.
tests_are_built() {
  is_built && [ -e "$dist_target/crail/.tests" ] && [ -z "$(cd "$root" \
    && find crail-*/src/test -newer "$dist_target/crail/.built" -print -quit 2>&1)" ]
}

# build [tests]: builds and assembles unless that has been done, on request with the classes of the
# tests. Only one build runs at a time. A finished layout is never changed, so that programs can
# continue to run from an old one. Sets $layout.
build() {
  if ! is_built || [ -n "${1:-}" ]; then
    setup
    build_alone "$@" 8<"$root/pom.xml"
  fi
  layout=$(readlink -f "$dist_target/crail")
}

# build_tests: the same with the classes of the tests, if they are not there.
build_tests() {
  if tests_are_built; then
    build
  else
    say "crail: building what has changed ..."
    build tests
  fi
}

# class_path <module>: prints the class path of the tests of a module, which is there after
# build_tests.
class_path() {
  local target=$root/$1/target
  # While Maven packages, modules stand there as jars.
  tr ':' '\n' <<<"$(cat "$target/test.classpath")" \
    | sed -E "1i $target/test-classes\n$target/classes
        s|^($root/crail-[^/]*/target/)crail-[^/]*-tests\.jar$|\1test-classes|
        s|^($root/crail-[^/]*/target/)crail-[^/]*\.jar$|\1classes|"
}

# quick_start <java>: prints the options with which processes of $layout that live for seconds start in
# half of the time: without the second compiler, and with an archive of their classes for this JVM,
# which is made if it is not there. A JVM with another class path ignores it.
quick_start() {
  local archive options=-XX:TieredStopAtLevel=1
  archive=$layout/.classes-$(java_major "$1").jsa
  # bin/crail takes a blank for the end of an option. A cluster in one process has the classes of
  # servers and clients.
  if [[ ! -e $archive && $archive != *[[:space:]]* ]]; then
    if JAVA_HOME=${1%/bin/java} CRAIL_CONF_DIR=$layout/conf \
      CRAIL_EXTRA_JAVA_OPTIONS="$options -XX:ArchiveClassesAtExit=$archive.$$ -Xlog:disable" \
      timeout 120 env -u CRAIL_HOME -u CRAIL_CLIENT_OPTS "$layout/bin/crail" iobench -t write -s 4k \
      >/dev/null 2>&1 </dev/null && [ -e "$archive.$$" ]; then
      mv "$archive.$$" "$archive"
    else
      rm -f "$archive.$$"
    fi
  fi
  [ ! -e "$archive" ] || options+=" -XX:SharedArchiveFile=$archive -Xlog:disable"
  printf '%s\n' "$options"
}

build_alone() {
  local what=(package -Dmaven.test.skip=true) log started next old
  if ! flock -n 8; then
    say "crail: another build is at work; waiting for it ..."
    flock 8
  fi
  if is_built && [ -z "${1:-}" ]; then
    return 0
  fi
  if [ -n "${1:-}" ]; then
    what=(package dependency:build-classpath -DskipTests -Dmdep.outputFile=target/test.classpath)
  else
    say "crail: building (a minute or so the first time) ..."
  fi
  mkdir -p "$dist_target"
  log=$dist_target/build.log
  started=$dist_target/.started
  touch "$started"
  rm -rf "$dist_target/assembling"
  build_native
  build_spdk
  if ! maven -q "${what[@]}" -Dcrail.tarball.skip=true -Dcrail.commit="$(commit)" \
    -Dcrail.layout.parent="$dist_target/assembling" >"$log" 2>&1; then
    grep -E '^\[ERROR\]|\.java:' "$log" | head -n 30 >&2 || true
    die "the build failed; all of its output is in $log"
  fi
  [ -z "${1:-}" ] || touch "$dist_target/assembling/crail/.tests"
  next=$dist_target/crail-$(date +%s%N)
  mv "$started" "$dist_target/assembling/crail/.built"
  mv "$dist_target/assembling/crail" "$next"
  rmdir "$dist_target/assembling"
  # A directory in this place comes from a manual run of Maven.
  [ -L "$dist_target/crail" ] || rm -rf "$dist_target/crail"
  old=$(readlink -f "$dist_target/crail" || true)
  ln -s "${next##*/}" "$dist_target/crail.next"
  mv -T "$dist_target/crail.next" "$dist_target/crail"
  find "$dist_target" -maxdepth 1 -name 'crail-[0-9]*' -type d \
    ! -path "$next" ! -path "${old:-$next}" -exec rm -rf {} +
}
