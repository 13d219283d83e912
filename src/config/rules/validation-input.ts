import type { Features } from '../features/features.ts';
import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';
import type { Settings } from '../settings.ts';

/** The facts about the machine that decide whether a configuration works on it. */
export type MachineFacts = {
  readonly onlineCpus: readonly number[];
  readonly numaNodes: readonly number[];
  readonly memoryBytes: bigint;
  readonly cgroupVersion: 1 | 2;
};

/** The input of every validator: a complete configuration, after defaults and flags. */
export type ValidationInput = {
  readonly kubelet: KubeletConfiguration;
  readonly settings: Settings;
  readonly features: Pick<Features, 'enabled'>;
  readonly machine: MachineFacts;
};

/** The fields of the configuration whose value is of this type: lets tables of rules name fields that the compiler checks. */
export type FieldOf<T> = {
  [Name in keyof KubeletConfiguration]: KubeletConfiguration[Name] extends T ? Name : never;
}[keyof KubeletConfiguration];
