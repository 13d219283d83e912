/** Which events follow from what an action reports: the only place that decides it, in the words of the reference. */
import type { Pod } from '../../api/pod.ts';
import type { EventType, PodEvent } from '../../model/event.ts';
import type { StepFailure, StepReport, StepSubject } from '../../model/step.ts';
import { fieldPathOf } from '../../plan/roles.ts';

export function eventsOf(pod: Pod, report: StepReport): readonly PodEvent[] {
  const { subject } = report;
  const about = (container: string, type: EventType, reason: string, message: string): readonly PodEvent[] => [
    { pod: pod.metadata, container: fieldPathOf(pod, container), type, reason, message },
  ];
  const aboutPod = ({ reason, message }: StepFailure): readonly PodEvent[] => [
    { pod: pod.metadata, type: 'Warning', reason, message },
  ];
  switch (report.kind) {
    case 'begun':
      return subject.kind === 'container-stop'
        ? about(subject.container, 'Normal', 'Killing', report.message ?? `Stopping container ${subject.container}`)
        : [];
    case 'queued':
      return [];
    case 'done':
      if (subject.kind === 'container-create')
        return about(subject.container, 'Normal', 'Created', 'Container created');
      return subject.kind === 'container-start'
        ? about(subject.container, 'Normal', 'Started', 'Container started')
        : [];
    case 'failed': {
      if (isAboutPod(subject)) return aboutPod(report.failure);
      const text = failureText(subject, report.failure);
      return text === undefined ? [] : about(text.container, 'Warning', text.reason, text.message);
    }
    case 'warning':
      return subject.kind === 'sandbox-create' ? aboutPod(report.failure) : [];
  }
}

/** The pod as a whole can't start. */
function isAboutPod({ kind }: StepSubject): boolean {
  return (
    kind === 'resource-claims' ||
    kind === 'directories' ||
    kind === 'cgroup' ||
    kind === 'volumes' ||
    kind === 'sandbox-create'
  );
}

function failureText(subject: StepSubject, { reason, message }: StepFailure) {
  switch (subject.kind) {
    case 'image':
      return { container: subject.container, reason: 'Failed', message: `Error: ${reason}` };
    case 'container-config':
    case 'container-create':
    case 'container-start':
      return { container: subject.container, reason: 'Failed', message: `Error: ${message}` };
    case 'hook':
      return subject.hook === 'postStart'
        ? { container: subject.container, reason: 'FailedPostStartHook', message: 'PostStartHook failed' }
        : { container: subject.container, reason: 'FailedPreStopHook', message: 'PreStopHook failed' };
    default:
      return undefined;
  }
}
