/** What volumes add to the start of a pod. */
import { clusterMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { type Life, watchLives } from '../world/api-life.ts';
import type { BenchCluster } from '../world/cluster.ts';

const ROUNDS = 20;
const OBJECT = 'bench-volumes';

export const volumes = clusterMeasure({
  name: 'volumes',
  about: 'one pod at a time through the API server, in turns without volumes, with three and with five small ones',
  needs: 'api',
  mostRounds: 2,
  figures: {
    none: { text: 'create to first log line, no volumes', unit: 'ms' },
    five: { text: 'create to first log line, five volumes', unit: 'ms' },
    more: { text: 'five volumes add, difference of medians', unit: 'ms' },
    bare: { text: 'pod seen to sandbox call, no volumes', unit: 'ms' },
    sandbox: { text: 'pod seen to sandbox call, emptyDir, token, config map', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    await makeObjects(world);
    await using lives = await watchLives(world);
    await kubelet.start({ containerRuntimeEndpoint: lives.endpoint });
    const kinds = [NONE, THREE, FIVE];
    // One of each that isn't counted: what all pods share is read then.
    for (const volumesOf of kinds) await lives.live(specWith(volumesOf), mounting(volumesOf));
    const seen: readonly Life[][] = kinds.map(() => []);
    for (let left = world.size.times(ROUNDS); left > 0; left -= 1) {
      for (const [at, volumesOf] of kinds.entries()) {
        seen[at]?.push(await lives.live(specWith(volumesOf), mounting(volumesOf)));
      }
    }
    const [none = [], three = [], five = []] = seen;
    const up = (some: readonly Life[]) => median(some.map((life) => life.up));
    const asked = (some: readonly Life[]) => median(some.map((life) => life.sandboxAfter));
    return { none: up(none), five: up(five), more: up(five) - up(none), bare: asked(none), sandbox: asked(three) };
  },
});

type Volumes = readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];

const empty = { name: 'empty', emptyDir: {} };
const configMap = { name: 'map', configMap: { name: OBJECT } };
const token = { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
const NONE: Volumes = [];
const THREE: Volumes = [empty, token, configMap];
const FIVE: Volumes = [
  empty,
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  configMap,
  { name: 'secret', secret: { secretName: OBJECT } },
  {
    name: 'projected',
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token' } },
        { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      ],
    },
  },
];

const specWith = (volumes: Volumes) => ({ automountServiceAccountToken: false, volumes });
const mounting = (some: Volumes) => ({
  volumeMounts: some.map(({ name }) => ({ name, mountPath: `/volumes/${name}` })),
});

async function makeObjects({ cluster }: BenchCluster): Promise<void> {
  for (const [kind, content] of [
    ['configmaps', { data: { color: 'blue', 'app.conf': 'a=1' } }],
    ['secrets', { stringData: { word: 's3cret' } }],
  ] as const) {
    const path = `/api/v1/namespaces/default/${kind}`;
    const { status } = await cluster.admin.request(`${path}/${OBJECT}`);
    if (status === 404) await cluster.admin.create(path, { metadata: { name: OBJECT }, ...content });
  }
}
