/** The steps by which a pod is started, stopped and removed, and what is reported of each. Pure data: it can be sent as JSON. */
import type { ContainerId, SandboxId } from '../api/ids.ts';
import type { VolumeStage } from './volume-progress.ts';

/** What a step is about. */
export type StepSubject =
  | { readonly kind: 'admission' }
  | { readonly kind: 'resource-claims'; readonly names: readonly string[] }
  | { readonly kind: 'directories' }
  | { readonly kind: 'cgroup' }
  | { readonly kind: 'volumes'; readonly names: readonly string[] }
  /** One of them, with the stage that it is in. */
  | { readonly kind: 'volume'; readonly name: string; readonly stage: VolumeStage }
  | { readonly kind: 'sandbox-create'; readonly attempt: number }
  /** With the images that the container mounts as volumes. */
  | { readonly kind: 'image'; readonly container: string; readonly image: string; readonly attempt: number }
  /** Its config maps, secrets, hosts file and log directory, and the request that is made of them. */
  | { readonly kind: 'container-config'; readonly container: string; readonly attempt: number }
  | { readonly kind: 'container-create'; readonly container: string; readonly attempt: number }
  | { readonly kind: 'container-start'; readonly container: string; readonly attempt: number }
  | { readonly kind: 'hook'; readonly hook: 'postStart' | 'preStop'; readonly container: string }
  /** A container that is not started yet, as a whole. */
  | { readonly kind: 'container'; readonly container: string }
  /** The cgroup of the pod and its running containers get other limits. */
  | { readonly kind: 'pod-resize'; readonly containers: readonly string[] }
  | { readonly kind: 'container-stop'; readonly container: string; readonly id: ContainerId }
  | { readonly kind: 'container-remove'; readonly container: string; readonly id: ContainerId }
  | { readonly kind: 'sandbox-stop'; readonly id: SandboxId }
  | { readonly kind: 'sandbox-remove'; readonly id: SandboxId }
  | { readonly kind: 'clean-up'; readonly what: CleanedUp };

export type CleanedUp = 'volumes' | 'cgroup' | 'directories' | 'logs';

/** Who has to do something before a step can go on. `container` is the program in a container of the pod. */
export type Actor = 'user' | 'registry' | 'api-server' | 'volume' | 'runtime' | 'node' | 'container';

export interface StepFailure {
  /** One word, such as `ErrImagePull`. */
  readonly reason: string;
  readonly message: string;
  /** Where the part that failed knows it; otherwise it follows from the step and the reason. */
  readonly actor?: Actor;
}

/** What an action reports while it is carried out. Events and explanations follow from it. */
export type StepReport =
  /** `message`: of the event about a container that is stopped. */
  | { readonly kind: 'begun'; readonly subject: StepSubject; readonly message?: string }
  /** It is ready to be carried out and waits for its turn among the pods that start. */
  | { readonly kind: 'queued'; readonly subject: StepSubject }
  | { readonly kind: 'done'; readonly subject: StepSubject }
  | { readonly kind: 'failed'; readonly subject: StepSubject; readonly failure: StepFailure }
  /** Something is wrong, and the step goes on. `retryAt` is wall clock, ms. */
  | {
      readonly kind: 'warning';
      readonly subject: StepSubject;
      readonly failure: StepFailure;
      readonly retryAt?: number;
    };

export type ReportStep = (report: StepReport) => void;

/** The same for every attempt: the newest attempt counts. */
export function stepKey(subject: StepSubject): string {
  switch (subject.kind) {
    case 'hook':
      return `${subject.hook}/${subject.container}`;
    case 'container-stop':
    case 'container-remove':
    case 'sandbox-stop':
    case 'sandbox-remove':
      return `${subject.kind}/${subject.id}`;
    case 'volume':
      return `${subject.kind}/${subject.name}`;
    case 'clean-up':
      return `${subject.kind}/${subject.what}`;
    default:
      return 'container' in subject ? `${subject.kind}/${subject.container}` : subject.kind;
  }
}
