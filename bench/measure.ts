/** What a measure is: figures with names, and how one round of them is taken. */
import type { Capability } from './built.ts';
import type { Unit } from './number-text.ts';
import type { BenchCluster } from './world/cluster.ts';
import type { BenchNode, KubeletUnderTest } from './world/node.ts';

export interface Figure {
  readonly text: string;
  readonly unit: Unit;
  /** Less is better unless this says otherwise. */
  readonly better?: 'more';
}

/** One number for each figure; what a round cannot measure is left out. */
export type Values<K extends string = string> = Readonly<Partial<Record<K, number>>>;

export interface MeasureIn<W, K extends string = string> {
  /** As `--only` names it. */
  readonly name: string;
  readonly about: string;
  readonly needs: Capability;
  readonly figures: Readonly<Record<K, Figure>>;
  /** The most rounds, for what takes long. */
  readonly mostRounds?: number;
  /** One round with one kubelet, from an empty node; what it leaves is removed after it. Missing: there is only a floor. */
  readonly run?: (kubelet: KubeletUnderTest, world: W) => Promise<Values<K>>;
  /** The least that any kubelet would need here: the same by direct calls of the runtime. */
  readonly floor?: (world: W) => Promise<Values<K>>;
}

export interface NodeMeasure<K extends string = string> extends MeasureIn<BenchNode, K> {
  readonly world: 'node';
}

export interface ClusterMeasure<K extends string = string> extends MeasureIn<BenchCluster, K> {
  readonly world: 'cluster';
}

export type Measure = NodeMeasure | ClusterMeasure;

/** These keep the names of figures and values in step. */
export const nodeMeasure = <const K extends string>(measure: Omit<NodeMeasure<K>, 'world'>): NodeMeasure<K> => ({
  world: 'node',
  ...measure,
});
export const clusterMeasure = <const K extends string>(
  measure: Omit<ClusterMeasure<K>, 'world'>,
): ClusterMeasure<K> => ({ world: 'cluster', ...measure });
