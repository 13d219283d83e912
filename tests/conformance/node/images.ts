/** The images that the node suite asks for beyond those of the end-to-end suite, made from this machine's programs. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { captureOk } from '../../../tools/machine/capture.ts';
import { baseFiles, PAUSE_IMAGE, pauseImage, textFile } from '../../../tools/machine/images.ts';
import {
  describeBlob,
  type Image,
  type ImageConfig,
  type ImageSpec,
  MEDIA,
  makeBlob,
  makeImage,
} from '../../../tools/machine/oci/image.ts';
import type { TarEntry } from '../../../tools/machine/oci/tar.ts';
import { E2E, E2E_IMAGE_PACKAGES, e2eImageSpecs, PATH, shellLayers } from '../images.ts';
import { programFiles } from '../libraries.ts';

export const NODE_IMAGE_PACKAGES = [
  ...E2E_IMAGE_PACKAGES,
  'util-linux',
  'hostname',
  'libc-bin',
  'perl-base',
  'openssl',
  'netcat-openbsd',
] as const;

export interface NodeImagePrograms {
  readonly agnhost: string;
  readonly nginx: string;
  readonly sampleDevicePlugin: string;
}

const NETCAT = '/usr/bin/nc.openbsd';

/** Specs only want these to be there. */
const PLACEHOLDERS = [
  'gcr.io/cadvisor/cadvisor:v0.47.2',
  'registry.k8s.io/etcd:3.6.8-0',
  'registry.k8s.io/node-problem-detector/node-problem-detector:v1.34.0',
  'docker.io/nfvpe/sriov-device-plugin:v3.1',
  `${E2E}/node-perf/npb-ep:1.6.0`,
  `${E2E}/node-perf/npb-is:1.7.0`,
  `${E2E}/node-perf/pytorch-wide-deep:1.0.0`,
  `${E2E}/volume/nfs:1.6.0`,
];

/** A name with a digest that the suite asks for. What stands under it here is another image: a spec only compares the name. */
export const DIGEST_NAME = `${E2E}/busybox@sha256:a9155b13325b2abef48e71de77bb8ac015412a566829f621d06bfae5c699b1b9`;
export const DIGEST_CONTENT = 'registry.k8s.io/e2e-node/by-digest:1';

/** `keysDirectory` keeps the key pair of the HTTPS servers in the images: with a new one every time no image would ever be the same. */
export async function nodeImages(programs: NodeImagePrograms, keysDirectory: string): Promise<readonly Image[]> {
  const pause = await pauseImage();
  const shell = [...(await shellLayers()), clockLayer()];
  const shellImage = (name: string, more: readonly TarEntry[] = [], config: ImageConfig = {}): ImageSpec => ({
    names: [name],
    layers: more.length === 0 ? shell : [...shell, more],
    config: { Cmd: ['sh'], Env: [PATH], ...config },
  });
  const agnhostMore = [
    ...(await httpsKeys(keysDirectory)),
    ...fakeRegistry(makeImage(pause)),
    ...(await netcatFiles()),
    ...clockLayer(),
  ];
  const agnhost = await readFile(programs.agnhost);
  const specs: readonly ImageSpec[] = [
    { ...pause, names: [PAUSE_IMAGE, 'registry.k8s.io/pause:3.9', 'registry.k8s.io/pause:3.10'] },
    ...(await e2eImageSpecs(programs)).map((spec) => adapt(spec, agnhostMore)),
    ...[`${E2E}/busybox:1.36.1-1`, 'docker.io/library/busybox:latest', 'docker.io/library/busybox:1.36'].map((name) =>
      shellImage(name),
    ),
    ...[DIGEST_CONTENT, ...PLACEHOLDERS].map((name) => shellImage(name)),
    shellImage(`${E2E}/ipc-utils:1.4`, await programFiles(['/usr/bin/ipcs', '/usr/bin/ipcmk', '/usr/bin/ipcrm'])),
    shellImage(`${E2E}/glibc-dns-testing:2.0.0`, await dnsFiles()),
    shellImage(`${E2E}/perl:5.26`, await perlFiles(), { Cmd: ['perl'] }),
    {
      names: [`${E2E}/nautilus:1.8`],
      layers: [[...baseFiles(), textFile('data.json', [JSON.stringify({ image: 'nautilus.jpg' })])]],
      config: {},
    },
    {
      names: [`${E2E}/sample-device-plugin:1.7`],
      layers: [
        [
          ...baseFiles(),
          {
            kind: 'file',
            path: 'sampledeviceplugin',
            mode: 0o755,
            content: await readFile(programs.sampleDevicePlugin),
          },
        ],
      ],
      config: { Entrypoint: ['/sampledeviceplugin', '-alsologtostderr'] },
    },
  ];
  return specs.flatMap(onePerName).map(makeImage);

  function adapt(spec: ImageSpec, more: readonly TarEntry[]): ImageSpec {
    const isOf = (name: string) => spec.names.some((full) => full.startsWith(`${E2E}/${name}:`));
    if (isOf('agnhost')) return { ...spec, layers: [...spec.layers, more] };
    if (isOf('busybox') || isOf('nonroot')) return { ...spec, layers: [...spec.layers, clockLayer()] };
    // Where the original says its process number is.
    if (isOf('nginx'))
      return { ...spec, layers: [...spec.layers, [{ kind: 'symlink', path: 'var/run', target: '/run' }]] };
    // Specs of this suite also start it, where the end-to-end suite only mounts it.
    if (isOf('kitten')) {
      const program: TarEntry = { kind: 'file', path: 'agnhost', mode: 0o755, content: agnhost };
      return {
        ...spec,
        layers: [...spec.layers, [program]],
        config: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'] },
      };
    }
    return spec;
  }
}

