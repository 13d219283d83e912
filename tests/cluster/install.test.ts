/**
 * docs/install.md, as a reader follows it: the package on a bare machine, a node of its own, a node by a stock kubeadm, a node by hand;
 * an upgrade under a running pod, the watchdog, removal. What kubeadm needs in the cluster is made with kubeadm as well.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { test } from 'node:test';
import { openGate } from '../../tools/machine/gate.ts';
import { COMPONENTS } from '../lab/cluster/components.ts';
import { type ControlPlane, startControlPlane } from '../lab/cluster/control-plane.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { waitForObject } from '../lab/cluster/wait.ts';
import { createSupplies } from '../lab/supplies.ts';
import { createSystemMachine, type SystemMachine } from '../lab/system/machine.ts';
import { BUSYBOX, until } from '../node/pod-support.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE = 'node-1';
const WAIT_MS = 180_000;
/** For which the tests' machines with cgroup v1 are to blame. */
const IGNORED = '--ignore-preflight-errors=SystemVerification';
const KUBEADM_CONFIG = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.4
controlPlaneEndpoint: 192.0.2.10:6443
networking: { serviceSubnet: 10.96.0.0/16 }
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
`;

/** There is no network: what the package needs is there, and what it recommends is not asked for. */
const INSTALL = 'apt-get install --yes --no-install-recommends';

const never = new AbortController().signal;

/** The second has the same program under a higher version: that is what an upgrade is to dpkg. */
function makePackages(): { first: string; second: string } {
  const run = (...args: readonly string[]) => {
    const said = execFileSync(process.execPath, [join(ROOT, 'tools/deb.ts'), '--compression=none', ...args], {
      encoding: 'utf8',
    });
    return /^package: (.*)$/m.exec(said)?.[1] ?? assert.fail(said);
  };
  const unpacked = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
  const first = run();
  execFileSync('dpkg-deb', ['--extract', first, unpacked]);
  const second = run('--executable', join(unpacked, 'usr/bin/kubelet'), '--version', '99.0.0');
  execFileSync('rm', ['-r', unpacked]);
  return { first, second };
}

interface Bare extends SystemMachine {
  readonly first: string;
  readonly second: string;
  kubeletPid(): Promise<string>;
}

async function createBareMachine(tools: Readonly<Record<string, string>>): Promise<Bare> {
  const packages = makePackages();
  const machine = await createSystemMachine(process.env, {
    hostName: NODE,
    cgroupDriver: 'systemd',
    covered: ['/usr', '/var/cache'],
  });
  const put = async (path: string) => {
    const target = join(machine.system.directory, basename(path));
    await copyFile(path, target);
    return target;
  };
  const placed = { first: await put(packages.first), second: await put(packages.second) };
  await rm(packages.second);
  // Images of containers have a policy against services, which no machine has.
  await machine.sh('rm -f /usr/sbin/policy-rc.d');
  for (const [name, path] of Object.entries(tools)) await machine.sh(`ln -sf ${path} /usr/bin/${name}`);
  return {
    ...machine,
    ...placed,
    kubeletPid: async () => (await machine.sh('systemctl show --property=MainPID --value kubelet')).trim(),
  };
}

/** The id of the running container of a pod, whatever the pod is called in full. */
async function runningContainer({ cri }: Bare, pod: RegExp): Promise<string | undefined> {
  const all = await cri.containers.list({ state: { state: 1 } }, never);
  return all.find(({ labels }) => pod.test(labels['io.kubernetes.pod.name'] ?? ''))?.id;
}

async function untilRuns(machine: Bare, pod: RegExp): Promise<string> {
  return await until(`${pod} runs`, () => runningContainer(machine, pod), WAIT_MS);
}

async function untilReady(plane: ControlPlane): Promise<void> {
  await waitForObject(
    plane.admin,
    { collection: '/api/v1/nodes', name: NODE, what: 'Ready', timeoutMs: WAIT_MS },
    ({ status }) => JSON.stringify(status).includes('"reason":"KubeletReady"'),
  );
}

/** systemd says that the process is another one; the kubelet says that it is ready. */
async function untilAnotherKubelet(machine: Bare, before: string): Promise<void> {
  await until(
    'systemd has started another kubelet',
    async () => {
      const shown = await machine.sh('systemctl show --property=MainPID,ActiveState kubelet');
      return shown.includes('ActiveState=active') &&
        !/^MainPID=0$/m.test(shown) &&
        !shown.includes(`MainPID=${before}\n`)
        ? true
        : undefined;
    },
    WAIT_MS,
  );
}

test('a bare machine becomes a node', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const { kubectl, kubeadm, ...components } = await createSupplies(process.env).ensure(
    ...COMPONENTS,
    'kubectl',
    'kubeadm',
  );
  await using machine = await createBareMachine({ kubectl, kubeadm });
  const { sh } = machine;
  await t.test('the package brings all its files, enables the unit and does not start it', async () => {
    await sh(`${INSTALL} ${machine.first}`);
    assert.equal(await sh('systemctl is-enabled kubelet; systemctl is-active kubelet || true'), 'enabled\ninactive\n');
    assert.equal(await sh('kubelet --version'), 'Kubernetes v1.36.4\n');
    assert.equal(await sh('dpkg --verify kubelet-ts'), '');
    assert.match(await sh('dpkg --status kubelet-ts'), /^Provides: kubelet \(= 1\.36\.4\)$/m);
    // One that depends on a kubelet takes ours for it.
    await sh(`mkdir -p /tmp/other/DEBIAN
      printf 'Package: other\\nVersion: 1\\nArchitecture: all\\nMaintainer: lab <lab@localhost>\\nDescription: needs a kubelet\\nDepends: kubelet (>= 1.36.0)\\n' > /tmp/other/DEBIAN/control
      dpkg-deb --build /tmp/other /tmp/other.deb; dpkg --install /tmp/other.deb; dpkg --purge other`);
    assert.match(await sh('MANPAGER=cat man --warnings=w kubelet 2>&1'), /--bootstrap-kubeconfig string/);
    const completed = `. /usr/share/bash-completion/completions/kubelet
      COMP_WORDS=(kubelet --kubec) COMP_CWORD=1; _kubelet; echo "\${COMPREPLY[*]}"
      COMP_WORDS=(kubelet --config = /etc/hostn) COMP_CWORD=3; _kubelet; echo "\${COMPREPLY[*]}"`;
    assert.equal(await sh(`bash -ec '${completed}'`), '--kubeconfig\n/etc/hostname\n');
  });

  await t.test('a node of its own runs the pods of a directory', async () => {
    await sh('echo "failCgroupV1: false" >> /etc/kubernetes/kubelet.yaml; systemctl start kubelet');
    const remove = await machine.writePod('alone', {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: BUSYBOX, command: ['sleep', '1000'] }],
    });
    await untilRuns(machine, /^alone-/);
    await remove();
    await until(
      'it is gone',
      async () => ((await machine.cri.containers.list({}, never)).length === 0 ? true : undefined),
      WAIT_MS,
    );
    await sh('systemctl stop kubelet');
  });

  const plane = await startControlPlane({
    world: machine.system,
    gate: await openGate(machine.system),
    binaries: components,
  });
  try {
    await joinByKubeadm(t, machine, plane);
    await joinByHand(t, machine, plane);
  } finally {
    plane.close();
  }

  await t.test('removed, it keeps its configuration; purged, nothing', async () => {
    const container = await untilRuns(machine, /^web$/);
    const files = (await sh('dpkg --listfiles kubelet-ts')).trim().split('\n');
    await sh('apt-get remove --yes kubelet-ts');
    assert.equal(
      await sh('systemctl is-active kubelet || true; ls /usr/bin/kubelet 2>&1 || true'),
      `inactive\nls: cannot access '/usr/bin/kubelet': No such file or directory\n`,
    );
    assert.equal(await runningContainer(machine, /^web$/), container, 'containers belong to the runtime');
    await sh('test -e /etc/kubernetes/kubelet.yaml; test -e /etc/default/kubelet; apt-get purge --yes kubelet-ts');
    const left = await sh(`for file in ${files.join(' ')}; do test -d $file || ls $file 2>/dev/null || true; done
      find /etc/systemd/system /var/lib/systemd -path '*kubelet*'`);
    assert.equal(left, '');
    assert.notEqual(await sh('ls /var/lib/kubelet'), '', 'the data stay: containers may use them');
  });
});

type Context = { test(name: string, run: () => Promise<void>): Promise<void> };

async function joinByKubeadm(t: Context, machine: Bare, plane: ControlPlane): Promise<void> {
  const { sh } = machine;
  const admin = `kubectl --kubeconfig=${plane.adminKubeconfig}`;
  await t.test('kubeadm joins it', async () => {
    // What "kubeadm init" leaves in a cluster.
    await sh(`printf '%s' '${KUBEADM_CONFIG}' > /etc/init.yaml
      for phase in 'upload-config all' bootstrap-token; do kubeadm init phase $phase --config=/etc/init.yaml --kubeconfig=${plane.adminKubeconfig}; done`);
    await sh(`mkdir -p /etc/systemd/system/kubelet.service.d
      cp /usr/share/kubelet-ts/10-kubeadm.conf /etc/systemd/system/kubelet.service.d/
      systemctl daemon-reload`);
    const command = await sh(`kubeadm token create --kubeconfig=${plane.adminKubeconfig} --print-join-command`);
    const said = await sh(`${command.trim()} ${IGNORED} 2>&1`);
    assert.match(said, /This node has joined the cluster/);
    // Of warnings there may be none but that for cgroup v1.
    assert.deepEqual(said.match(/WARNING (?!SystemVerification)\S+/g) ?? [], []);
    await untilReady(plane);
    assert.match(await sh('cat /var/lib/kubelet/instance-config.yaml'), /containerd\.sock/);
    assert.match(await sh('cat /var/lib/kubelet/kubeadm-flags.env'), /^KUBELET_KUBEADM_ARGS=/);
    assert.match(await sh('ls /var/lib/kubelet/pki'), /kubelet-client-current\.pem/);
  });
  await t.test('its pods have logs and take commands', async () => {
    await sh(`${admin} run web --image=${BUSYBOX} --restart=Never --command -- sh -c 'echo hello; sleep 1000'
      ${admin} wait --for=condition=Ready pod/web --timeout=180s`);
    assert.equal(await sh(`${admin} logs web; ${admin} exec web -- echo inside`), 'hello\ninside\n');
  });
  const container = await untilRuns(machine, /^web$/);
  await t.test('an upgrade of the package restarts the kubelet and no container', async () => {
    const pid = await machine.kubeletPid();
    await sh(`${INSTALL} ${machine.second}`);
    assert.notEqual(await machine.kubeletPid(), pid);
    await untilReady(plane);
    assert.equal(await sh(`${admin} exec web -- echo inside`), 'inside\n');
    assert.equal(await runningContainer(machine, /^web$/), container);
  });
  await t.test('a kubelet that hangs is started again by the watchdog', async () => {
    await sh(`printf '[Service]\\nWatchdogSec=10s\\nTimeoutAbortSec=1s\\n' > /etc/systemd/system/kubelet.service.d/20-watchdog.conf
      systemctl daemon-reload; systemctl restart kubelet`);
    const pid = await machine.kubeletPid();
    // It would have been killed by now, were it silent.
    await new Promise((wait) => setTimeout(wait, 12_000));
    assert.equal(await machine.kubeletPid(), pid);
    await sh(`kill -STOP ${pid}`);
    await untilAnotherKubelet(machine, pid);
    assert.equal(await sh('systemctl show --property=NRestarts --value kubelet'), '1\n');
    assert.equal(await runningContainer(machine, /^web$/), container);
    await sh(
      'rm /etc/systemd/system/kubelet.service.d/20-watchdog.conf; systemctl daemon-reload; systemctl restart kubelet',
    );
  });
  await t.test('kubeadm upgrades and resets it', async () => {
    assert.match(
      await sh(`kubeadm upgrade node ${IGNORED} 2>&1`),
      /kubelet configuration for this node was successfully upgraded/,
    );
    await sh('systemctl restart kubelet');
    await untilReady(plane);
    assert.equal(await runningContainer(machine, /^web$/), container);
    await sh('kubeadm reset --force');
    assert.equal(
      await sh('systemctl is-active kubelet || true; ls /var/lib/kubelet /etc/kubernetes/manifests'),
      'inactive\n/etc/kubernetes/manifests:\n\n/var/lib/kubelet:\n',
    );
    assert.deepEqual(await machine.cri.sandboxes.list({}, never), []);
    await sh(
      `${admin} delete node ${NODE}; ${admin} delete pod --all --force; rm -r /etc/systemd/system/kubelet.service.d; systemctl daemon-reload`,
    );
  });
}

/** With a token and the names of files: what kubeadm does, step by step. */
async function joinByHand(t: Context, machine: Bare, plane: ControlPlane): Promise<void> {
  const { sh } = machine;
  const admin = `kubectl --kubeconfig=${plane.adminKubeconfig}`;
  await t.test('it joins by hand, with a kubeconfig', async () => {
    const token = (await sh(`kubeadm token create --kubeconfig=${plane.adminKubeconfig}`)).trim();
    await sh(`mkdir -p /etc/kubernetes/pki; cp ${plane.pki.ca.cert} /etc/kubernetes/pki/ca.crt
      edit="kubectl config --kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf"
      $edit set-cluster main --server=${plane.server} --certificate-authority=/etc/kubernetes/pki/ca.crt
      $edit set-credentials bootstrap --token=${token}
      $edit set-context main --cluster=main --user=bootstrap
      $edit use-context main
      chmod 600 /etc/kubernetes/bootstrap-kubelet.conf
      cat > /etc/kubernetes/kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: systemd
rotateCertificates: true
authentication: { x509: { clientCAFile: /etc/kubernetes/pki/ca.crt } }
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
failCgroupV1: false
END
      echo 'KUBELET_EXTRA_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf' > /etc/default/kubelet
      systemctl restart kubelet`);
    await untilReady(plane);
    await sh(`${admin} run web --image=${BUSYBOX} --restart=Never --command -- sh -c 'echo hello; sleep 1000'
      ${admin} wait --for=condition=Ready pod/web --timeout=180s`);
    assert.equal(await sh(`${admin} logs web; ${admin} exec web -- echo inside`), 'hello\ninside\n');
  });
}
