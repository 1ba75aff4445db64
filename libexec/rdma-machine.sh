# SPDX-License-Identifier: Apache-2.0
# What bin/rdma-vm boots. With KVM, or when it is asked for: Debian's stock kernel in QEMU, and an
# initramfs that goes on in this host's own root file system. Elsewhere: Debian's kernel as a process
# of this host (user-mode Linux), built from its source. Sourced by bash. Needs common.sh, and $cache,
# the directory that keeps all of it.

machine_tools=(busybox-static kmod iproute2 rdma-core ibverbs-providers ibverbs-utils rdmacm-utils
  perftest nvme-cli fio)
qemu_packages=(qemu-system-x86 cpio)
uml_packages=(gcc libc6-dev make flex bison bc xz-utils)

# What a setup may take: packages, a kernel and its build, after those of another process.
setup_seconds=7200

# Modules that mount the root, and those that every guest needs. All others are found in $machine.
# rdma_rxe looks up crc32 by name: nothing that modprobe knows of depends on it.
machine_modules=(virtio_pci 9p 9pnet_virtio overlay virtio_console crc32_generic veth rdma_rxe
  rdma_ucm ib_uverbs)

# Where administrators' programs are, also for those who are none.
export PATH=$PATH:/usr/sbin:/sbin

# machine_name: what a machine for $accelerator is called, but for its package, which comes first. It is
# another one when this script makes another one.
machine_name() {
  if [ "$accelerator" = uml ]; then
    declare -p uml_options && declare -f uml_make
  else
    declare -p machine_modules && declare -f machine_make initramfs
  fi | sha256sum | cut -c 1-12
}

# machine_find: sets $machine to the newest one for $accelerator that this script has made; fails when
# there is none.
machine_find() {
  local name candidate
  machine=
  name=$(machine_name)
  for candidate in "$cache/$(machine_kind)"-*-"$name"; do
    if [ -d "$candidate" ] && { [ -z "$machine" ] || [ "$candidate" -nt "$machine" ]; }; then
      machine=$candidate
    fi
  done
  [ -n "$machine" ] && { [ "$accelerator" = uml ] || command -v qemu-system-x86_64 >/dev/null; }
}

# machine_kind: the beginning of the names of the packages that $accelerator needs a machine of.
machine_kind() {
  if [ "$accelerator" = uml ]; then
    echo linux-source
  else
    echo linux-image
  fi
}

# machine_lock: waits for whoever sets up, and lets no one else do so until the caller is gone.
machine_lock() {
  mkdir -p "$cache/runs" || die "cannot write to $cache"
  exec {machine_lock}>"$cache/lock"
  # A look at what is there takes seconds, and is not worth a word.
  if ! flock -w 30 "$machine_lock"; then
    say "rdma-vm: another one is being prepared; waiting for it ..."
    flock -w 3600 "$machine_lock" || die "waited an hour for another set-up; $cache/lock is held"
  fi
}

# machine_setup: installs the packages that are missing, makes the machine of the newest kernel for
# $accelerator unless it is there, and sets $machine. Fails with the reason when that is not possible here. The
# work has a shell of its own: this one would go on after a step that fails, as it does below any condition,
# and keep half a machine.
machine_setup() {
  local status=0
  timeout --foreground "$setup_seconds" bash -euo pipefail -c '
    root=$1 cache=$2 accelerator=$3
    . "$root/libexec/common.sh"
    . "$root/libexec/rdma-machine.sh"
    set_up' rdma-vm "$root" "$cache" "$accelerator" || status=$?
  [ "$status" != 124 ] || say "rdma-vm: the setup was not done within $setup_seconds s"
  [ "$status" = 0 ] || return 1
  machine_find || {
    say "rdma-vm: the setup made no machine"
    return 1
  }
}

