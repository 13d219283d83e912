/** Which secrets and config maps a pod refers to: a node may read those of its pods and no others. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import type { Volume } from '../../api/volume.ts';

export type ReferenceKind = 'configMap' | 'secret';

export interface Reference {
  readonly kind: ReferenceKind;
  readonly name: string;
  /** A volume shows it for as long as the pod runs; variables and pull secrets need it only when a container starts. */
  readonly byVolume: boolean;
}

/** Each object once. */
export function referencesOf({ spec }: Pod): readonly Reference[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const found = new Map<string, Reference>();
  const add = (kind: ReferenceKind, byVolume: boolean, names: readonly (string | undefined)[]) => {
    for (const name of names) {
      if (name === undefined || name === '') continue;
      const key = `${kind}/${name}`;
      found.set(key, { kind, name, byVolume: byVolume || found.get(key)?.byVolume === true });
    }
  };
  add(
    'secret',
    false,
    (spec.imagePullSecrets ?? []).map(({ name }) => name),
  );
  for (const container of containers) {
    add('configMap', false, configMapsOf(container));
    add('secret', false, secretsOf(container));
  }
  for (const volume of spec.volumes ?? []) {
    add('configMap', true, [volume.configMap?.name, ...projectionsOf(volume).map(({ configMap }) => configMap?.name)]);
    add('secret', true, volumeSecrets(volume));
  }
  return [...found.values()];
}

function configMapsOf({ envFrom = [], env = [] }: Container): readonly (string | undefined)[] {
  return [
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
  ];
}

function secretsOf({ envFrom = [], env = [] }: Container): readonly (string | undefined)[] {
  return [
    ...envFrom.map(({ secretRef }) => secretRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ];
}

const projectionsOf = (volume: Volume) => volume.projected?.sources ?? [];

/** The kinds that log in somewhere with a secret, and the field that names it. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function volumeSecrets(volume: Volume): readonly (string | undefined)[] {
  return [
    volume.secret?.secretName,
    ...projectionsOf(volume).map(({ secret }) => secret?.name),
    volume.csi?.nodePublishSecretRef?.name,
    textField(volume['azureFile'], 'secretName'),
    ...WITH_SECRET_REF.map((kind) => textField(field(volume[kind], 'secretRef'), 'name')),
  ];
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' ? text : undefined;
}
