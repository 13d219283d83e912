import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { readTrees } from '../base/yaml-documents.ts';
import { formatFieldError } from './field-error.ts';
import { decodeObject } from './object-decode.ts';
import type { Pod } from './pod.ts';
import { applyPodDefaults } from './pod-defaults.ts';
import { DEFAULT_POD_GATES, type PodGates } from './pod-gates.ts';
import { POD } from './pod-schema.ts';
import { validatePod } from './pod-validation.ts';

interface Verdict {
  /** Path and value of what differs from a plain pod. */
  readonly set: Readonly<Record<string, unknown>>;
  /** `path: kind` of each fault that the reference found. */
  readonly errors: readonly string[];
}

/** Recorded from the validation of Kubernetes 1.36.4 with its default gates. */
const verdicts = readFileSync(join(import.meta.dirname, 'testdata/pod-verdicts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Verdict);

/** Where the reference names another place than ours, on purpose: ours is that of the field that is wrong. */
const PLACES: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [/^metadata\.annotations\.seccomp.*:/, 'metadata.annotations:'],
  [/\.httpHeaders:/, '.httpHeaders.name:'],
  [/\.downwardAPI(?=[.:])(?!\.items|\.defaultMode)/, '.downwardAPI.items'],
  [/^spec\.resources\.containers\.limits:/, 'spec.containers.resources.limits:'],
  [/\.persistentDisk\./, '.gcePersistentDisk.'],
  [/\.projected\.path:/, '.projected.sources.serviceAccountToken.path:'],
  [/\.projected: Invalid/, '.projected.sources: Invalid'],
  [/^spec\.securityContext\.shareProcessNamespace:/, 'spec.shareProcessNamespace:'],
  [/^spec\.HostPID:/, 'spec.hostPID:'],
  [/^spec\.HostIPC:/, 'spec.hostIPC:'],
  [/(^spec\..*)\.namespace: Invalid/, '$1.namespaces: Invalid'],
];

/** Faults that only one of the two has, on purpose. */
const MEANT: ReadonlyMap<string, string> = new Map([
  [
    'ours spec.volumes.image.reference: Required value',
    'the API server asks for it; the kubelet of the reference alone does not',
  ],
  ['theirs spec.containers.env.valueFrom.fileKeyRef.volumeName: Not found', 'that it is missing is told already'],
  ['theirs spec.resources.claims: Not found', 'that there may be none is told already'],
  ['theirs spec.volumes.azureDisk.diskURI: Unsupported value', 'that it is missing is told already'],
]);

/** Without numbers and keys in brackets; the same place and kind once; an empty text is missing, not also misshapen. */
function comparable(errors: readonly string[]): ReadonlySet<string> {
  const plain = errors.map((error) => error.replace(/\[[^\]]*\]/g, ''));
  return new Set(plain.filter((error) => !plain.includes(error.replace(/: Invalid value$/, ': Required value'))));
}

function theirPlaces(error: string): string {
  const plain = error.replace(/\[[^\]]*\]/g, '');
  const [theirs, ours] = PLACES.find(([pattern]) => pattern.test(plain)) ?? [];
  const placed = theirs === undefined || ours === undefined ? plain : plain.replace(theirs, ours);
  return anyResizeField(placed);
}

/** The reference puts these at the whole list. */
function anyResizeField(error: string): string {
  return error.replace(/\.resizePolicy(?:\[\d+\])?(?:\.\w+)?: (?!Duplicate).*/, '.resizePolicy');
}

function makePod(set: Verdict['set']): Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: '' },
    spec: { containers: [{ name: 'c', image: 'x:1' }] },
  };
  for (const [path, value] of Object.entries(set)) {
    const steps = Array.from(path.matchAll(/\[(\d+)\]|([^.[\]]+)/g), (match) => match[1] ?? match[2] ?? '');
    const last = steps.pop() ?? '';
    let at = pod as unknown as Record<string, Record<string, never>>;
    for (const step of steps) {
      at[step] ??= {};
      at = at[step] as unknown as typeof at;
    }
    at[last] = value as Record<string, never>;
  }
  return pod;
}

function faultsOf(set: Verdict['set'], gates: PodGates = DEFAULT_POD_GATES): readonly string[] {
  const read = readTrees(JSON.stringify(makePod(set)));
  assert.ok('trees' in read && read.trees[0] !== undefined);
  const decoded = decodeObject(POD, read.trees[0]);
  assert.deepEqual([decoded.problems, decoded.warnings], [[], []]);
  return validatePod(applyPodDefaults(decoded.value as unknown as Pod), gates).map(formatFieldError);
}