# set_up: the work of machine_setup, for a shell that ends at the first step that fails.
set_up() {
  local package version wanted new
  [ "$(uname -sm)" = "Linux x86_64" ] || die "runs on Linux x86-64 only"
  command -v apt-get >/dev/null || die "needs the kernel of Debian, and apt-get to fetch it"
  command -v flock >/dev/null || die "needs flock"
  machine_lock
  if [ "$accelerator" = uml ]; then
    [[ $cache != *[[:space:]]* ]] || die "user-mode Linux takes no spaces in $cache"
    install_packages "${machine_tools[@]}" "${uml_packages[@]}"
  else
    install_packages "${machine_tools[@]}" "${qemu_packages[@]}"
  fi
  package=$(kernel_package)
  if [ -z "$package" ] && update_lists; then
    package=$(kernel_package)
  fi
  [ -n "$package" ] || die "apt knows no package of a kernel named $(machine_kind)"
  version=$(apt-cache show --no-all-versions "$package" | sed -n 's/^Version: //p')
  wanted=$cache/${package}_${version//:/%}-$(machine_name)
  if [ ! -d "$wanted" ]; then
    rm -rf "$cache"/new.*
    new=$(mktemp -d "$cache/new.XXXXXX")
    if [ "$accelerator" = uml ]; then
      say "rdma-vm: building a kernel of $package, once; that takes up to ten minutes ..."
      uml_make "$new" "$package"
    else
      say "rdma-vm: making a machine of $package ..."
      machine_make "$new" "$package"
    fi
    chmod 755 "$new"
    mv -T "$new" "$wanted"
  fi
  touch "$wanted"
  machine=$wanted
  remove_others
}

# install_packages <package...>: installs those that are missing.
install_packages() {
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] \
      || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    return 0
  fi
  [ "$(id -u)" = 0 ] || die "needs ${missing[*]}; install with: sudo apt-get install ${missing[*]}"
  say "rdma-vm: installing ${missing[*]} ..."
  update_lists || true
  quietly timeout 900 env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
    install "${missing[@]}" || die "could not install ${missing[*]}"
}

update_lists() {
  [ "$(id -u)" = 0 ] && quietly timeout 300 apt-get -q update
}

# quietly <command>: its output only when it fails.
quietly() {
  local output
  output=$("$@" 2>&1 </dev/null) || {
    tail -n 15 <<<"$output" >&2
    return 1
  }
}

# kernel_package: the package of the newest kernel for $accelerator, which a package without a version
# depends on; nothing when apt does not know it.
kernel_package() {
  local kind latest
  kind=$(machine_kind)
  latest=$kind
  [ "$kind" != linux-image ] || latest=linux-image-amd64
  # It fails for a package that it does not know.
  { apt-cache depends "$latest" 2>/dev/null || true; } \
    | sed -n "s/.*Depends: \($kind-[0-9][^ ]*\).*/\1/p" | head -n 1
}

# fetch_package <directory> <package>: extracts it to the directory kernel there.
fetch_package() {
  local fetch=(timeout 600 apt-get download -q -o APT::Sandbox::User=root "$2")
  if ! (cd "$1" && quietly "${fetch[@]}"); then
    # The lists may be older than what the mirror keeps.
    update_lists || true
    (cd "$1" && quietly "${fetch[@]}") || die "could not fetch $2"
  fi
  dpkg-deb -x "$1"/*.deb "$1/kernel"
  rm "$1"/*.deb
}

# machine_make <directory> <kernel's package>
machine_make() {
  local version
  fetch_package "$1" "$2"
  version=$(basename "$1"/kernel/lib/modules/*)
  mv "$1/kernel/boot/vmlinuz-$version" "$1/vmlinuz"
  mv "$1/kernel/lib/modules/$version" "$1/modules"
  rm -rf "$1/kernel"
  # Half a gigabyte of drivers for what the guest has not.
  rm -rf "$1"/modules/kernel/{sound,drivers/{gpu,media,staging,iio,net/wireless,net/ethernet}}
  mkdir -p "$1/lib/lib/modules"
  ln -s ../../../modules "$1/lib/lib/modules/$version"
  depmod -b "$1/lib" "$version"
  initramfs "$1" "$version"
}

# initramfs <directory> <kernel's version>: writes initramfs, which loads what it takes to mount the
# root and goes on there.
initramfs() {
  local files=$1/files module number=100
  mkdir -p "$files"/{bin,modules,proc,sys,dev,lower,upper,root}
  cp "$(command -v busybox)" "$files/bin/busybox"
  while IFS= read -r module; do
    cp "$module" "$files/modules/$((number++))-${module##*/}"
  done < <(modprobe -d "$1/lib" -S "$2" --show-depends -a "${machine_modules[@]}" \
    | sed -n 's/^insmod \(.*[^ ]\) *$/\1/p' | awk '!seen[$0]++')
  [ "$number" -gt 100 ] || die "found no modules for $2"
  cat >"$files/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
