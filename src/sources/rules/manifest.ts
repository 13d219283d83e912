/**
 * Reads a manifest: a text with pods in YAML or JSON, one or several in a document, in one or several documents. Read in
 * steps, because there is no limit to how many they are.
 */

import { formatFieldError } from '../../api/field-error.ts';
import { decodeObject, describeTree, entryOf, placeOfPath } from '../../api/object-decode.ts';
import type { Pod } from '../../api/pod.ts';
import { applyPodDefaults } from '../../api/pod-defaults.ts';
import type { PodGates } from '../../api/pod-gates.ts';
import { POD } from '../../api/pod-schema.ts';
import { validatePod } from '../../api/pod-validation.ts';
import { readTreesInSteps } from '../../base/yaml-documents.ts';
import type { Place, Tree } from '../../base/yaml-tree.ts';
import { giveStaticIdentity, type StaticOrigin } from './static-identity.ts';
import { staticPodFaults } from './static-pod-rules.ts';

export interface ManifestFinding {
  readonly place: Place;
  /** What is wrong, without the name of the file. */
  readonly text: string;
}

export interface ManifestReading {
  /** The good ones, complete: with defaults and identity. */
  readonly pods: readonly Pod[];
  readonly problems: readonly ManifestFinding[];
  readonly warnings: readonly ManifestFinding[];
}

export interface ManifestRules extends StaticOrigin {
  /** The gate PreventStaticPodAPIReferences: nothing that only the API server can give. */
  readonly preventApiReferences: boolean;
  readonly gates: PodGates;
}

/** Looking for a place goes through the entries around it. Of a pod with more faults than these only the first ones are shown. */
const FAULTS_WITH_PLACE = 100;
const START: Place = { line: 1, column: 1 };

export function* readManifest(text: string, rules: ManifestRules): Generator<undefined, ManifestReading> {
  const read = yield* readTreesInSteps(text);
  if ('problem' in read) return { pods: [], problems: [read.problem], warnings: [] };
  if (read.trees.length === 0)
    return {
      pods: [],
      problems: [{ place: START, text: 'empty; there must be a Pod, a PodList or a List' }],
      warnings: [],
    };
  const reading: { pods: Pod[]; problems: ManifestFinding[]; warnings: ManifestFinding[] } = {
    pods: [],
    problems: [],
    warnings: [],
  };
  for (const tree of podTrees(read.trees, reading.problems)) {
    const pod = yield* readPod(tree, rules, reading);
    if (pod !== undefined) reading.pods.push(pod);
  }
  return reading;
}

/** The trees of the single pods, lists opened up. */
function* podTrees(trees: readonly Tree[], problems: ManifestFinding[]): Generator<Tree> {
  for (const tree of trees) {
    const kind = headOf(tree, 'kind');
    const version = headOf(tree, 'apiVersion');
    const items = entryOf(tree, 'items')?.value;
    if (tree.kind !== 'map') problems.push({ place: tree.place, text: `must be a Pod; found ${describeTree(tree)}` });
    else if (version !== 'v1') problems.push(wrongHead(tree, 'apiVersion', 'v1'));
    else if (kind === 'Pod') yield tree;
    else if (kind !== 'List' && kind !== 'PodList') problems.push(wrongHead(tree, 'kind', 'Pod, PodList or List'));
    else if (items?.kind === 'list') yield* kind === 'List' ? podTrees(items.items, problems) : items.items;
    else if (items !== undefined && items.kind !== 'null')
      problems.push({ place: items.place, text: 'items: must be a list' });
  }
}

function headOf(tree: Tree, key: string): string | undefined {
  const value = entryOf(tree, key)?.value;
  return value?.kind === 'string' ? value.value : undefined;
}

function wrongHead(tree: Tree, key: string, wanted: string): ManifestFinding {
  const value = entryOf(tree, key)?.value;
  if (value === undefined) return { place: tree.place, text: `${key}: missing; must be ${wanted}` };
  return { place: value.place, text: `${key}: must be ${wanted}; found ${describeTree(value)}` };
}

/** A pod can have ten thousand containers: each pass over it is a step. */
function* readPod(
  tree: Tree,
  rules: ManifestRules,
  report: { readonly problems: ManifestFinding[]; readonly warnings: ManifestFinding[] },
): Generator<undefined, Pod | undefined> {
  const decoded = decodeObject(POD, tree);
  for (const { place, path, text } of decoded.warnings) report.warnings.push({ place, text: `${path}: ${text}` });
  if (decoded.problems.length > 0) {
    for (const { place, path, text } of decoded.problems)
      report.problems.push({ place, text: path ? `${path}: ${text}` : text });
    return undefined;
  }
  yield;
  const written = writtenPod(decoded.value);
  const pod = applyPodDefaults(giveStaticIdentity(written, rules));
  yield;
  const own = staticPodFaults(written, rules);
  // One report for each place: a missing name already has the node's name appended, which is no better.
  const reported = new Set(own.map(({ path }) => path));
  const faults = [...own, ...validatePod(pod, rules.gates).filter(({ path }) => !reported.has(path))];
  for (const [index, fault] of faults.entries()) {
    const place = index < FAULTS_WITH_PLACE ? placeOfPath(tree, fault.path) : tree.place;
    report.problems.push({ place, text: formatFieldError(fault) });
  }
  return faults.length === 0 ? pod : undefined;
}

/** The decoder follows the schema of the type; what it can't promise is that the two parts of every object are there. */
function writtenPod(value: Readonly<Record<string, unknown>>): Pod {
  const { metadata, spec } = value as unknown as Partial<Pod>;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name: metadata?.name ?? '',
      namespace: metadata?.namespace ?? '',
      uid: metadata?.uid ?? '',
    },
    spec: { ...spec, containers: spec?.containers ?? [] },
  };
}