/** A status shows an image under the first of its names: a spec that asks for the second would not know it again. */
function onePerName(spec: ImageSpec): readonly ImageSpec[] {
  return spec.names.map((name) => ({ ...spec, names: [name], config: { ...spec.config, Labels: { name } } }));
}

/** The lifecycle specs ask `nmeter` for the time with milliseconds; Debian's busybox is built without it. */
function clockLayer(): readonly TarEntry[] {
  // Only what `nmeter -d0 %3t | head -n1` prints: the time of day in UTC with milliseconds.
  const script = `#!/usr/bin/bash
now=$EPOCHREALTIME
seconds=\${now%.*} micros=\${now#*.}
TZ=UTC0 printf '%(%T)T.%s\\n' "$seconds" "\${micros:0:3}"
`;
  return [{ kind: 'file', path: 'bin/nmeter', mode: 0o755, content: Buffer.from(script) }];
}

/** For specs that have agnhost serve HTTPS. */
async function httpsKeys(directory: string): Promise<readonly TarEntry[]> {
  const [key, certificate] = ['localhost.key', 'localhost.crt'].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length < 2) {
    await captureOk([
      ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
    ]);
  }
  return [
    { kind: 'file', path: 'localhost.key', content: await readFile(key) },
    { kind: 'file', path: 'localhost.crt', content: await readFile(certificate) },
  ];
}

/** What `agnhost fake-registry-server` serves: the sandbox image as `pause:testing`, in the directories of a real registry. */
function fakeRegistry(pause: Image): readonly TarEntry[] {
  const index = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MEDIA.index,
      manifests: [{ ...describeBlob(pause.manifest), platform: { architecture: 'amd64', os: 'linux' } }],
    }),
  );
  const indexBlob = makeBlob(MEDIA.index, index);
  const root = 'var/registry/pause';
  const entries = [
    ...[indexBlob, pause.manifest].map((blob) => ({ blob, kind: 'manifests' })),
    ...[pause.config, ...pause.layers].map((blob) => ({ blob, kind: 'blobs' })),
  ];
  return [
    ...entries.map(({ blob, kind }): TarEntry => {
      const hash = blob.digest.replace('sha256:', '');
      return { kind: 'file', path: `${root}/${kind}/sha256/${hash.slice(0, 2)}/${hash}/data`, content: blob.content };
    }),
    textFile(`${root}/manifests/testing`, [indexBlob.digest]),
  ];
}

/** A spec sends datagrams with `nc -u`, which Debian's busybox lacks; its shell takes its own `nc` whatever the PATH says. */
async function netcatFiles(): Promise<readonly TarEntry[]> {
  return [
    ...(await programFiles([NETCAT])),
    { kind: 'symlink', path: 'bin/nc', target: NETCAT },
    { kind: 'symlink', path: 'bin/sh', target: '/usr/bin/bash' },
  ];
}

/** Names are looked up by the C library here, as `getent` and `hostname` do it, not by busybox. */
async function dnsFiles(): Promise<readonly TarEntry[]> {
  return [
    ...(await programFiles(['/usr/bin/hostname', '/usr/bin/getent'])),
    ...['bin/hostname', 'bin/dnsdomainname'].map(
      (path): TarEntry => ({ kind: 'symlink', path, target: '/usr/bin/hostname' }),
    ),
  ];
}

async function perlFiles(): Promise<readonly TarEntry[]> {
  const { stdout } = await captureOk(['dpkg', '--listfiles', 'perl-base']);
  const modules = stdout.split('\n').filter((path) => /\/perl-base\/.*\.(pm|pl|so|al|ix)$/.test(path));
  return [
    ...(await programFiles(['/usr/bin/perl'])),
    ...(await Promise.all(
      modules.map(async (path): Promise<TarEntry> => ({ kind: 'file', path, content: await readFile(path) })),
    )),
  ];
}
