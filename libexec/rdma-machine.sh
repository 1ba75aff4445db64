# SPDX-License-Identifier: Apache-2.0
# What bin/rdma-vm boots: Debian's stock kernel, and an initramfs that goes on in this host's own root
# file system. Sourced by bash. Needs common.sh, and $cache, the directory that keeps all of it.

machine_packages=(qemu-system-x86 busybox-static cpio kmod iproute2 rdma-core ibverbs-providers
  ibverbs-utils rdmacm-utils perftest nvme-cli fio)

# Modules that mount the root, and those that every guest needs. All others are found in $machine.
# rdma_rxe looks up crc32 by name: nothing that modprobe knows of depends on it.
machine_modules=(virtio_pci 9p 9pnet_virtio overlay virtio_console crc32_generic veth rdma_rxe
  rdma_ucm ib_uverbs)

# Where administrators' programs are, also for those who are none.
export PATH=$PATH:/usr/sbin:/sbin

# machine_name: what a machine made by this script is called, but for its kernel, which comes first.
machine_name() {
  sha256sum <"${BASH_SOURCE[0]}" | cut -c 1-12
}

# machine_find: sets $machine to the newest one that this script has made; fails when there is none.
machine_find() {
  local name candidate
  machine=
  name=$(machine_name)
  for candidate in "$cache"/linux-image-*-"$name"; do
    if [ -d "$candidate" ] && { [ -z "$machine" ] || [ "$candidate" -nt "$machine" ]; }; then
      machine=$candidate
    fi
  done
  [ -n "$machine" ] && command -v qemu-system-x86_64 >/dev/null
}

# machine_lock: waits for whoever sets up, and lets nobody else do so until the caller is gone.
machine_lock() {
  mkdir -p "$cache/runs" || die "cannot write to $cache"
  exec {machine_lock}>"$cache/lock"
  # A look at what is there takes seconds, and is not worth a word.
  if ! flock -w 30 "$machine_lock"; then
    say "rdma-vm: another one is being prepared; waiting for it ..."
    flock -w 900 "$machine_lock" || die "waited 900 s for another set-up; $cache/lock is held"
  fi
}

# machine_setup: installs the packages that are missing and makes the machine of the newest kernel,
# unless it is there. Ends the script with the reason when that is not possible here.
machine_setup() {
  local kernel version wanted new
  [ "$(uname -sm)" = "Linux x86_64" ] || die "runs on Linux x86-64 only"
  command -v apt-get >/dev/null || die "needs the kernel of Debian, and apt-get to fetch it"
  command -v flock >/dev/null || die "needs flock"
  machine_lock
  install_packages
  kernel=$(kernel_package)
  if [ -z "$kernel" ] && update_lists; then
    kernel=$(kernel_package)
  fi
  [ -n "$kernel" ] || die "apt knows no package that linux-image-amd64 depends on"
  version=$(apt-cache show --no-all-versions "$kernel" | sed -n 's/^Version: //p')
  wanted=$cache/${kernel}_${version//:/%}-$(machine_name)
  if [ ! -d "$wanted" ]; then
    say "rdma-vm: making a machine of $kernel ..."
    rm -rf "$cache"/new.*
    new=$(mktemp -d "$cache/new.XXXXXX")
    machine_make "$new" "$kernel"
    chmod 755 "$new"
    mv -T "$new" "$wanted"
  fi
  touch "$wanted"
  machine=$wanted
  remove_others
}

install_packages() {
  local package missing=()
  for package in "${machine_packages[@]}"; do
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

kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null \
    | sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1
}

# machine_make <directory> <kernel's package>
machine_make() {
  local fetch=(timeout 300 apt-get download -q -o APT::Sandbox::User=root "$2") version
  if ! (cd "$1" && quietly "${fetch[@]}"); then
    # The lists may be older than what the mirror keeps.
    update_lists || true
    (cd "$1" && quietly "${fetch[@]}") || die "could not fetch $2"
  fi
  dpkg-deb -x "$1"/*.deb "$1/kernel"
  rm "$1"/*.deb
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

# remove_others: machines that nobody can find or that nobody uses any more.
remove_others() {
  local other
  for other in "$cache"/linux-image-*; do
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
    tcg-single) flags=(-accel "tcg,thread=single,tb-size=1024" -cpu max) ;;
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

# machine_accelerator: sets $accelerator. A /dev/kvm that can be opened is no proof, nested it may
# hang: only a guest that boots is. What was found holds until this host boots.
machine_accelerator() {
  local file boot found log
  accelerator=tcg
  [ -w /dev/kvm ] || return 0
  file=$machine/accelerator
  boot=$(cat /proc/sys/kernel/random/boot_id)
  if read -r found accelerator 2>/dev/null <"$file" && [ "$found" = "$boot" ]; then
    return 0
  fi
  accelerator=tcg
  log=$(mktemp "$cache/probe.XXXXXX")
  machine_qemu kvm 1 512 rdma_vm_probe -serial "file:${log//,/,,}"
  # In a shell of its own: how QEMU dies is of no interest.
  (setpriv --pdeathsig KILL timeout -s KILL 15 "${qemu[@]}" || true) >/dev/null 2>&1 </dev/null
  ! grep -q RDMA-VM-ALIVE "$log" || accelerator=kvm
  rm -f "$log"
  echo "$boot $accelerator" >"$file.$$"
  mv "$file.$$" "$file"
}
