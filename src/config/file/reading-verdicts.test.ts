/**
 * testdata/reading-verdicts.jsonl: files and drop-ins given to the reference kubelet 1.36.4, whether it could read them,
 * and which fields of its configuration then differed from those of a file with `failCgroupV1: false` alone (null:
 * absent). It was started with `-v=5`, hence no verbosity here, and `--cert-dir`, hence no certificate.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { formatDuration } from '../../api/duration.ts';
import { type DefaultingGates, defaultGatesOfDefaulting } from '../schema/defaults.ts';
import type { Kind } from '../schema/kinds.ts';
import { type KubeletConfiguration, kubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { type DirectoryEntry, type FileReader, readSources } from '../sources.ts';
import { completeConfiguration } from './complete.ts';
import { type DecodedConfiguration, decodeKubeletConfiguration } from './decode.ts';
import { formatFileProblem } from './report.ts';

interface Recorded {
  readonly file?: string;
  readonly dropins?: { readonly [path: string]: string };
  readonly verdict: 'read' | 'refused';
  /** Absent where the reference refused a value later, in validation. */
  readonly set?: { readonly [field: string]: unknown };
}

/** Where we mean to differ: a piece of the text, and why. */
const meant: readonly (readonly [piece: string, why: string])[] = [
  ['syncFrequency: null', 'nothing written is nothing set, for every kind'],
  ['clusterDNS: 10.0.0.1', 'an old form that is accepted here'],
  ['podManifestPath', 'an old name that is accepted here'],
  ['timeAdded', 'unknown here, so a warning'],
  ['"maxPods":1e2', 'JSON numbers are read like those of YAML'],
  ['{kind: KubeletConfiguration', 'YAML may begin with a brace'],
  ['enforceNodeAllocatable: []","dropins":{"00.conf":"kind: KubeletConfiguration', 'an empty list outlives the merge'],
  ['maxPods: 5\\nmaxPods: 6"}', 'a repeated key is a warning in drop-ins too'],
];

const lines = readFileSync(new URL('../testdata/reading-verdicts.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');

function readerOf(files: ReadonlyMap<string, string>): FileReader {
  return {
    workingDirectory: '/',
    readTextFile: (path) => files.get(path) ?? assert.fail(`no file ${path}`),
    listDir(directory) {
      const below = [...files.keys()].filter((path) => path.startsWith(`${directory}/`));
      const entries = new Map<string, DirectoryEntry>();
      for (const path of below) {
        const [name = '', ...rest] = posix.relative(directory, path).split('/');
        entries.set(name, { name, isDirectory: rest.length > 0 });
      }
      return [...entries.values()].reverse();
    },
  };
}

function decode({ file, dropins }: Recorded): DecodedConfiguration {
  const files = Object.entries(dropins ?? {}).map(([name, text]) => [`/etc/kubernetes/d/${name}`, text] as const);
  const all = new Map(file === undefined ? files : [...files, ['/etc/kubernetes/k.yaml', file] as const]);
  const { sources, problems } = readSources(
    {
      configFile: file === undefined ? '' : '/etc/kubernetes/k.yaml',
      configDir: dropins === undefined ? '' : '/etc/kubernetes/d',
      strict: false,
      dynamicConfigDir: '',
    },
    readerOf(all),
  );
  assert.deepEqual(problems, []);
  return decodeKubeletConfiguration(sources, { strict: false });
}

function gatesOf({ featureGates = {} }: DecodedConfiguration['values']): DefaultingGates {
  const isOn = (gate: keyof DefaultingGates) =>
    featureGates[gate] ?? featureGates['AllBeta'] ?? defaultGatesOfDefaulting[gate];
  return {
    KubeletCrashLoopBackOffMax: isOn('KubeletCrashLoopBackOffMax'),
    KubeletEnsureSecretPulledImages: isOn('KubeletEnsureSecretPulledImages'),
  };
}

/** Durations as text and absent values as null, as they were recorded. */
function toRecordedForm(type: Kind, value: unknown): unknown {
  if (value === undefined) return null;
  const entries = Object.entries(value as object);
  switch (type.kind) {
    case 'duration':
      return formatDuration(value as number);
    case 'list':
      return (value as readonly unknown[]).map((item) => toRecordedForm(type.item, item));
    case 'map':
      return Object.fromEntries(entries.map(([key, item]) => [key, toRecordedForm(type.item, item)]));
    case 'struct':
      return Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [
          name,
          toRecordedForm(field.type, (value as { readonly [name: string]: unknown })[name]),
        ]),
      );
    default:
      return value;
  }
}

function fieldsOf(config: KubeletConfiguration): { readonly [field: string]: unknown } {
  const {
    logging,
    tlsCertFile: _,
    tlsPrivateKeyFile: __,
    ...rest
  } = toRecordedForm(kubeletConfiguration, config) as {
    readonly [field: string]: object;
  };
  const masked = Object.keys(config.staticPodURLHeader).map((name) => [name, ['<masked>']]);
  return {
    ...rest,
    logging: { ...logging, verbosity: undefined },
    staticPodURLHeader: Object.fromEntries(masked),
  };
}

function withoutAbsent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, item) => (item === null ? undefined : item));
}

const plainFile = 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nfailCgroupV1: false\n';
const plainFields = fieldsOf(completeConfiguration(decode({ file: plainFile, verdict: 'read' })));

/** What is different from the reference, in words; empty where nothing is. */
function differences(line: string): string {
  const recorded: Recorded = JSON.parse(line);
  const decoded = decode(recorded);
  const verdict = decoded.problems.length === 0 ? 'read' : 'refused';
  if (verdict !== recorded.verdict) return `verdict ${verdict}: ${decoded.problems.map(formatFileProblem).join('; ')}`;
  if (recorded.set === undefined || verdict === 'refused') return '';
  try {
    const config = completeConfiguration(decoded, gatesOf(decoded.values));
    assert.deepEqual(withoutAbsent(fieldsOf(config)), withoutAbsent({ ...plainFields, ...recorded.set }));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('reads every recorded file as the reference did', () => {
  const unmeant = lines.filter(
    (line) => !meant.some(([piece]) => line.includes(piece) || JSON.parse(line).file?.includes(piece)),
  );
  assert.ok(unmeant.length > 190);
  for (const line of unmeant) assert.equal(differences(line), '', line);
});

test('the intended differences still exist', () => {
  for (const [piece, why] of meant) {
    const line = lines.find((text) => text.includes(piece) || JSON.parse(text).file?.includes(piece));
    assert.ok(line !== undefined && differences(line) !== '', `${piece}: ${why}`);
  }
});