const placeAndKind = (fault: string): string =>
  /^(.*?: (?:Required value|Invalid value|Unsupported value|Duplicate value|Forbidden|Too long|Too many|Not found))/.exec(
    fault,
  )?.[1] ?? fault;

for (const { set, errors } of verdicts) {
  test(`validation: the reference's verdict on ${JSON.stringify(set).slice(0, 120)}`, () => {
    const faults = faultsOf(set);
    const ours = comparable(faults.map((fault) => anyResizeField(placeAndKind(fault))));
    const theirs = comparable(errors.map(theirPlaces));
    const differences = [
      ...[...ours].filter((fault) => !theirs.has(fault)).map((fault) => `ours ${fault}`),
      ...[...theirs].filter((fault) => !ours.has(fault)).map((fault) => `theirs ${fault}`),
    ];
    assert.deepEqual(
      differences.filter((difference) => !MEANT.has(difference)),
      [],
      faults.join('\n'),
    );
  });
}

const recorded = join(import.meta.dirname, '../../tests/recorded/pods');
for (const file of globSync('*.json', { cwd: recorded })) {
  test(`validation: ${basename(file, '.json')} was accepted by the API server`, () => {
    const { pod } = JSON.parse(readFileSync(join(recorded, file), 'utf8')) as { readonly pod: Pod };
    assert.deepEqual(validatePod(pod).map(formatFieldError), []);
  });
}

for (const { name, set, gates, fault } of [
  {
    name: 'restart policy of a container',
    set: { 'spec.containers[0].restartPolicy': 'Never' },
    gates: { restartRules: false },
    fault: 'spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers',
  },
  {
    name: 'restart policy of an init container',
    set: { 'spec.initContainers': [{ name: 'i', image: 'x', restartPolicy: 'Never' }] },
    gates: { restartRules: false },
    fault: 'spec.initContainers[0].restartPolicy: Unsupported value: "Never": supported values: "Always"',
  },
  {
    name: 'restart of all containers',
    set: {
      'spec.containers[0].restartPolicy': 'Never',
      'spec.containers[0].restartPolicyRules': [
        { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } },
      ],
    },
    gates: { restartAllContainers: false },
    fault:
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": supported values: "Restart"',
  },
]) {
  test(`validation: the gate of ${name} decides`, () => {
    assert.deepEqual(faultsOf(set), []);
    assert.deepEqual(faultsOf(set, { ...DEFAULT_POD_GATES, ...gates }), [fault]);
  });
}

for (const { name, set, gates } of [
  {
    name: 'comparisons in tolerations',
    set: { 'spec.tolerations': [{ key: 'a', operator: 'Gt', value: '5' }] },
    gates: { tolerationComparisons: true },
  },
  {
    name: 'user namespaces with the network of the host',
    set: { 'spec.hostUsers': false, 'spec.hostNetwork': true },
    gates: { userNamespacesOnHostNetwork: true },
  },
  {
    name: 'SELinux labels by mount option',
    set: { 'spec.securityContext': { seLinuxChangePolicy: 'MountOption' } },
    gates: { seLinuxMount: true },
  },
  {
    name: 'resources of the pod',
    set: { 'spec.resources': { requests: { 'example.com/x': '1' } } },
    gates: { podLevelResources: false },
  },
]) {
  test(`validation: the gate of ${name} allows`, () => {
    assert.notDeepEqual(faultsOf(set), []);
    assert.deepEqual(faultsOf(set, { ...DEFAULT_POD_GATES, ...gates }), []);
  });
}

test('validation: annotations have room for 256 KiB together', () => {
  assert.deepEqual(faultsOf({ 'metadata.annotations': { a: 'x'.repeat(262_143) } }), []);
  assert.deepEqual(faultsOf({ 'metadata.annotations': { a: 'x'.repeat(131_072), b: 'é'.repeat(65_536) } }), [
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ]);
});

test('validation: all faults at once, in the words of the API server', () => {
  assert.deepEqual(
    faultsOf({
      'metadata.name': 'Web',
      'spec.containers': [
        { name: 'c', ports: [{ containerPort: 80, protocol: 'tcp' }], volumeMounts: [{ name: 'v', mountPath: '/a' }] },
        { name: 'c', image: 'x', resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      ],
      'spec.restartPolicy': 'Sometimes',
    }).toSorted(),
    [
      "metadata.name: Invalid value: \"Web\": must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit",
      'spec.containers[0].image: Required value',
      'spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
      'spec.containers[0].volumeMounts[0].name: Not found: "v"',
      'spec.containers[1].name: Duplicate value: "c"',
      'spec.containers[1].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
  );
});