if $b grep -q rdma_vm_probe /proc/cmdline; then
  echo RDMA-VM-ALIVE
  $b reboot -f
fi
for module in /modules/*; do
  $b insmod "$module" || echo "rdma-vm: could not load $module"
done
p9() { $b mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,cache=mmap,ro" "$@"; }
p9 root /lower
$b mount -t tmpfs -o size=75% tmpfs /upper
$b mkdir /upper/files /upper/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
for directory in proc sys dev; do
  $b mount --move /$directory /root/$directory
done
$b mkdir -p /root/run
$b mount -t tmpfs tmpfs /root/run
$b mkdir /root/run/rdma-vm
p9 run /root/run/rdma-vm
exec $b switch_root /root /bin/bash -c '
  exec >/dev/console 2>&1
  bash /run/rdma-vm/rdma-guest.sh boot
  echo b >/proc/sysrq-trigger
  sleep 9'
INIT
  chmod +x "$files/init"
  (cd "$files" && find . | cpio -o -H newc --quiet | gzip -1) >"$1/initramfs"
  rm -rf "$files"
}

# What the kernel of uml_make has, all of it built in: the network and its RDMA, NVMe over Fabrics, and
# what a JVM and the programs of a test need.
uml_options=(
  64BIT MODULES BINFMT_ELF BINFMT_SCRIPT MULTIUSER PRINTK BUG ELF_CORE BASE_FULL KALLSYMS TTY UNIX98_PTYS
  STDERR_CONSOLE STDIO_CONSOLE NULL_CHAN FD_CHAN UML_RANDOM
  # Only a kernel with a bus knows DMA, without which there is no RDMA.
  VIRTIO_UML UML_PCI_OVER_VIRTIO
  SYSVIPC POSIX_TIMERS HIGH_RES_TIMERS FUTEX EPOLL SIGNALFD TIMERFD EVENTFD SHMEM AIO ADVISE_SYSCALLS
  MEMBARRIER RSEQ CROSS_MEMORY_ATTACH FILE_LOCKING FHANDLE INOTIFY_USER
  HOSTFS PROC_FS PROC_SYSCTL SYSFS TMPFS TMPFS_XATTR CONFIGFS_FS OVERLAY_FS DEVTMPFS
  NET UNIX INET IP_ADVANCED_ROUTER IP_MULTIPLE_TABLES INET_DIAG IPV6 IPV6_MULTIPLE_TABLES NET_UDP_TUNNEL
  NETDEVICES NET_CORE VETH BRIDGE NAMESPACES NET_NS UTS_NS
  INFINIBAND INFINIBAND_USER_MAD INFINIBAND_USER_ACCESS INFINIBAND_ADDR_TRANS RDMA_RXE
  CRYPTO CRYPTO_CRC32 CRYPTO_CRC32C
  BLOCK BLK_DEV BLK_DEV_NULL_BLK NVME_CORE NVME_RDMA NVME_TCP NVME_TARGET NVME_TARGET_RDMA NVME_TARGET_TCP
)

# uml_make <directory> <package>: builds the program linux.
uml_make() {
  local make tree version
  fetch_package "$1" "$2"
  mkdir "$1/tree"
  tar -xf "$1"/kernel/usr/src/linux-source-*.tar.* -C "$1/tree" --strip-components=1
  rm -rf "$1/kernel"
  tree=$1/tree
  # Else processes of a guest that is killed would go on as processes of this host.
  sed -i 's/(void \*) \?PTRACE_O_TRACESYSGOOD)/(void *) (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))/' \
    "$tree/arch/um/os-Linux/skas/process.c"
  [ "$(grep -c PTRACE_O_EXITKILL "$tree/arch/um/os-Linux/skas/process.c")" = 2 ] \
    || die "$2: cannot make its processes end with the guest"
  printf 'CONFIG_%s=y\n' "${uml_options[@]}" >"$tree/options"
  make=(make -C "$tree" ARCH=um -s)
  quietly "${make[@]}" KCONFIG_ALLCONFIG=options allnoconfig || die "could not configure $2"
  grep -q '^CONFIG_RDMA_RXE=y' "$tree/.config" || die "$2 has no soft-RoCE for user-mode Linux"
  quietly "${make[@]}" "-j$(nproc)" linux || die "could not build $2"
  strip -o "$1/linux" "$tree/linux"
  # For modprobe.
  mkdir -p "$1/modules" "$1/lib/lib/modules"
  cp "$tree"/modules.builtin* "$1/modules/"
  touch "$1/modules/modules.order"
  version=$(<"$tree/include/config/kernel.release")
  ln -s ../../../modules "$1/lib/lib/modules/$version"
  depmod -b "$1/lib" "$version"
  rm -rf "$tree"
}

# remove_others: machines that cannot be found or are not used any more.
remove_others() {
  local other
  for other in "$cache/$(machine_kind)"-*; do
    [ "$other" = "$machine" ] || flock -n -E 0 "$other" rm -rf "$other"
  done
}

# machine_qemu <accelerator> <processors> <MiB> <kernel's arguments> [option...]: sets $qemu, the
# command that runs $machine.
machine_qemu() {
  local flags=() arguments=$4
  case "$1" in
    kvm) flags=(-accel kvm -cpu host) ;;
    tcg) flags=(-accel "tcg,thread=multi,tb-size=1024" -cpu max) ;;
  esac
  # The emulated counter is the host's, the same for all processors, which the kernel does not
  # believe; any other clock costs a system call and a device.
  [ "$1" = kvm ] || arguments+=" tsc=reliable"
  qemu=(qemu-system-x86_64 "${flags[@]}" -smp "$2" -m "$3" -nodefaults -display none -no-reboot
    -kernel "$machine/vmlinuz" -initrd "$machine/initramfs"
    -append "console=ttyS0 quiet panic=-1 oops=panic mitigations=off random.trust_cpu=on $arguments")
  shift 4
  qemu+=("$@")
}

# machine_uml <MiB> <option...>: sets $uml, the command that runs $machine as a process. The options go
# to its kernel.
machine_uml() {
  uml=("$machine/linux" "mem=$1M" quiet oops=panic root=/dev/root rootfstype=hostfs rootflags=/
    ro con=null null_blk.nr_devices=0 init=/bin/bash "${@:2}")
}

# machine_accelerator [qemu|uml]: sets $accelerator: kvm where it works, else uml; for qemu kvm or tcg.
machine_accelerator() {
  if [ "${1:-}" != uml ] && kvm_works; then
    accelerator=kvm
  elif [ "${1:-}" = qemu ]; then
    accelerator=tcg
  else
    accelerator=uml
  fi
}

# kvm_works: a /dev/kvm that can be opened is no proof, nested it may hang: only a guest that boots is.
# What was found holds until this host boots.
kvm_works() {
  local file boot found works=false log
  [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo || return 1
  accelerator=kvm
  machine_find || machine_setup || return 1
  file=$machine/kvm
  boot=$(cat /proc/sys/kernel/random/boot_id)
  if ! read -r found works 2>/dev/null <"$file" || [ "$found" != "$boot" ]; then
    log=$(mktemp "$cache/probe.XXXXXX")
    machine_qemu kvm 1 512 rdma_vm_probe -serial "file:${log//,/,,}"
    # In a shell of its own: how QEMU dies is of no interest.
    (setpriv --pdeathsig KILL timeout -s KILL 15 "${qemu[@]}" || true) >/dev/null 2>&1 </dev/null
    works=false
    ! grep -q RDMA-VM-ALIVE "$log" || works=true
    rm -f "$log"
    echo "$boot $works" >"$file.$$"
    mv "$file.$$" "$file"
  fi
  $works
}
