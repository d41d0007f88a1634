// Package installer turns a host of the live image into a member of a cluster. Each stage
// is a method of Installer, one file a stage: our agent runs them one by one as the
// workflow commands them; Install runs them all in the order of
// docs/reference/installer.md, "Order of the stages" and reports the stages itself, as
// any v2 agent does.
//
// # Commands
//
// All go through run.Runner, in this order within a stage; [x] marks what depends on
// the machine or the request.
//
//	disk-clean:
//	  [each disk to format: dd if=/dev/zero of=DISK bs=512 count=1]
//	  lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT DEVICE
//	  pvs --reportformat json --options pv_name,vg_name,vg_uuid
//	  [vgremove --yes --force VG] [pvremove --yes --force --force PV]
//	  [dmsetup remove --retry NAME] [mdadm --stop MD] [mdadm --zero-superblock MEMBER]
//	  [each partition: wipefs --all --force PARTITION]
//	  wipefs --all --force DEVICE                 fallback: wipefs --all DEVICE
//	  after a failure: lsblk, [dmsetup remove --retry NAME] [mdadm --stop MD] of all that is stacked, and all from lsblk on once more
//	bootstrap-start:
//	  [ssh-keygen -q -t ecdsa -b 256 -N  -f /root/.ssh/id_ecdsa]   when that file is missing
//	  [hostnamectl set-hostname NAME]             when the host's name is not usable
//	  systemctl daemon-reload
//	  [systemctl enable UNIT...] [systemctl disable UNIT...] [systemctl mask UNIT...]   as bootstrap.ign says
//	  systemctl restart NetworkManager.service
//	  [systemctl start --no-block node-image-pull.service node-image-overlay.service]   without /usr/bin/oc, when
//	                                              bootstrap.ign has them; then every 5 s:
//	  [systemctl show --property=Id,ActiveState,Result UNIT...]   until node-image-overlay.service is active, or one of both has failed
//	  [systemctl start bootkube.service approve-csr.service progress.service]   unless bootkube is done
//	image-write:
//	  coreos-installer install --insecure -i /opt/install-dir/ROLE-HOSTID.ign [installer args] DEVICE
//	  with an image of CoreOS in the request, beside the running system instead; ostree and rpm-ostree by
//	  systemctl stop slipway-image.service
//	  systemd-run --quiet --wait --pipe --collect --unit=slipway-image.service --setenv=VARIABLE... -- COMMAND:
//	  mount /sysroot -o remount,rw; mount /boot -o remount,rw
//	  [touch /ostree/repo/tmp/node-image; ostree refs --repo /ostree/repo --delete coreos/node-image]   when it is there
//	  [ostree admin stateroot-init install]       unless it is there
//	  ostree container image deploy --stateroot install --sysroot / --authfile FILE --karg KARG... --image IMAGE
//	  ostree admin finalize-staged
//	  [rpm-ostree kargs --os install --append KARG... --delete-if-present KARG...; ostree admin finalize-staged]
//	  sync --file-system /boot                    before and after /boot/ignition.firstboot is made
//	control-plane-wait and bootkube-wait, every 5 s:
//	  systemctl show --property=Id,ActiveState,Result UNIT...   those that carry the control plane; not on a single node, after
//	                                              .bootkube.done: progress.service until it is inactive
//	  [journalctl --no-pager --output=cat --lines=20 --unit=UNIT]   of a unit that failed: the step ends
//	reboot:
//	  the commands of SendLogs
//	  with /sys/firmware/efi:
//	  lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH DEVICE   every 2 s, until it lists the EFI system partition, for 20 s
//	  efibootmgr -v; [efibootmgr -q -b NUMBER -B]   entries of earlier installations
//	  mount -o ro PARTITION /run/slipway/efi; umount /run/slipway/efi   in which folder is the loader? mount: every 2 s for 20 s
//	  efibootmgr -c -d DEVICE -p 2 -L "Red Hat Enterprise Linux" -l \EFI\redhat\shimx64.efi   shimaa64.efi on arm64
//	  [bootlist -m normal -o DEVICE]              on ppc64le
//	  shutdown -r +1                              single node: shutdown -r now
//	SendLogs; each may fail, its error then stands in the archive:
//	  journalctl --no-pager --output=short-iso --unit=agent.service
//	  the same for ironic-agent and NetworkManager
//	  dmesg | lsblk --output-all | ls -lR /dev/disk | pvdisplay | vgdisplay | lvdisplay | cat /proc/mdstat | cat /etc/resolv.conf
//	  chronyc -n sources | findmnt | ip address | ip route | systemctl --no-pager --failed
//	  [bootstrap: journalctl --no-pager --output=short-iso --unit=UNIT for bootkube, release-image, kubelet, crio,
//	                                              approve-csr, progress, node-image-pull]
//	  [bootstrap, when it exists: /usr/local/bin/installer-gather.sh --id CLUSTERID MASTERIP...]
//
// Files, all below the root prefix: reads and writes /opt/install-dir, /opt/openshift
// (.bootkube.done, master.ign, auth/kubeconfig, manifests/), /root/.docker/config.json,
// /var/log/containers/*machine-config-server*.log, what bootstrap.ign lists, and checks
// that the devices of the request exist.
package installer
